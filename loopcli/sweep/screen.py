"""Which stretches of a text cannot leave a window saturated, found without looking at its words.

A word is known here by one byte, made of its length, its first and its last
character. Different words may share that byte, equal words always do: a count
of bytes is never less than the count of a word. So where too few bytes are
frequent no word is, and nothing else need be known of that stretch but how many
words it has. In ordinary text that is nearly all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from loopcli.rules._screening import Stretch
from loopcli.rules.base import Armed, Rule
from loopcli.rules.period import PeriodRule
from loopcli.rules.saturation import SaturationConfig, SaturationRule
from loopcli.sweep.copies import Copies
from loopcli.sweep.sight import LEAST_CHARS, Eyes, NumpyCounter, Sight

# Words are counted in rows of a quarter of the window: narrow rows follow the
# window more closely, and each costs one more line of the table of counts.
_ROWS_IN_WINDOW = 4
_LEAST_ROW = 16
_KEYS = 256
# So few rows may as a whole have too few equal words for one window, which is
# known at once.
_FEW_ROWS = 16
# Odd numbers without a pattern: what they are decides only how often keys are shared.
_WIDTH = np.uint32(0x9E3779B1)
_FIRST, _LAST, _LENGTH = (np.uint8(odd) for odd in (7, 31, 77))


class Screen:
    """Parts texts into stretches that a saturation rule must look at, and those it need not."""

    def __init__(self, config: SaturationConfig, eyes: Eyes) -> None:
        self._eyes = eyes
        self._width = config.window_words
        self._over = config.repeat_threshold + 1
        self._breadth = config.min_offenders
        self.row = max(_LEAST_ROW, self._width // _ROWS_IN_WINDOW)
        # So many rows hold a window wherever it begins.
        self._reach = -(-(self._width - 1) // self.row) + 1

    def __call__(self, pending: str, text: str, first: bool) -> Sequence[Stretch] | None:
        """Return the stretches of ``text``, in order, or ``None`` if all of it must be looked at.

        ``pending`` is the unfinished word before it; ``first`` tells that no
        word was complete before. A stretch to be looked at goes on for at least
        one word after the last at which the window may be saturated.
        """
        if len(text) < LEAST_CHARS:
            return None
        sight = self._eyes(pending, text)
        if sight.sliced:
            return None
        rows = self.rows(sight)
        if not first:  # then what came before is not known
            unknown = range(min(-(-self._width // self.row), -(-len(sight.stops) // self.row)))
            rows = [*unknown, *(row for row in rows if row not in unknown)]
        return self._parts(sight, len(pending), rows)

    def rows(self, sight: Sight) -> list[int]:
        """Return the rows, of ``row`` words each, in which a saturated window may end."""
        keys = sight.seen[sight.starts[: len(sight.stops)] + 1] * _FIRST
        keys += sight.seen[sight.stops] * _LAST
        keys += sight.lengths.astype(np.uint8) * _LENGTH
        return self._crowded(keys)

    def doubtful(self, sight: Sight, begin: int, end: int) -> bool:
        """Tell whether enough of these words would offend, were they all in one window.

        Words are known by four of their characters here, which few share.
        """
        first, last = sight.starts[begin:end] + 1, sight.stops[begin:end]
        middle = (first + last) >> 1
        keys = sight.seen[first].astype(np.uint32)
        for place in (last, middle, np.minimum(first + 1, last)):
            keys = keys << np.uint32(8) | sight.seen[place]
        keys += sight.lengths[begin:end].astype(np.uint32) * _WIDTH
        counts = np.unique(keys, return_counts=True)[1]
        return int((counts // self._over).sum()) >= self._breadth

    def _crowded(self, keys: NDArray[np.uint8]) -> list[int]:
        """Return the rows in which a window may end that holds enough words that offend."""
        rows = -(-len(keys) // self.row)
        if rows <= _FEW_ROWS:
            total = np.bincount(keys, minlength=_KEYS) // self._over
            if total.sum() < self._breadth:
                return []
        places = np.arange(len(keys)) // self.row
        places *= _KEYS
        places += keys
        counts = np.bincount(places, minlength=rows * _KEYS).astype(np.int32).reshape(rows, _KEYS)
        sums = counts.copy()
        for back in range(1, min(self._reach, rows)):
            sums[back:] += counts[:-back]
        doubtful = (sums.max(axis=1, initial=0) >= self._over).nonzero()[0]
        # A key may stand for as many words as its count allows.
        crowded = (sums[doubtful] // self._over).sum(axis=1) >= self._breadth
        found: list[int] = doubtful[crowded].tolist()
        return found

    def _parts(self, sight: Sight, lead: int, rows: Sequence[int]) -> list[Stretch]:
        joined, starts, words = sight.joined, sight.starts, len(sight.stops)
        parts: list[Stretch] = []
        at = 0  # words in the parts so far
        edge = lead  # where they end in `joined`

        def quiet(until: int, end: int, pending: int) -> None:
            nonlocal at, edge
            stop = end - pending
            recent = joined[starts[max(0, until - self._width)] : stop] if until else ""
            parts.append(Stretch(end - edge, until - at, recent, joined[stop:end]))
            at, edge = until, end

        for begin, end in self._ranges(rows, words):
            if begin > at:
                quiet(begin, int(starts[begin]), 0)
            stop = int(starts[end]) if end < words else len(joined)
            parts.append(Stretch(stop - edge, None, "", ""))
            at, edge = end, stop
        if edge < len(joined):
            quiet(words, len(joined), sight.rest)
        return parts

    def _ranges(self, rows: Sequence[int], words: int) -> list[tuple[int, int]]:
        """Return the words to look at; between two ranges lies at least a window."""
        ranges: list[tuple[int, int]] = []
        for row in rows:
            begin, end = row * self.row, min((row + 1) * self.row + 1, words)
            if ranges and begin - ranges[-1][1] < self._width:
                ranges[-1] = ranges[-1][0], end
            else:
                ranges.append((begin, end))
        return ranges


def screened(armed: Sequence[Armed]) -> list[Armed]:
    """Return armed rules that make use of screens, those of them that can."""
    eyes = Eyes()
    return [arm._replace(make=_screened(arm, eyes)) for arm in armed]


def _screened(arm: Armed, eyes: Eyes) -> Callable[[], Rule]:
    rule = arm.make()
    if isinstance(rule, SaturationRule):
        return partial(
            SaturationRule, rule.config, past_trip=True, screen=Screen(rule.config, eyes)
        )
    if isinstance(rule, PeriodRule):
        config, copies = rule.config, Copies()
        return lambda: PeriodRule(config, past_trip=True, screen=copies, counter=NumpyCounter(eyes))
    return arm.make
