"""Which stretches of a text cannot leave a window saturated, found without making its words.

Where no window may be crowded (``crowds``) nothing else need be known of a
stretch but how many words it has. In ordinary text that is nearly all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from loopcli.analyze.screening.copies import Copies
from loopcli.analyze.screening.crowds import Keys, crowds, word_keys
from loopcli.analyze.screening.sight import LEAST_CHARS, Eyes, NumpyCounter, Sight
from loopcli.rules.base import Armed, Rule
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.rules.screening import Stretch
from loopcli.words import Splitter

_NO_KEYS: Keys = np.zeros(0, np.uint16)


class Screen:
    """Parts one text that arrives in pieces into what a saturation rule must look at, and the rest.

    It has to see every piece, in order.
    """

    def __init__(self, config: SaturationConfig, eyes: Eyes) -> None:
        self._eyes = eyes
        self._width = config.window_words
        self._over = config.repeat_threshold + 1
        self._breadth = config.min_offenders
        # The words that the window holds; None while one of them is not known.
        self._keys: Keys | None = None
        self._recent = ""

    def __call__(self, pending: str, text: str, first: bool) -> Sequence[Stretch] | None:
        """Return the stretches of ``text``, in order, or ``None`` if all of it must be looked at.

        ``pending`` is the unfinished word before it; ``first`` tells that no
        word was complete before. A stretch to be looked at goes on for at least
        one word after the last at which the window may be saturated.
        """
        if first:
            self._keys, self._recent = _NO_KEYS, ""
        if len(text) < LEAST_CHARS:
            self._keys = None
            return None
        sight = self._eyes(pending, text)
        parts = self._parts(sight, len(pending), self._ranges(word_keys(sight)))
        self._recent = self._behind(sight, len(sight.stops), len(sight.joined) - sight.rest)
        return parts

    def _ranges(self, keys: Keys) -> list[tuple[int, int]]:
        """Return the words to look at; between two ranges lies at least a window."""
        known, width, words = self._keys, self._width, len(keys)
        found = [(0, min(width, words))] if known is None and words else []
        before = 0 if known is None else len(known)
        keys = keys if known is None else np.concatenate((known, keys))
        if known is not None or words >= width:
            self._keys = keys[-width:]
        ranges: list[tuple[int, int]] = []
        places = np.arange(len(keys))
        for begin, end in found + crowds(keys, places, width, self._over, self._breadth):
            # The word at which the window is saturated no more is looked at, too.
            begin, end = max(begin - before, 0), min(end + 1 - before, words)
            if end <= 0:
                continue
            if ranges and begin - ranges[-1][1] < width:
                ranges[-1] = ranges[-1][0], max(end, ranges[-1][1])
            else:
                ranges.append((begin, end))
        return ranges

    def _parts(self, sight: Sight, lead: int, ranges: Sequence[tuple[int, int]]) -> list[Stretch]:
        joined, starts, words = sight.joined, sight.starts, len(sight.stops)
        parts: list[Stretch] = []
        at = 0  # words in the parts so far
        edge = lead  # where they end in `joined`

        def quiet(until: int, end: int, pending: int) -> None:
            nonlocal at, edge
            stop = end - pending
            recent = self._behind(sight, until, stop)
            parts.append(Stretch(end - edge, until - at, recent, joined[stop:end]))
            at, edge = until, end

        for begin, end in ranges:
            if begin > at:
                quiet(begin, int(starts[begin]), 0)
            stop = int(starts[end]) if end < words else len(joined)
            parts.append(Stretch(stop - edge, None, "", ""))
            at, edge = end, stop
        if edge < len(joined):
            quiet(words, len(joined), sight.rest)
        return parts

    def _behind(self, sight: Sight, until: int, stop: int) -> str:
        """Return the words that the window holds after ``until``, which end before ``stop``."""
        missing = self._width - until
        if missing <= 0:
            return sight.joined[sight.starts[until - self._width] : stop]
        words = Splitter().words(self._recent)
        return " ".join([*words[-missing:], sight.joined[:stop]])


def screened(armed: Sequence[Armed]) -> list[Armed]:
    """Return armed rules that make use of screens, those of them that can."""
    eyes = Eyes()
    return [arm._replace(make=_screened(arm, eyes)) for arm in armed]


def _screened(arm: Armed, eyes: Eyes) -> Callable[[], Rule]:
    rule = arm.make()
    if isinstance(rule, SaturationRule):
        config = rule.config
        return lambda: SaturationRule(config, past_trip=True, screen=Screen(config, eyes))
    if isinstance(rule, PeriodRule):
        knobs, copies = rule.config, Copies()
        return lambda: PeriodRule(knobs, past_trip=True, screen=copies, counter=NumpyCounter(eyes))
    return arm.make
