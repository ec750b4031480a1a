"""Many short replies looked at together: most leave every rule without anything to say.

A call of numpy costs as much as a page of text does, so texts stand one after
another in one array, each from a multiple of the searches' grid on. What nothing
is found in needs no rule: it has words, characters, and no peak. All others are
replayed as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from loopcli.analyze.replay import PIECE_CHARS, Lanes, ReplayRow, replay
from loopcli.analyze.screening.copies import GRID, LEAD, grams, search
from loopcli.analyze.screening.crowds import crowds, word_keys
from loopcli.analyze.screening.screen import screened
from loopcli.analyze.screening.sight import Sight, sight_of
from loopcli.analyze.sweep.tokens import Ints
from loopcli.events import Channel, Lane
from loopcli.rules.base import Armed, Rule
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.period.probes import COUNTERS, FAR, NEAR, finds, masked
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.rules.screening import Places
from loopcli.verdicts import Label

# Taken together up to here, what is left free behind each included: few enough
# that the arrays stay in the cache, however short the replies are.
_BATCH_CHARS = 96 * 1024
# Behind each text. The mark ends no word, so that the unfinished one stays so; the
# blanks are in no order that comes again, so that nothing in them looks copied.
_END = "\0"
_BLANKS = "".join(" \t\n\v\f\r"[byte % 6] for byte in (7**3000).to_bytes(2 * GRID)[-GRID:])
# An odd number without a pattern: texts beside each other are not to share grams.
_SALT = np.uint16(0x9E35)
# What the rest of a row is where there is no peak.
_NOTHING: tuple[Any, ...] = (None, None, None, (), None, None, None, None, None, ())


class BatchedReply(NamedTuple):
    """What a row is made of."""

    id: str
    lanes: Sequence[tuple[Lane, Iterable[str]]]
    label: Label | None
    onset: int | None


class Glance(NamedTuple):
    """What is known of texts: their size, and in which of them a kind of rule may find something.

    A kind that is not named may find something in any. ``places`` are where the period rule may.
    """

    words: list[int]  # the complete ones
    chars: list[int]
    unsure: Mapping[type[Rule], Collection[int]]
    places: Mapping[int, Places]


class Batch:
    """Gives the rows of replies, those of short ones many at a time; ``flush`` gives the rest."""

    def __init__(self, armed: Sequence[Armed]) -> None:
        self._plain = armed
        self._armed = screened(armed)
        self._rules = [arm.make() for arm in armed]
        self._saturation = next(
            (rule.config for rule in self._rules if isinstance(rule, SaturationRule)), None
        )
        self._period = next(
            (rule.config for rule in self._rules if isinstance(rule, PeriodRule)), None
        )
        self._waiting: list[BatchedReply] = []
        self._chars = 0

    def take(
        self, ident: str, lanes: Lanes, label: Label | None, onset: int | None
    ) -> list[ReplayRow]:
        """Take a reply; return the rows that are known by now, in the order of the replies."""
        held, size = _gathered(lanes)
        found = BatchedReply(ident, held, label, onset)
        if size > PIECE_CHARS:
            return [*self.flush(), *self._replay(found, self._armed)]
        self._waiting.append(found)
        self._chars += size + GRID * max(1, len(held))
        return self.flush() if self._chars > _BATCH_CHARS else []

    def flush(self) -> list[ReplayRow]:
        """Return the rows of all that waited."""
        waiting, self._waiting, self._chars = self._waiting, [], 0
        texts = ["".join(pieces) for found in waiting for _, pieces in found.lanes]
        glance = self._look(texts) if texts else Glance([], [], {}, {})
        rows: list[ReplayRow] = []
        at = 0  # the texts before those of a reply
        for found in waiting:
            rows += self._rows(found, texts, glance, at)
            at += len(found.lanes)
        return rows

    def _rows(
        self, found: BatchedReply, texts: Sequence[str], glance: Glance, at: int
    ) -> Iterator[ReplayRow]:
        """Yield a row for each rule, in their order; the reply's texts begin at ``at``."""
        calm: list[ReplayRow | None] = []
        left: list[Armed] = []
        for arm, rule in zip(self._plain, self._rules, strict=True):
            calm.append(self._calm_row(found, glance, at, arm, rule))
            if calm[-1] is not None:
                continue
            if isinstance(rule, PeriodRule) and len(found.lanes) == 1:
                arm = arm._replace(make=_searching(rule.config, glance.places[at]))
            left.append(arm)
        replayed: Iterator[ReplayRow] = iter(())
        if left:
            lanes = [
                (lane, [text]) for (lane, _), text in zip(found.lanes, texts[at:], strict=False)
            ]
            replayed = iter(self._replay(found._replace(lanes=lanes), left))
        for row in calm:
            yield next(replayed) if row is None else row

    def _calm_row(
        self, found: BatchedReply, glance: Glance, at: int, arm: Armed, rule: Rule
    ) -> ReplayRow | None:
        """Return the row of a rule that has nothing to say; ``None`` if it may have."""
        unsure = glance.unsure.get(type(rule))
        if unsure is None:
            return None
        words = chars = 0
        channel: Channel | None = None
        for number, (lane, _) in enumerate(found.lanes, at):
            if lane.channel in arm.channels:
                if number in unsure:
                    return None
                channel = channel or lane.channel
                words += glance.words[number]
                chars += glance.chars[number]
        ceiling = rule.ceiling
        about = found.id, found.label, found.onset, rule.name, channel and channel.value
        return ReplayRow(*about, words, chars, 0, ceiling, ceiling, *_NOTHING)

    def _replay(self, found: BatchedReply, armed: Sequence[Armed]) -> list[ReplayRow]:
        return replay(found.id, found.lanes, armed, found.label, found.onset)

    def _look(self, texts: Sequence[str]) -> Glance:
        sizes = np.array([len(text) for text in texts])
        # The mark of the end and a blank fit behind each.
        widths = (sizes + 1) // GRID * GRID + GRID
        begins = LEAD + np.cumsum(widths) - widths
        parts = [_BLANKS * (LEAD // GRID)]
        for text, width in zip(texts, widths.tolist(), strict=True):
            parts += [text, _END, _BLANKS[: width - len(text) - 1]]
        joined = "".join([*parts, _BLANKS])
        sight = sight_of(joined)
        first = np.searchsorted(sight.starts, begins)
        words = np.searchsorted(sight.stops, begins + sizes, side="right") - first
        crowded, copied = self._crowded(sight, first, texts), {}
        if self._period is not None:
            for owner, places in _places(sight, begins, sizes, widths):
                if _matters(texts[owner], places, self._period):
                    copied[owner] = places
        unsure = {SaturationRule: crowded, PeriodRule: copied}
        return Glance(words.tolist(), sizes.tolist(), unsure, copied)

    def _crowded(self, sight: Sight, first: Ints, texts: Sequence[str]) -> set[int]:
        """Return the texts in which a window may be saturated, or the backstop reached."""
        config = self._saturation
        if config is None:
            return set()
        limit = config.max_response_chars
        found = {at for at, text in enumerate(texts) if len(text) > limit} if limit else set()
        keys = word_keys(sight)
        # No window reaches from one text into the next, nor is it wider than all of them.
        width = min(config.window_words, len(keys))
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


def _places(sight: Sight, begins: Ints, sizes: Ints, widths: Ints) -> Iterator[tuple[int, Places]]:
    """Yield the texts in which the period rule has places to search, and those."""
    numbers = grams(sight.seen[1:])
    # Texts that begin alike are no copies of each other.
    numbers = numbers[: len(numbers) // GRID * GRID]
    salts = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.uint16) * _SALT, widths // GRID)
    numbers.reshape(-1, GRID)[LEAD // GRID : LEAD // GRID + len(salts)] += salts[:, None]
    near, far, counters = search(numbers)
    found: dict[int, tuple[set[int], set[int]]] = {}
    for kind, places in enumerate((np.concatenate((near, far)), counters)):
        owners = np.searchsorted(begins, places) - 1  # a place belongs to the text before it
        within = places - begins[owners]
        inside = (within <= sizes[owners]).nonzero()[0]
        for owner, at in zip(owners[inside].tolist(), within[inside].tolist(), strict=True):
            found.setdefault(owner, (set(), set()))[kind].add(at)
    for owner, sets in found.items():
        yield owner, Places(*sets)


def _searching(config: PeriodConfig, places: Places) -> Callable[[], PeriodRule]:
    """Return what makes a rule that knows where to search the one text that it will judge."""
    return lambda: PeriodRule(config, past_trip=True, screen=lambda *_: places)


def _matters(text: str, places: Places, config: PeriodConfig) -> bool:
    """Tell whether anything is copied in a text that the period rule would have to follow."""
    least = config.lowest
    for at in places.exact:
        probes = (NEAR,) if at % FAR.grid else (NEAR, FAR)
        if any(finds(text, at, probe, FAR.reach, least) for probe in probes):
            return True
    if not places.counters:
        return False
    text, least = masked(text), config.lowest_counted
    return any(finds(text, at, COUNTERS, COUNTERS.reach, least) for at in places.counters)
