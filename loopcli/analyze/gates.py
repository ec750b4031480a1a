"""The gates: conditions on the rows of a report, for continuous integration to fail on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from loopcli.analyze.replay import ENDED, ReplayRow
from loopcli.analyze.scoring import ScoredReply, detected
from loopcli.verdicts import Label


class Failure(NamedTuple):
    """A reply that fails ``gate``; ``rule`` is empty if no single rule is at fault."""

    id: str
    gate: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.id}: {self.message}"


def labels(rows: Sequence[ReplayRow]) -> Iterator[Failure]:
    """Yield the clean replies that trip, and the loops that no rule detects.

    A trip before the known onset of a loop does not detect it. What trips in a
    reply of a session counts for the session, unless the reply has a label itself.
    """
    within: dict[str, list[ReplayRow]] = {}
    for row in rows:
        if row.session is None and row.label is None:
            within.setdefault(row.id.rpartition("#")[0], []).append(row)
    for ident, group in groupby(rows, key=lambda row: row.id):
        reply = list(group)
        if reply[0].session is not None:
            reply += within.get(ident.rpartition("@")[0], [])
        if reply[0].label == Label.CLEAN:
            for row in reply:
                if row.verdict is not None:
                    message = f"labelled clean, and {tripped(row)}"
                    yield Failure(ident, "check", row.rule, message)
        elif reply[0].label == Label.LOOP and not any(map(detects, reply)):
            early = next((row for row in reply if row.verdict is not None), None)
            why = "nothing trips" if early is None else f"{tripped(early)}, before its onset"
            yield Failure(ident, "check", "", f"labelled loop, and {why}")


def detects(row: ReplayRow) -> bool:
    """Return whether a rule detected the loop of a reply that has one."""
    return detected(row.trip_char, row.onset)


def tripped(row: ReplayRow) -> str:
    """Return a clause that says where a rule tripped."""
    if row.session is not None:
        return f"{row.rule} stops it in round {row.trip_word}, after {row.trip_char} calls"
    what = f"{row.verdict} that ended" if row.finding == ENDED else row.verdict
    return f"{row.rule} trips ({what}) at word {row.trip_word}, character {row.trip_char}"


def peaks(rows: Iterable[ReplayRow], limits: Mapping[str, int]) -> Iterator[Failure]:
    """Yield the replies whose peak is above the limit of a rule, except loops."""
    for row in rows:
        limit = limits.get(row.rule)
        if limit is not None and row.label != Label.LOOP and row.peak > limit:
            message = f"the peak of {row.rule} is {row.peak}, more than {limit}"
            yield Failure(row.id, "max-peak", row.rule, message)


def unjudged(rows: Iterable[ReplayRow], limits: Mapping[str, int]) -> list[str]:
    """Return the rules whose limit applies to no reply that they judged."""
    judged = {row.rule for row in rows if row.label != Label.LOOP and row.channel is not None}
    return [rule for rule in limits if rule not in judged]


def outcomes(rows: Iterable[ReplayRow]) -> list[ScoredReply]:
    """Return what one rule did on each labelled reply; positions are in characters."""
    return [
        ScoredReply(row.label == Label.LOOP, row.words, row.trip_char, row.onset)
        for row in rows
        if row.label is not None
    ]
