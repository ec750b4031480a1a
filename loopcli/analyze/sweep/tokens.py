"""One tokenisation of a transcript: words as the saturation rule counts them, as numpy columns.

A word is a maximal stretch without Unicode White_Space, cut after every 128 characters
(gg.md 1.1).  It counts once it is complete: with the whitespace character that ends it, or with
its 128th character.  What is pending at the end of the text was never completed and is left out.

Positions are characters (code points).  A *count* of characters includes the last one read, so
the word ``ab`` in ``"ab "`` starts at index 0 and completes when 3 characters have been read.

No word becomes a Python object: a vocabulary of strings costs four times as much, most of it
waiting for memory.  Words are known by a 64-bit hash, as in the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]

# The C library gives freed memory back to the system beyond a limit that follows the largest
# block freed so far, and gets it again, page by page, for the next arrays.
np.empty(16 << 20, np.uint8)

SLICE_CHARS = 128
"""A run without whitespace is flushed when it reaches this many characters."""

CHUNK_CHARS = 1 << 16
"""Characters tokenised together: few enough that every column stays in the cache."""

_WHITE_SPACE = [*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
_WHITE_SPACE += [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
IS_WHITE_SPACE = np.zeros(0x3002, np.bool_)  # the last entry stands for every higher code point
IS_WHITE_SPACE[_WHITE_SPACE] = True

# The hash of a word c[0]..c[n-1] is mix * (c[0] + c[1] * base + ... ) + n * length, modulo 2**64,
# with arbitrary odd constants.  As base is 3 modulo 8, base**k - 1 has few factors of 2 for the k
# below 128; were it many, exchanging two characters could leave the hash as it is.
_BASE, _MIX, _LENGTH = 0x9E3779B97F4A7C1B, 0xD6E8FEB86659FD93, np.uint64(0xA24BAED4963EE407)
_POWERS = np.full(CHUNK_CHARS, _BASE, np.uint64)
_INVERSES = np.full(CHUNK_CHARS, pow(_BASE, -1, 1 << 64), np.uint64)
_POWERS[0], _INVERSES[0] = 1, _MIX
_POWERS, _INVERSES = np.multiply.accumulate(_POWERS), np.multiply.accumulate(_INVERSES)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The completed words of one transcript, in order; all columns have one entry a word.

    ids: equal numbers for equal words.
    starts: index of the word's first character.
    ends: characters read when the word completed (strictly increasing).
    chars: characters in the transcript, trailing whitespace and pending word included.
    """

    ids: Hashes
    starts: Ints
    ends: Ints
    chars: int

    @property
    def words(self) -> int:
        """Number of completed words."""
        return len(self.ids)

    def words_at(self, chars: int) -> int:
        """Words that are complete once `chars` characters have been read."""
        return int(self.ends.searchsorted(chars, "right"))


def tokenise(text: str) -> Tokens:
    """Tokenise one transcript.

    >>> tokens = tokenise("void 0;\\nvoid 0; and")
    >>> tokens.starts.tolist(), tokens.ends.tolist(), tokens.chars
    ([0, 5, 8, 13], [5, 8, 13, 16], 19)
    >>> (tokens.ids[:2] == tokens.ids[2:]).tolist()
    [True, True]
    """
    return next(tokenise_all([text]))


def tokenise_all(texts: Iterable[str]) -> Iterator[Tokens]:
    """Tokenise many transcripts, in their order; short ones share the cost of the numpy calls."""
    chunk: list[str] = []
    used = 1  # a blank before the first text, and one behind each
    for text in texts:
        if used + len(text) + 1 > CHUNK_CHARS:
            yield from _tokenise_chunk(chunk)
            chunk, used = [], 1
        if len(text) + 2 > CHUNK_CHARS:
            yield _tokenise_long(text)
        else:
            chunk.append(text)
            used += len(text) + 1
    yield from _tokenise_chunk(chunk)


def _tokenise_long(text: str) -> Tokens:
    """Tokenise a text of any length in pieces, each beginning where the last whole word ended."""
    parts: list[Tokens] = []
    at, size = 0, CHUNK_CHARS - 2
    while True:
        (part,) = _tokenise_chunk([text[at : at + size]])
        parts.append(Tokens(part.ids, part.starts + at, part.ends + at, 0))
        if at + size >= len(text):
            columns = zip(*((part.ids, part.starts, part.ends) for part in parts), strict=True)
            ids, starts, ends = (np.concatenate(column) for column in columns)
            return Tokens(ids, starts, ends, len(text))
        # A piece without a word is blank, but for a pending stretch shorter than a slice.
        at += int(part.ends[-1]) if part.words else size - SLICE_CHARS + 1


def _tokenise_chunk(texts: list[str]) -> list[Tokens]:
    """Tokenise texts that together, with blanks around them, have at most CHUNK_CHARS."""
    joined = " ".join(["", *texts, ""])
    codes = code_points(joined)
    blank = blanks(codes)
    turns = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    sizes = np.array([len(text) for text in texts], np.int64)
    stops = np.cumsum(sizes + 1)  # of the texts, in `joined`
    starts, last, ends = sliced(turns[0::2], turns[1::2], stops)
    ids = _hashes(codes, starts, last)
    cuts = [0, *np.searchsorted(starts, stops).tolist()]
    return [
        Tokens(ids[a:b], starts[a:b] - begin, ends[a:b] - begin, size)
        for (a, b), begin, size in zip(
            pairwise(cuts), (stops - sizes).tolist(), sizes.tolist(), strict=True
        )
    ]


def code_points(text: str) -> Codes:
    """The characters of a text as numbers, in as few bytes each as hold them all."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):  # else some of them take two numbers
        return np.frombuffer(data, np.dtype("<u2"))
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))


def blanks(codes: Codes) -> Flags:
    """Which code points are Unicode White_Space."""
    blank: Flags = codes - codes.dtype.type(9) < 5  # unsigned: what is below 9 wraps around
    blank |= codes == 32
    if codes.itemsize == 1:
        return blank
    wide = np.flatnonzero(codes > 127)
    blank[wide] = IS_WHITE_SPACE.take(codes[wide], mode="clip")
    return blank


def sliced(starts: Ints, stops: Ints, text_stops: Ints) -> tuple[Ints, Ints, Ints]:
    """Turn stretches [start, stop) without whitespace into words.

    Stretches are cut into slices, and what is pending at the end of a text is dropped.  Returns
    starts, stops and ends: where the word ends, and what was read when it completed.
    """
    at = stops.searchsorted(text_stops)
    at = at[at < len(stops)]
    pending = at[stops[at] == text_stops[: len(at)]]  # no whitespace follows: full slices only
    lengths = stops - starts
    if lengths.max(initial=0) < SLICE_CHARS:  # the usual case, for a third of the cost
        whole = np.ones(len(stops), np.bool_)
        whole[pending] = False
        starts, stops = starts[whole], stops[whole]
        return starts, stops, stops + 1
    slices = -(-lengths // SLICE_CHARS)
    slices[pending] = lengths[pending] // SLICE_CHARS
    before = np.repeat(np.cumsum(slices) - slices, slices)
    first = np.repeat(starts, slices) + SLICE_CHARS * (np.arange(len(before)) - before)
    stops = np.repeat(stops, slices)
    full = first + SLICE_CHARS
    # A full slice completes with its 128th character, a shorter one with the whitespace behind it.
    return first, np.minimum(full, stops), np.minimum(full, stops + 1)


def _hashes(codes: Codes, starts: Ints, stops: Ints) -> Hashes:
    """Hashes of codes[start:stop], from one running sum over the whole chunk."""
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum(np.multiply(codes, _POWERS[: len(codes)], dtype=np.uint64), out=sums[1:])
    hashes = (sums[stops] - sums[starts]) * _INVERSES[starts]
    hashes += (stops - starts).astype(np.uint64) * _LENGTH
    return hashes
