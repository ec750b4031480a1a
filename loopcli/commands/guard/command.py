"""The group of ``loopcheck guard``; each of its commands is imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from loopcli.wording import near

_LAZY = (*("check", "context", "decide", "hook", "install", "log", "reset", "status", "uninstall"),)


class GuardCommands(click.Group):
    """The commands of the guard, each a module of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return sorted(_LAZY)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in _LAZY:
            return None
        command: click.Command = import_module(f"loopcli.commands.guard.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; fail with the nearest name for one that is not."""
        if args and args[0] not in _LAZY:
            ctx.fail(f"no such command `{args[0]}`{near(args[0], _LAZY)}")
        return super().resolve_command(ctx, args)


@click.group("guard", cls=GuardCommands, short_help="Refuse tool calls that an agent repeats.")
def command() -> None:
    """Refuse tool calls that an agent repeats.

    An agent with hooks (Claude Code, Codex, Gemini CLI, OpenCode) runs
    `loopcheck guard hook` before each tool call. The third equal call within a
    minute is refused before it runs; the model reads why. Other calls run.
    """
