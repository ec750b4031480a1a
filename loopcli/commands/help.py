"""``loopcheck help``: the help of loopcheck or of one of its commands."""

from __future__ import annotations

import click

from loopcli.commands.printing import printed_lines
from loopcli.wording import near


def _commands(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the commands that a shell offers."""
    root = ctx.find_root()
    names = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    return [name for name in names if name.startswith(incomplete)]


@click.command("help")
@click.argument("name", metavar="[COMMAND]", required=False, shell_complete=_commands)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> int:
    """Show the help of loopcheck, or of COMMAND."""
    root = ctx.find_root()
    group = root.command
    if name is None or not isinstance(group, click.Group):
        return printed_lines([root.get_help().encode()])
    named = group.get_command(root, name)
    if named is None:
        ctx.fail(f"no such command `{name}`{near(name, group.list_commands(root))}")
    with named.make_context(name, [], parent=root, resilient_parsing=True) as its:
        return printed_lines([its.get_help().encode()])
