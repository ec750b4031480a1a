"""Replays one recorded reply through every armed rule, and keeps a small row for each rule.

Rules measure past a trip, so that a peak is that of the whole reply. The lanes
of a reply are judged separately. A row has the highest peak of all lanes, and
the trip of the first lane that trips. Positions count within their lane; words
and characters count over all lanes that the rule watches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from loopcli.analyze.recent_text import RecentText
from loopcli.events import Lane, SharedWords, Text
from loopcli.rules.base import Armed, Rule
from loopcli.verdicts import REPETITION, Label, Peak, Region, share

if TYPE_CHECKING:
    from loopcli.analyze.session_replay import SessionFacts

# What is judged at once. Words are split and then counted; when more of them
# are made than the cache holds, both take half as long again.
PIECE_CHARS = 64 * 1024

# What a trip turned out to be.
LOOP, ENDED = "loop", "ended"

Lanes = Iterable[tuple[Lane, Iterable[str]]]


class Place(NamedTuple):
    """A repetition that reached its ceiling, its channel, and the line on which it began."""

    channel: str
    line: int | None
    region: Region


class ReplayRow(NamedTuple):
    """What one rule gives for one reply. A figure that the reply does not define is ``None``.

    ``peak``, its ``ceiling`` and the ``margin`` between them (negative beyond the
    ceiling) are in the rule's own unit. ``peak_word`` and ``peak_char`` count the
    words and characters before the highest stretch, ``peak_line`` counts lines
    from 1; ``repeated`` are the stretch's words. ``verdict`` is ``repetition`` or
    ``length``. ``trip_word`` and ``trip_char`` are the words and characters read
    when the rule stated it, which is where a filter would have cut. ``finding``
    classifies a repetition, once the whole reply is known: ``loop`` if it lasts
    to the end of its lane, ``ended`` if the lane goes on with something else.
    ``places`` are the repetitions, if the rule locates them. ``label`` and
    ``onset`` are those of the recording.

    The row of a session has ``session``. It counts rounds and calls where that of
    a reply counts words and characters, and its peak is a streak.
    """

    id: str
    label: Label | None
    onset: int | None
    rule: str
    channel: str | None
    words: int
    chars: int
    peak: int
    ceiling: int
    margin: int
    peak_word: int | None
    peak_char: int | None
    peak_line: int | None
    repeated: tuple[str, ...]
    verdict: str | None
    trip_channel: str | None
    trip_word: int | None
    trip_char: int | None
    finding: str | None
    places: tuple[Place, ...]
    session: SessionFacts | None = None

    @property
    def share(self) -> float:
        """The peak as a share of its ceiling; a ceiling of 0 is reached at once."""
        return share(self.peak, self.ceiling)


class _NoMarks:
    """The marks of a text that is not going to be cut."""

    def byte_after(self, chars: int) -> int:
        raise NotImplementedError


NO_MARKS = _NoMarks()


def replay(
    ident: str,
    lanes: Lanes,
    armed: Sequence[Armed],
    label: Label | None = None,
    onset: int | None = None,
) -> list[ReplayRow]:
    """Return a row for each armed rule, in their order.

    >>> from loopcli.events import Channel
    >>> from loopcli.rules.saturation.rule import SaturationRule
    >>> armed = [Armed(lambda: SaturationRule(past_trip=True), frozenset(Channel))]
    >>> row, = replay("a#1", [(Lane(), ["void 0;\\n" * 2000])], armed)
    >>> row.peak, row.margin, row.peak_line, row.trip_word, row.trip_char
    (3935, -935, 33, 3065, 12261)
    """
    outcomes: list[list[LaneOutcome]] = [[] for _ in armed]
    for lane, pieces in lanes:
        watching = [at for at, arm in enumerate(armed) if lane.channel in arm.channels]
        if watching:
            judged = judge(lane, pieces, [armed[at].make() for at in watching])
            for at, outcome in zip(watching, judged, strict=True):
                outcomes[at].append(outcome)
    return [
        row(ident, label, onset, arm, judged) for arm, judged in zip(armed, outcomes, strict=True)
    ]


class Trip(NamedTuple):
    """The first verdict: in which channel, of what kind, and what had been read by then."""

    channel: str
    kind: str
    words: int
    chars: int


class LaneOutcome(NamedTuple):
    """What a rule that has seen a whole lane says of it.

    ``ceiling`` is that of the stretch that gave the peak, ``line`` the one on
    which that stretch began. ``channel`` is ``None`` for a reply without lanes.
    """

    rule: str
    channel: str | None
    words: int
    chars: int
    peak: Peak
    ceiling: int
    line: int | None = None
    trip: Trip | None = None
    finding: str | None = None
    places: tuple[Place, ...] = ()


def row(
    ident: str,
    label: Label | None,
    onset: int | None,
    arm: Armed,
    outcomes: Sequence[LaneOutcome],
) -> ReplayRow:
    """Return the row of an armed rule, from the lanes of the reply that it watches."""
    if len(outcomes) == 1:
        outcome = outcomes[0]
    elif outcomes:
        outcome = _over_lanes(outcomes)
    else:
        rule = arm.make()
        outcome = LaneOutcome(rule.name, None, 0, 0, Peak(), rule.ceiling)
    peak, ceiling, trip = outcome.peak, outcome.ceiling, outcome.trip
    return ReplayRow(
        id=ident,
        label=label,
        onset=onset,
        rule=outcome.rule,
        channel=outcome.channel,
        words=outcome.words,
        chars=outcome.chars,
        peak=peak.value,
        ceiling=ceiling,
        margin=ceiling - peak.value,
        peak_word=peak.word,
        peak_char=peak.char,
        peak_line=outcome.line,
        repeated=peak.repeated,
        verdict=None if trip is None else trip.kind,
        trip_channel=None if trip is None else trip.channel,
        trip_word=None if trip is None else trip.words,
        trip_char=None if trip is None else trip.chars,
        finding=outcome.finding,
        places=outcome.places,
    )


def _over_lanes(outcomes: Sequence[LaneOutcome]) -> LaneOutcome:
    """Return the highest lane's peak, with the first trip and the sums of all lanes."""
    highest = max(outcomes, key=lambda one: share(one.peak.value, one.ceiling))
    findings = {one.finding for one in outcomes}
    return highest._replace(
        words=sum(one.words for one in outcomes),
        chars=sum(one.chars for one in outcomes),
        trip=next((one.trip for one in outcomes if one.trip is not None), None),
        finding=next((kind for kind in (LOOP, ENDED) if kind in findings), None),
        places=tuple(place for one in outcomes for place in one.places),
    )


def judge(lane: Lane, pieces: Iterable[str], rules: Sequence[Rule]) -> list[LaneOutcome]:
    """Let rules see a whole lane."""
    text = RecentText()
    peaks: list[tuple[Peak, int | None]] = [(Peak(), None)] * len(rules)
    for piece in _cut(pieces):
        event = Text(lane, piece, NO_MARKS, SharedWords())
        text.take(piece)
        for at, rule in enumerate(rules):
            rule.update(event)
            peak, (before, line) = rule.peak, peaks[at]
            # At once: the text is not kept for long. What was the highest while it
            # lasted may have been too short to be remembered.
            if peak.char != before.char:
                line = None if peak.char is None else text.line(peak.char)
            peaks[at] = peak, line
    return [_outcome(lane, text, *each) for each in zip(rules, peaks, strict=True)]


def _outcome(
    lane: Lane, text: RecentText, rule: Rule, highest: tuple[Peak, int | None]
) -> LaneOutcome:
    peak, line = highest
    channel, verdict = lane.channel.value, rule.verdict
    trip = finding = None
    places: tuple[Place, ...] = ()
    if verdict is not None:
        trip = Trip(channel, verdict.kind, verdict.words, verdict.chars)
        places = tuple(Place(channel, text.line(each.onset_char), each) for each in rule.regions)
        if places:
            lasts = not all(place.region.ended for place in places)
        else:
            lasts = share(rule.gauge, rule.ceiling) >= 1
        finding = finding_of(verdict.kind, lasts)
    return LaneOutcome(
        rule=rule.name,
        channel=channel,
        words=rule.words,
        chars=rule.chars,
        peak=peak,
        ceiling=rule.ceiling if peak.ceiling is None else peak.ceiling,
        line=line,
        trip=trip,
        finding=finding,
        places=places,
    )


def finding_of(verdict: str, lasts: bool) -> str | None:
    """Return what became of what tripped a rule, if that was a repetition."""
    if verdict != REPETITION:
        return None
    return LOOP if lasts else ENDED


def _cut(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        if len(piece) <= PIECE_CHARS:
            yield piece
        else:
            for at in range(0, len(piece), PIECE_CHARS):
                yield piece[at : at + PIECE_CHARS]
