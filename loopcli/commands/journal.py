"""``loopcheck journal``: what the turns in journals come to."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from loopcli import journal
from loopcli.commands.printing import printed_lines
from loopcli.output.lines import Lines
from loopcli.output.text import escaped
from loopcli.rollup import BY, Rollup
from loopcli.status import Status


@click.command("journal")
@click.option(
    "--sum",
    "field",
    metavar="FIELD",
    help="Print the sum of one figure, such as summary.errors.loopAbortChars.",
)
@click.option("--by", type=click.Choice(BY), help="One sum for each of these.")
@click.option("--json", "json_", is_flag=True, help="Print sums as JSON Lines, too.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(field: str | None, by: str | None, json_: bool, files: tuple[str, ...]) -> int:
    """Sum up what `loopcheck run --journal` wrote: a line of JSON for each session.

    \b
    loopcheck journal turns.jsonl
    loopcheck journal --sum summary.errors.loopAbortChars --by model *.jsonl
    """
    if field is None and (by or json_):
        raise click.UsageError(f"{'--by' if by else '--json'} needs --sum")
    rollup = Rollup(by)
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
