"""Many short replies looked at together: most leave every rule without anything to say.

A call of numpy costs as much as a page of text does, so texts stand one after
another in one array, each from a multiple of the searches' grid on. What nothing
is found in needs no rule: it has words, characters, and no peak. All others are
replayed as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from loopcli.events import Lane
from loopcli.replay import PIECE_CHARS, Lanes, Row, replay
from loopcli.rules._probes import COUNTERS, COVER, FAR, NEAR, Probe, finds, masked
from loopcli.rules.base import Armed, Rule
from loopcli.rules.period import PeriodRule
from loopcli.rules.saturation import SaturationRule
from loopcli.sweep.copies import GRID, LEAD, grams, search
from loopcli.sweep.crowds import crowds, word_keys
from loopcli.sweep.screen import screened
from loopcli.sweep.sight import Sight, sight_of
from loopcli.sweep.tokens import Ints

# Taken together up to here, what is left free behind each included: few enough
# that the arrays stay in the cache, however short the replies are.
_BATCH_CHARS = 128 * 1024
# It ends no word, so that the unfinished one at the end of a text stays so.
_END = "\0"
# An odd number without a pattern: texts beside each other are not to share grams.
_SALT = np.uint16(0x9E35)
# How much of a text one of its searches for counters looks at.
_COUNTERS_SEE = COUNTERS.reach + max(COUNTERS.needle, COVER)


class Reply(NamedTuple):
    """What a row is made of."""

    id: str
    lanes: Sequence[tuple[Lane, Iterable[str]]]
    label: str | None
    onset: int | None


class Glance(NamedTuple):
    """What is known of texts: their complete words, and in which a kind of rule may find something.

    A kind that is not named may find something in any.
    """

    words: list[int]
    unsure: dict[type[object], set[int]]


class Batch:
    """Gives the rows of replies, those of short ones many at a time; ``flush`` gives the rest."""

    def __init__(self, armed: Sequence[Armed]) -> None:
        self._armed = screened(armed)
        self._rules = [arm.make() for arm in armed]
        self._saturation = next(
            (rule.config for rule in self._rules if isinstance(rule, SaturationRule)), None
        )
        self._waiting: list[Reply] = []
        self._chars = 0

    def take(self, ident: str, lanes: Lanes, label: str | None, onset: int | None) -> list[Row]:
        """Take a reply; return the rows that are known by now, in the order of the replies."""
        held, size = _gathered(lanes)
        found = Reply(ident, held, label, onset)
        if size > PIECE_CHARS:
            return [*self.flush(), *self._replay(found, self._armed)]
        self._waiting.append(found)
        self._chars += size + GRID * max(1, len(held))
        return self.flush() if self._chars > _BATCH_CHARS else []

    def flush(self) -> list[Row]:
        """Return the rows of all that waited."""
        waiting, self._waiting, self._chars = self._waiting, [], 0
        texts = ["".join(pieces) for found in waiting for _, pieces in found.lanes]
        glance = self._look(texts) if texts else Glance([], {})
        rows: list[Row] = []
        at = 0  # the texts before those of a reply
        for found in waiting:
            rows += self._rows(found, glance, at)
            at += len(found.lanes)
        return rows

    def _rows(self, found: Reply, glance: Glance, at: int) -> Iterator[Row]:
        """Yield a row for each rule, in their order."""
        calm = [
            self._calm_row(found, glance, at, arm, rule)
            for arm, rule in zip(self._armed, self._rules, strict=True)
        ]
        left = [arm for arm, row in zip(self._armed, calm, strict=True) if row is None]
        replayed = iter(self._replay(found, left) if left else ())
        for row in calm:
            yield next(replayed) if row is None else row

    def _calm_row(
        self, found: Reply, glance: Glance, at: int, arm: Armed, rule: Rule
    ) -> Row | None:
        """Return the row of a rule that has nothing to say; ``None`` if it may have."""
        unsure = glance.unsure.get(type(rule))
        if unsure is None:
            return None
        words = chars = 0
        channel = None
        for number, (lane, pieces) in enumerate(found.lanes, at):
            if lane.channel in arm.channels:
                if number in unsure:
                    return None
                channel = channel or lane.channel.value
                words += glance.words[number]
                chars += sum(map(len, pieces))
        ceiling = rule.ceiling
        return Row(
            id=found.id,
            label=found.label,
            onset=found.onset,
            rule=rule.name,
            channel=channel,
            words=words,
            chars=chars,
            peak=0,
            ceiling=ceiling,
            margin=ceiling,
            peak_word=None,
            peak_char=None,
            peak_line=None,
            repeated=(),
            verdict=None,
            trip_channel=None,
            trip_word=None,
            trip_char=None,
            finding=None,
            places=(),
        )

    def _replay(self, found: Reply, armed: Sequence[Armed]) -> list[Row]:
        return replay(found.id, found.lanes, armed, found.label, found.onset)

    def _look(self, texts: Sequence[str]) -> Glance:
        sizes = np.array([len(text) for text in texts])
        # The mark of the end and a blank fit behind each.
        widths = (sizes + 1) // GRID * GRID + GRID
        begins = LEAD + np.cumsum(widths) - widths
        parts = [" " * LEAD]
        for text, width in zip(texts, widths.tolist(), strict=True):
            parts += [text, _END.ljust(width - len(text))]
        joined = "".join([*parts, " " * GRID])
        sight = sight_of(joined)
        first = np.searchsorted(sight.starts, begins)
        words = np.searchsorted(sight.stops, begins + sizes, side="right") - first
        unsure: dict[type[object], set[int]] = {
            SaturationRule: self._crowded(sight, first, texts),
            PeriodRule: _copied(texts, sight, begins, sizes, widths),
        }
        return Glance(words.tolist(), unsure)

    def _crowded(self, sight: Sight, first: Ints, texts: Sequence[str]) -> set[int]:
        """Return the texts in which a window may be saturated, or the backstop reached."""
        config = self._saturation
        if config is None:
            return set()
        width, limit = config.window_words, config.max_response_chars
        found = {at for at, text in enumerate(texts) if len(text) > limit} if limit else set()
        keys = word_keys(sight)
        # No window reaches from one text into the next.
        apart = width * np.arange(len(texts))
        edges = np.append(first, len(keys))
        places = np.arange(len(keys)) + np.repeat(apart, np.diff(edges))
        over, breadth = config.repeat_threshold + 1, config.min_offenders
        crowded = [begin for begin, _ in crowds(keys, places, width, over, breadth)]
        return found.union((np.searchsorted(first + apart, crowded, side="right") - 1).tolist())


def _gathered(lanes: Lanes) -> tuple[list[tuple[Lane, Iterable[str]]], int]:
    """Return lanes whose pieces are at hand, and their size, but for the rest of a long reply."""
    held: list[tuple[Lane, Iterable[str]]] = []
    size = 0
    for lane, pieces in lanes:
        if size > PIECE_CHARS:
            held.append((lane, pieces))
            continue
        taken, rest = [], iter(pieces)
        for piece in rest:
            taken.append(piece)
            size += len(piece)
            if size > PIECE_CHARS:
                held.append((lane, chain(taken, rest)))
                break
        else:
            held.append((lane, taken))
    return held, size


def _copied(
    texts: Sequence[str], sight: Sight, begins: Ints, sizes: Ints, widths: Ints
) -> set[int]:
    """Return the texts in which a search of the period rule finds something to follow."""
    numbers = grams(sight.seen[1:])
    # Texts that begin alike are no copies of each other.
    numbers = numbers[: len(numbers) // GRID * GRID]
    salts = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.uint16) * _SALT, widths // GRID)
    numbers.reshape(-1, GRID)[LEAD // GRID : LEAD // GRID + len(salts)] += salts[:, None]
    copied: set[int] = set()
    for places, probe in zip(search(numbers), (NEAR, FAR, COUNTERS), strict=True):
        owners = np.searchsorted(begins, places) - 1  # a place belongs to the text before it
        for owner, at in zip(owners.tolist(), (places - begins[owners]).tolist(), strict=True):
            if owner not in copied and at <= len(texts[owner]) and _finds(texts[owner], at, probe):
                copied.add(owner)
    return copied


def _finds(text: str, at: int, probe: Probe) -> bool:
    if probe is not COUNTERS:
        return finds(text, at, probe)
    before = masked(text[max(0, at - _COUNTERS_SEE) : at])
    return finds(before, len(before), probe)
