"""``loopcheck analyze``: one file a job."""

from loopcli.commands.analyze.command import command

__all__ = ["command"]
