"""What continuous integration is to fail on: rows held against what was wanted of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from loopcli.analyze.replay import ENDED, ReplayRow
from loopcli.analyze.scoring import ScoredReply, detected
from loopcli.verdicts import Label


class Failure(NamedTuple):
    """A reply that did not pass ``gate``; ``rule`` is empty where no single rule is at fault."""

    id: str
    gate: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.id}: {self.message}"


def labels(rows: Iterable[ReplayRow]) -> Iterator[Failure]:
    """Yield the clean replies that trip, and the loops that no rule finds.

    A trip before a loop's known onset has not found it.
    """
    for ident, group in groupby(rows, key=lambda row: row.id):
        reply = list(group)
        if reply[0].label is Label.CLEAN:
            for row in reply:
                if row.verdict is not None:
                    message = f"labelled clean, and {tripped(row)}"
                    yield Failure(ident, "check", row.rule, message)
        elif reply[0].label is Label.LOOP and not any(map(found, reply)):
            early = next((row for row in reply if row.verdict is not None), None)
            why = "nothing trips" if early is None else f"{tripped(early)}, before its onset"
            yield Failure(ident, "check", "", f"labelled loop, and {why}")


def found(row: ReplayRow) -> bool:
    """Return whether a loop was found."""
    return detected(row.trip_char, row.onset)


def tripped(row: ReplayRow) -> str:
    """Return a clause that says where a rule tripped."""
    what = f"{row.verdict} that ended" if row.finding == ENDED else row.verdict
    return f"{row.rule} trips ({what}) at word {row.trip_word}, character {row.trip_char}"


def peaks(rows: Iterable[ReplayRow], limits: Mapping[str, int]) -> Iterator[Failure]:
    """Yield the replies, loops apart, that come higher than the limit of a rule."""
    for row in rows:
        limit = limits.get(row.rule)
        if limit is not None and row.label is not Label.LOOP and row.peak > limit:
            message = f"the peak of {row.rule} is {row.peak}, more than {limit}"
            yield Failure(row.id, "max-peak", row.rule, message)


def unjudged(rows: Iterable[ReplayRow], limits: Mapping[str, int]) -> list[str]:
    """Return the rules with a limit that have judged no reply which it is for."""
    judged = {row.rule for row in rows if row.label is not Label.LOOP and row.channel is not None}
    return [rule for rule in limits if rule not in judged]


def outcomes(rows: Iterable[ReplayRow]) -> list[ScoredReply]:
    """Return what one rule did on each labelled reply, in characters."""
    return [
        ScoredReply(row.label is Label.LOOP, row.words, row.trip_char, row.onset)
        for row in rows
        if row.label is not None
    ]
