"""Replays one recorded reply through every armed rule, and keeps a small row for each rule.

Rules measure past a trip, so that a peak is that of the whole reply. The lanes
of a reply are judged separately. A row has the highest peak of all lanes, and
the trip of the first lane that trips. Positions count within their lane; words
and characters count over all lanes that the rule watches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from loopcli.events import Lane, SharedWords, Text
from loopcli.rules.base import Armed, Rule
from loopcli.verdicts import REPETITION, Label, Peak, Region, Verdict, share

if TYPE_CHECKING:
    from loopcli.analyze.session_replay import SessionFacts

# What is judged at once. Words are split and then counted; when more of them
# are made than the cache holds, both take half as long again.
PIECE_CHARS = 64 * 1024
# How much text is kept to tell at which line a stretch began.
_KEPT_CHARS = 4 * 1024 * 1024

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
    found: list[list[_Judged]] = [[] for _ in armed]
    for lane, pieces in lanes:
        watching = [at for at, arm in enumerate(armed) if lane.channel in arm.channels]
        rules = [armed[at].make() for at in watching]
        judged = _judge(lane, pieces, rules) if rules else []
        for at, one in zip(watching, judged, strict=True):
            found[at].append(one)
    return [
        _row(ident, label, onset, arm, judged) for arm, judged in zip(armed, found, strict=True)
    ]


class _Judged(NamedTuple):
    """A rule that has seen a whole lane."""

    lane: Lane
    rule: Rule
    peak: Peak
    line: int | None
    places: tuple[Place, ...]

    @property
    def finding(self) -> str | None:
        """Whether what tripped the rule has ended."""
        rule = self.rule
        if rule.verdict is None or rule.verdict.kind != REPETITION:
            return None
        if self.places:
            lasts = not all(place.region.ended for place in self.places)
        else:
            lasts = share(rule.gauge, rule.ceiling) >= 1
        return LOOP if lasts else ENDED

    @property
    def ceiling(self) -> int:
        """The ceiling of the stretch that gave the peak."""
        return self.rule.ceiling if self.peak.ceiling is None else self.peak.ceiling


def _row(
    ident: str, label: Label | None, onset: int | None, arm: Armed, judged: Sequence[_Judged]
) -> ReplayRow:
    highest = max(judged, key=lambda one: share(one.peak.value, one.ceiling), default=None)
    rule = arm.make() if highest is None else highest.rule  # a reply may say nothing at all
    peak = Peak() if highest is None else highest.peak
    ceiling = rule.ceiling if highest is None else highest.ceiling
    lane, verdict = _first_trip(judged)
    findings = {one.finding for one in judged} if verdict else set()
    return ReplayRow(
        id=ident,
        label=label,
        onset=onset,
        rule=rule.name,
        channel=None if highest is None else highest.lane.channel.value,
        words=sum(one.rule.words for one in judged),
        chars=sum(one.rule.chars for one in judged),
        peak=peak.value,
        ceiling=ceiling,
        margin=ceiling - peak.value,
        peak_word=peak.word,
        peak_char=peak.char,
        peak_line=None if highest is None else highest.line,
        repeated=peak.repeated,
        verdict=None if verdict is None else verdict.kind,
        trip_channel=None if lane is None else lane.channel.value,
        trip_word=None if verdict is None else verdict.words,
        trip_char=None if verdict is None else verdict.chars,
        finding=next((kind for kind in (LOOP, ENDED) if kind in findings), None),
        places=tuple(place for one in judged for place in one.places),
    )


def _first_trip(judged: Sequence[_Judged]) -> tuple[Lane | None, Verdict | None]:
    tripped = ((one.lane, one.rule.verdict) for one in judged if one.rule.verdict is not None)
    return next(tripped, (None, None))


def _judge(lane: Lane, pieces: Iterable[str], rules: Sequence[Rule]) -> list[_Judged]:
    """Let rules see a whole lane."""
    text = _Recent()
    places: list[tuple[int | None, int | None]] = [(None, None)] * len(rules)
    for piece in _cut(pieces):
        event = Text(lane, piece, NO_MARKS, SharedWords())
        text.take(piece)
        for at, rule in enumerate(rules):
            rule.update(event)
            char = rule.peak.char
            # At once: the text is not kept for long. What was the highest while it
            # lasted may have been too short to be remembered.
            if char != places[at][0]:
                places[at] = char, None if char is None else text.line(char)
    return [
        _Judged(
            lane,
            rule,
            rule.peak,
            line,
            tuple(
                Place(lane.channel.value, text.line(region.onset_char), region)
                for region in rule.regions
            ),
        )
        for rule, (_, line) in zip(rules, places, strict=True)
    ]


def _cut(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        if len(piece) <= PIECE_CHARS:
            yield piece
        else:
            for at in range(0, len(piece), PIECE_CHARS):
                yield piece[at : at + PIECE_CHARS]


class _Recent:
    """The last pieces of a text, and how many lines came before them."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._breaks: deque[int] = deque()  # line breaks in the first of them, as far as counted
        self._first = 0  # characters before the first piece that is kept
        self._end = 0
        self._lines = 0  # line breaks before it

    def take(self, piece: str) -> None:
        """Add a piece, and let go of those that have become too old."""
        self._pieces.append(piece)
        self._end += len(piece)
        while self._end - self._first > _KEPT_CHARS and len(self._pieces) > 1:
            old = self._pieces.popleft()
            self._first += len(old)
            self._lines += self._breaks.popleft() if self._breaks else old.count("\n")

    def line(self, char: int) -> int | None:
        """Return the line that holds the character after the first ``char``; lines count from 1.

        ``None`` if it came too long ago: then an unbroken stretch of millions
        of characters has had to overtake another.
        """
        if char < self._first:
            return None
        line, left = self._lines + 1, char - self._first
        for at, piece in enumerate(self._pieces):
            if left <= len(piece):
                return line + piece.count("\n", 0, left)
            left -= len(piece)
            if at == len(self._breaks):
                self._breaks.append(piece.count("\n"))
            line += self._breaks[at]
        return line
