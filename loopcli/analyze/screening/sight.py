"""What numpy sees of a text: a byte for each character, and where its words lie.

Equal characters have equal bytes; that different ones may share a byte, too, is
what everything that looks at these bytes has to allow for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loopcli.analyze.sweep.tokens import (
    IS_WHITE_SPACE,
    SLICE_CHARS,
    Ints,
    blanks,
    code_points,
    sliced,
)
from loopcli.events import SharedWords
from loopcli.words import WordCounter

Bytes = NDArray[np.uint8]

# The C library gives freed memory back to the system beyond a limit that follows
# the largest block freed so far, and gets it again, page by page, for the next
# arrays: an eighth of the time of many short replies.
np.empty(16 << 20, np.uint8)
# Below this many characters at once numpy costs more than it saves.
LEAST_CHARS = 2048
_BLANK = 32
_WIDE = 128  # from here on a byte stands for what is not ASCII


class Sight(NamedTuple):
    """Where the words of ``pending + text`` lie; ``stops`` and ``lengths`` of the complete ones."""

    joined: str
    seen: Bytes  # of a blank, and then of `joined`
    starts: Ints
    stops: Ints
    lengths: Ints
    rest: int  # characters of the unfinished word at the end


class Eyes:
    """Looks at texts, and remembers the last: rules look at the same one after another."""

    def __init__(self) -> None:
        self._asked: tuple[str, str] | None = None
        self._last: Sight | None = None

    def __call__(self, pending: str, text: str) -> Sight:
        """Return what there is to see of ``text`` behind an unfinished word."""
        asked = self._asked
        if self._last is None or asked is None or asked[1] is not text or asked[0] != pending:
            self._asked, self._last = (pending, text), sight_of(pending + text)
        return self._last


class NumpyCounter(WordCounter):
    """Counts the same words without making any."""

    __slots__ = ("_eyes",)

    def __init__(self, eyes: Eyes) -> None:
        super().__init__()
        self._eyes = eyes

    def feed(self, text: str, shared: SharedWords | None = None) -> None:
        """Count on; ``shared`` belongs to the event that brought the text."""
        if len(text) < LEAST_CHARS:
            super().feed(text, shared)
            return
        sight = self._eyes(self._splitter.pending, text)
        self.total += len(sight.stops)
        self._splitter.pending = sight.joined[len(sight.joined) - sight.rest :]


def one_byte_each(text: str) -> Bytes:
    """Return a byte for each character; only whitespace has the bytes of whitespace."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    codes = code_points(text)
    seen = codes.astype(np.uint8)
    wide = (codes >= _WIDE).nonzero()[0]
    others = codes[wide]
    white = IS_WHITE_SPACE.take(others, mode="clip")
    seen[wide] = np.where(white, _BLANK, (others ^ others >> 7) | _WIDE)
    return seen


def sight_of(joined: str) -> Sight:
    """Return where the words of a text lie."""
    seen, size = one_byte_each(" " + joined), len(joined)
    blank = blanks(seen)
    turns = (blank[1:] != blank[:-1]).nonzero()[0]  # in `joined`, which begins one later
    starts, stops = turns[0::2], turns[1::2]
    rest = size - int(starts[-1]) if len(starts) > len(stops) else 0
    lengths = stops - starts[: len(stops)]
    if max(int(lengths.max(initial=0)), rest) >= SLICE_CHARS:
        ends = np.append(stops, size) if rest else stops
        starts, stops, _ = sliced(starts, ends, np.array([size]))
        rest %= SLICE_CHARS
        lengths = stops - starts
        starts = np.append(starts, size - rest) if rest else starts
    return Sight(joined, seen, starts, stops, lengths, rest)
