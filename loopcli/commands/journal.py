"""``loopcheck journal``: sums over the turns in journals."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from loopcli.commands import options
from loopcli.commands.completing import FILE
from loopcli.commands.environment import unknown_variables
from loopcli.commands.printing import printed_lines
from loopcli.lenient_json import dump_line
from loopcli.output.console import Console
from loopcli.run import journal
from loopcli.run.rollup import BY, Rollup
from loopcli.status import Status, worst
from loopcli.wording import escaped


@click.command(
    "journal",
    context_settings={"auto_envvar_prefix": options.ENVIRONMENT_PREFIX},
    short_help="Sum up what `loopcheck run --journal` recorded.",
)
@click.option(
    "--sum",
    "field",
    envvar=f"{options.ENVIRONMENT_PREFIX}_SUM",
    metavar="FIELD",
    help="Print only the sum of one figure, such as summary.errors.loopAbortChars.",
)
@click.option("--by", type=click.Choice(BY), help="Print a sum for each of these.")
@click.option(
    "--json",
    "json_",
    envvar=f"{options.ENVIRONMENT_PREFIX}_JSON",
    is_flag=True,
    help="Print JSON Lines instead of a table.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.pass_context
def command(
    ctx: click.Context, field: str | None, by: str | None, json_: bool, files: tuple[str, ...]
) -> int:
    """Sum up the journals of `loopcheck run --journal`: a row for each session.

    \b
    loopcheck journal turns.jsonl
    loopcheck journal --json turns.jsonl | jq .errors
    loopcheck journal --sum summary.errors.loopAbortChars --by model *.jsonl
    """
    # Only a flag is an error: LOOPCHECK_BY may be set for other calls.
    if field is None and ctx.get_parameter_source("by") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--by needs --sum")
    rollup = Rollup(by if field is not None else None)
    if field is not None:
        rollup.sums(field)  # raises for a wrong name before any file is read
    console = Console(sys.stderr)
    for warning in unknown_variables(ctx):
        console.warning(warning)
    statuses = [_add(rollup, file, console) for file in files]
    if field is not None:
        lines: Iterable[bytes] = _sums(rollup, field, by, json_=json_)
    elif json_:
        lines = map(dump_line, rollup.summaries())
    else:
        lines = _table(list(rollup.summaries()))
    return printed_lines(lines, worst(statuses))


def _add(rollup: Rollup, file: str, console: Console) -> Status:
    """Count the records of a file; report what is no record, or that there is none at all."""
    counted = False
    damages = []
    try:
        for record in journal.read(file):
            if isinstance(record, journal.Damage):
                damages.append(record)
            else:
                counted |= rollup.add(record, file)
    except OSError as error:
        console.line(f"{file}: {error.strerror or error}")
        return Status.TROUBLE
    if not counted:
        console.line(f"{file}: it has no record of a turn, as `run --journal` writes one")
        return Status.TROUBLE
    for damage in damages:
        what = "is torn" if damage.torn else "is not a record"
        console.warning(f"{file}: line {damage.line} {what}; it is skipped")
    return Status.CLEAN


def _table(summaries: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the lines of the table for people."""
    if summaries:
        from loopcli.output.turns import turns_table  # slow to import

        yield turns_table(summaries).encode()


def _sums(rollup: Rollup, field: str, by: str | None, *, json_: bool) -> Iterator[bytes]:
    for group, figure in rollup.sums(field):
        if json_:
            label: dict[str, Any] = {by: group} if by else {}
            yield dump_line({"type": "sum", "field": field, **label, "sum": figure})
        else:
            shown = "n/a" if figure is None else f"{figure:.12g}"
            yield (f"{shown:>12}" + (f"  {escaped(group)}" if by else "")).encode()
