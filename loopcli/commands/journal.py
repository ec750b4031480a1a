"""``loopcheck journal``: sums over the turns in journals."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click
from click.core import ParameterSource

from loopcli.commands import options
from loopcli.commands.completing import FILE
from loopcli.commands.printing import printed_lines
from loopcli.lenient_json import dump_line
from loopcli.output.console import Console
from loopcli.run import journal
from loopcli.run.rollup import BY, Rollup
from loopcli.status import Status
from loopcli.wording import escaped, kebab


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
    help="Print the sums as JSON Lines.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.pass_context
def command(
    ctx: click.Context, field: str | None, by: str | None, json_: bool, files: tuple[str, ...]
) -> int:
    """Sum up the journals of `loopcheck run --journal`: one line of JSON for each session.

    \b
    loopcheck journal turns.jsonl
    loopcheck journal --sum summary.errors.loopAbortChars --by model *.jsonl
    """
    for name in ("by", "json_"):
        # Only a flag is an error: LOOPCHECK_JSON may be set for the filter.
        if field is None and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{kebab(name)} needs --sum")
    rollup = Rollup(by if field is not None else None)
    if field is not None:
        rollup.sums(field)  # raises for a wrong name before any file is read
    status = Status.CLEAN
    console = Console(sys.stderr)
    for file in files:
        try:
            _add(rollup, file, console)
        except OSError as error:
            console.line(f"{file}: {error.strerror or error}")
            status = Status.TROUBLE
    if field is None:
        lines: Iterable[bytes] = map(dump_line, rollup.summaries())
    else:
        lines = _sums(rollup, field, by, json_=json_)
    return printed_lines(lines, status)


def _add(rollup: Rollup, file: str, console: Console) -> None:
    for record in journal.read(file):
        if isinstance(record, journal.Damage):
            what = "is torn" if record.torn else "is not a record"
            console.warning(f"{file}: line {record.line} {what}; it is skipped")
        else:
            rollup.add(record, file)


def _sums(rollup: Rollup, field: str, by: str | None, *, json_: bool) -> Iterator[bytes]:
    sums = rollup.sums(field)
    if by is None and not sums:
        sums = [("", 0)]
    for group, figure in sums:
        if json_:
            label: dict[str, Any] = {by: group} if by else {}
            yield dump_line({"type": "sum", "field": field, **label, "sum": figure})
        else:
            yield (f"{figure:>12.12g}" + (f"  {escaped(group)}" if by else "")).encode()
