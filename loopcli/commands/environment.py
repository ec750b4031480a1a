"""The environment variables that stand for options: their names, and names that are mistyped."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click
from click.core import ParameterSource

from loopcli.wording import near

PREFIX = "LOOPCHECK"


def name_variable(error: click.UsageError) -> None:
    """Have an error about a value from the environment name the variable, not the flag."""
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return
    if error.ctx.get_parameter_source(error.param.name or "") is ParameterSource.ENVIRONMENT:
        error.param_hint = _variable(error.param)


def unknown_variables(
    ctx: click.Context, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return a warning for each ``LOOPCHECK_*`` variable that sets no option of any command.

    One that belongs to another command is no mistake: the environment is everybody's.
    """
    begin = f"{PREFIX}_"
    unknown = {name for name in environ if name.startswith(begin)} - _variables(ctx, ctx.command)
    if not unknown:
        return ()
    root = ctx.find_root()
    known = _variables(root, root.command)
    if isinstance(root.command, click.Group):
        known |= _variables_within(root, root.command)
    # The prefix alone would make any two names alike.
    rests = [name.removeprefix(begin) for name in known]
    return tuple(
        f"{name} sets no option; it is ignored"
        + near(name.removeprefix(begin), rests).replace("`", f"`{begin}", 1)
        for name in sorted(unknown - known)
    )


def _variables_within(ctx: click.Context, group: click.Group) -> set[str]:
    """Return the variables of all commands of a group, and of the groups in it."""
    known = set()
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None:
            known |= _variables(ctx, command)
        if isinstance(command, click.Group):
            known |= _variables_within(ctx, command)
    return known


def _variables(ctx: click.Context, command: click.Command) -> set[str]:
    params = command.get_params(ctx)
    return {_variable(param) for param in params if isinstance(param, click.Option)}


def _variable(param: click.Parameter) -> str:
    own, flag = param.envvar, max(param.opts, key=len)
    return own if isinstance(own, str) else f"{PREFIX}_{flag[2:].upper().replace('-', '_')}"
