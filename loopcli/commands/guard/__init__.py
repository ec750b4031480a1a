"""``loopcheck guard``: refuses the tool calls that an agent repeats."""

from loopcli.commands.guard.command import command

__all__ = ["command"]
