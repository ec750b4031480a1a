"""Reports over a large corpus: the sweep's engine instead of the saturation rule, many at a time.

The idea: a report is a sweep of one combination. ``stretches`` (see
``sweep.cells``) gives the saturated stretches of many texts in one pass of
numpy, and all that a row says of the saturation rule follows from them: the
longest is the peak, the first that is long enough is the trip, and one that
reaches the last word lasts.

The other rules are the ones that watch a stream. Splitting a text into words
costs them half of their time, and they want no more than the number of words up
to a place, which the same pass of numpy has found; ``TokenCounter`` gives it.

Invariants, which the tests hold:

- Rows equal those of ``replay``, and come in the order of the replies.
- Texts that wait together have nothing to do with each other: no window
  reaches from one into the next, and each has rules of its own.
- No more text is held than a batch and one reply. A reply of which ``replay``
  would not keep all (``KEPT_CHARS``) streams through the rules, as it does there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from loopcli.analyze.recent_text import KEPT_CHARS
from loopcli.analyze.replay import (
    LaneOutcome,
    Lanes,
    ReplayRow,
    Trip,
    finding_of,
    judge,
    replay,
    row,
)
from loopcli.analyze.sweep.cells import stretches
from loopcli.analyze.sweep.tokens import Tokens, tokenise_all
from loopcli.events import Lane, SharedWords
from loopcli.rules.base import Armed
from loopcli.rules.batching import BatchingRule
from loopcli.rules.saturation.config import NAME as SATURATION
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.rules.saturation.window import named
from loopcli.verdicts import LENGTH, REPETITION, Label, Peak, share
from loopcli.words import Splitter, WordCounter

# So much is swept together: enough to hide numpy's cost per call, and few enough
# characters for the cache.
_BATCH_CHARS = 1 << 19
_BATCH_REPLIES = 1 << 10

Stretches = Sequence[tuple[int, int]]


class HeldReply(NamedTuple):
    """A reply that waits for others."""

    id: str
    lanes: Sequence[tuple[Lane, str]]
    label: Label | None
    onset: int | None


class TokenCounter(WordCounter):
    """Counts the words of a text of which all are known."""

    __slots__ = ("_chars", "_tokens")

    def __init__(self, tokens: Tokens) -> None:
        super().__init__()
        self._tokens, self._chars = tokens, 0

    def feed(self, text: str, shared: SharedWords | None = None) -> None:
        """Count on."""
        self._chars += len(text)
        self.total = self._tokens.words_at(self._chars)

    def after(self, text: str, chars: int) -> int:
        """Return what the total would be after so many characters of a text."""
        return self._tokens.words_at(self._chars + chars)


class SweptRule:
    """The saturation rule over the texts of a batch, from the sweep's engine."""

    def __init__(self, config: SaturationConfig) -> None:
        self._config = config
        self._batch: Sequence[Tokens] = ()
        self._stretches: Mapping[int, Stretches] = {}

    def begin(self, batch: Sequence[Tokens]) -> None:
        """Take the texts that come next."""
        self._batch, self._stretches = batch, stretches(batch, self._config)

    def judge(self, number: int, lane: Lane, text: str) -> LaneOutcome:
        """Return what the rule says of a text of the batch."""
        return _swept(
            lane, text, self._batch[number], self._stretches.get(number, ()), self._config
        )


class StreamedRule:
    """Any other rule, fresh for each text; one that only counts words is given their number."""

    def __init__(self, arm: Armed) -> None:
        self._make = arm.make
        self._batch: Sequence[Tokens] = ()

    def begin(self, batch: Sequence[Tokens]) -> None:
        """Take the texts that come next."""
        self._batch = batch

    def judge(self, number: int, lane: Lane, text: str) -> LaneOutcome:
        """Return what the rule says of a text of the batch."""
        rule = self._make()
        if isinstance(rule, BatchingRule):
            rule.counter = TokenCounter(self._batch[number])
        (outcome,) = judge(lane, [text], [rule])
        return outcome


class Bulk:
    """Gives the rows of replies, those of short ones many at a time; ``flush`` gives the rest."""

    def __init__(self, armed: Sequence[Armed]) -> None:
        self._armed = armed
        self._judges = [_judge_of(arm) for arm in armed]
        self._waiting: list[HeldReply] = []
        self._chars = 0

    def take(
        self, ident: str, lanes: Lanes, label: Label | None, onset: int | None
    ) -> list[ReplayRow]:
        """Take a reply; return the rows that are known by now, in the order of the replies."""
        held: list[tuple[Lane, str]] = []
        room = KEPT_CHARS
        rest = iter(lanes)
        for lane, pieces in rest:
            taken, more = _taken(pieces, room)
            if more:
                before = [(one, [text]) for one, text in held]
                streamed = chain(before, [(lane, chain(taken, more))], rest)
                return [*self.flush(), *replay(ident, streamed, self._armed, label, onset)]
            held.append((lane, "".join(taken)))
            room -= len(held[-1][1])
        self._waiting.append(HeldReply(ident, held, label, onset))
        self._chars += KEPT_CHARS - room
        full = self._chars >= _BATCH_CHARS or len(self._waiting) >= _BATCH_REPLIES
        return self.flush() if full else []

    def flush(self) -> list[ReplayRow]:
        """Return the rows of all that waited."""
        waiting, self._waiting, self._chars = self._waiting, [], 0
        batch = list(tokenise_all(text for reply in waiting for _, text in reply.lanes))
        for rule in self._judges:
            rule.begin(batch)
        rows: list[ReplayRow] = []
        at = 0  # the texts before those of a reply
        for reply in waiting:
            for arm, rule in zip(self._armed, self._judges, strict=True):
                outcomes = [
                    rule.judge(number, lane, text)
                    for number, (lane, text) in enumerate(reply.lanes, at)
                    if lane.channel in arm.channels
                ]
                rows.append(row(reply.id, reply.label, reply.onset, arm, outcomes))
            at += len(reply.lanes)
        return rows


def _judge_of(arm: Armed) -> SweptRule | StreamedRule:
    rule = arm.make()
    return SweptRule(rule.config) if isinstance(rule, SaturationRule) else StreamedRule(arm)


def _taken(pieces: Iterable[str], room: int) -> tuple[list[str], Iterable[str]]:
    """Return the first pieces, and the others if together they have no room."""
    taken, rest = [], iter(pieces)
    for piece in rest:
        taken.append(piece)
        room -= len(piece)
        if room < 0:
            return taken, rest
    return taken, ()


def _swept(
    lane: Lane, text: str, tokens: Tokens, runs: Stretches, config: SaturationConfig
) -> LaneOutcome:
    """Return what the saturation rule says of a lane, from its saturated stretches."""
    ceiling, peak, line = config.min_saturated_run, Peak(), None
    if runs:
        begin, end = max(runs, key=lambda run: run[1] - run[0])
        char = int(tokens.starts[begin])
        recent = text[tokens.starts[max(0, end - config.window_words)] : tokens.ends[end - 1]]
        counts = Counter(Splitter().words(recent)).items()
        offenders = {word: count for word, count in counts if count > config.repeat_threshold}
        peak, line = Peak(end - begin, begin, char, named(offenders)), text.count("\n", 0, char) + 1
    trip = _trip(lane.channel.value, tokens, runs, config)
    last = runs[-1] if runs else (0, 0)
    gauge = last[1] - last[0] if last[1] == tokens.words else 0
    return LaneOutcome(
        rule=SATURATION,
        channel=lane.channel.value,
        words=tokens.words,
        chars=tokens.chars,
        peak=peak,
        ceiling=ceiling,
        line=line,
        trip=trip,
        finding=trip and finding_of(trip.kind, lasts=share(gauge, ceiling) >= 1),
    )


def _trip(channel: str, tokens: Tokens, runs: Stretches, config: SaturationConfig) -> Trip | None:
    """Return the first verdict.

    A repetition trips once its run is long enough and the window full. The
    backstop fires at the first character beyond its limit; a repetition on that
    same character wins.
    """
    limit = config.max_response_chars or tokens.chars
    for begin, end in runs:
        fires = max(begin + max(config.min_saturated_run, 1), config.window_words)
        if fires <= end:
            chars = int(tokens.ends[fires - 1])
            if chars <= limit + 1:
                return Trip(channel, REPETITION, fires, chars)
            break
    if tokens.chars > limit:
        return Trip(channel, LENGTH, tokens.words_at(limit + 1), limit + 1)
    return None
