"""``loopcheck journal``: what the turns in journals come to."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click
from click.core import ParameterSource

from loopcli.commands import options
from loopcli.commands.printing import printed_lines
from loopcli.output.console import Lines
from loopcli.run import journal
from loopcli.run.rollup import BY, Rollup
from loopcli.status import Status
from loopcli.wording import escaped


@click.command("journal", context_settings={"auto_envvar_prefix": options.ENVIRONMENT_PREFIX})
@click.option(
    "--sum",
    "field",
    envvar=f"{options.ENVIRONMENT_PREFIX}_SUM",
    metavar="FIELD",
    help="Print the sum of one figure, such as summary.errors.loopAbortChars.",
)
@click.option("--by", type=click.Choice(BY), help="One sum for each of these.")
@click.option(
    "--json",
    "json_",
    envvar=f"{options.ENVIRONMENT_PREFIX}_JSON",
    is_flag=True,
    help="Print sums as JSON Lines, too.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.pass_context
def command(
    ctx: click.Context, field: str | None, by: str | None, json_: bool, files: tuple[str, ...]
) -> int:
    """Sum up what `loopcheck run --journal` wrote: a line of JSON for each session.

    \b
    loopcheck journal turns.jsonl
    loopcheck journal --sum summary.errors.loopAbortChars --by model *.jsonl
    """
    for name in ("by", "json_"):
        # A variable is there for every call; LOOPCHECK_JSON is the filter's, too.
        if field is None and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.rstrip('_')} needs --sum")
    rollup = Rollup(by if field is not None else None)
    if field is not None:
        rollup.sums(field)  # a wrong name is told before anything is read
    status = Status.CLEAN
    teller = Lines(sys.stderr)
    for file in files:
        try:
            _add(rollup, file, teller)
        except OSError as error:
            teller.say(f"{file}: {error.strerror or error}")
            status = Status.TROUBLE
    if field is None:
        lines: Iterable[bytes] = map(journal.dumps, rollup.summaries())
    else:
        lines = _sums(rollup, field, by, json_=json_)
    return printed_lines(lines, status)


def _add(rollup: Rollup, file: str, teller: Lines) -> None:
    for record in journal.read(file):
        if isinstance(record, journal.Damage):
            what = "torn" if record.torn else "no record"
            teller.warn(f"{file}: line {record.line} is {what}; it is skipped")
        else:
            rollup.add(record, file)


def _sums(rollup: Rollup, field: str, by: str | None, *, json_: bool) -> Iterator[bytes]:
    sums = rollup.sums(field)
    if by is None and not sums:
        sums = [("", 0)]
    for group, figure in sums:
        if json_:
            label: dict[str, Any] = {by: group} if by else {}
            yield journal.dumps({"type": "sum", "field": field, **label, "sum": figure})
        else:
            yield (f"{figure:>12.12g}" + (f"  {escaped(group)}" if by else "")).encode()
