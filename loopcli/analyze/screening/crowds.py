"""Where a window may hold enough words that offend, told from two bytes a word.

Equal words have equal keys; where too few keys are frequent no word is. Different
words may share a key, so one that is frequent enough for two counts as two.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from loopcli.analyze.screening.sight import Sight
from loopcli.analyze.sweep.tokens import Ints

Keys = NDArray[np.uint16]

# Odd numbers without a pattern: what they are decides only how often keys are shared.
_FIRST, _MIDDLE, _LAST, _LENGTH = map(np.uint16, (0x9E35, 0x85E9, 0xC2B1, 0x27D5))


def word_keys(sight: Sight) -> Keys:
    """Return a number for each complete word, of its length and three of its characters."""
    last = sight.stops  # one later in what is seen, which begins with a blank
    first = sight.starts[: len(last)] + 1
    keys = sight.lengths.astype(np.uint16)
    keys *= _LENGTH
    for odd, place in ((_FIRST, first), (_MIDDLE, (first + last) >> 1), (_LAST, last)):
        keys += sight.seen.take(place) * odd
    return keys


def crowds(keys: Keys, places: Ints, width: int, over: int, breadth: int) -> list[tuple[int, int]]:
    """Return the ranges of places at which ``breadth`` words may offend.

    A word offends where ``over`` of the last ``width`` places hold it. ``places``
    ascend; between texts that have nothing to do with each other they leave a gap of
    ``width``. Ranges are half open and ascend; the last may end behind the last place.
    """
    if not len(keys):
        return []
    width = min(width, int(places[-1] - places[0]) + 1)  # a wider window holds no more
    # One number for a key and a place: sorted, equal keys stand together, in order.
    order: NDArray[np.unsignedinteger]
    if places[-1] + width < 1 << 16:
        shift = 16  # half as wide, which is sorted in two thirds of the time
        order = keys.astype(np.uint32) << np.uint32(shift) | places.astype(np.uint32)
    else:
        shift = 32
        order = keys.astype(np.uint64) << np.uint64(shift) | places.astype(np.uint64)
    order.sort()
    offences: list[tuple[int, int]] = []  # a place, and how many more offend from there on
    for among in range(over, width + 1, over):
        found = _offences(order, shift, width, among - 1)
        if not found:
            break
        offences += found
    return _deep(offences, breadth) if len(offences) >= 2 * breadth else []


def _offences(
    order: NDArray[np.unsignedinteger], shift: int, width: int, near: int
) -> list[tuple[int, int]]:
    """Return where a key begins (+1) and ceases (-1) to occur ``near`` times before it comes."""
    # Of different keys the numbers are farther apart.
    hits = (order[near:] - order[: max(0, len(order) - near)] < width).nonzero()[0]
    if not len(hits):
        return []
    mask = (1 << shift) - 1
    begins = (order[hits + near] & mask).astype(np.int64)
    ends = (order[hits] & mask).astype(np.int64) + width
    key = order[hits] >> shift
    # While one stretch lasts the next only prolongs it.
    anew = np.append(True, (key[1:] != key[:-1]) | (begins[1:] > ends[:-1])).nonzero()[0]
    lasts = np.append(anew[1:] - 1, len(hits) - 1)
    return [
        *((place, 1) for place in begins[anew].tolist()),
        *((place, -1) for place in ends[lasts].tolist()),
    ]


def _deep(offences: list[tuple[int, int]], breadth: int) -> list[tuple[int, int]]:
    """Return where at least ``breadth`` offend at once."""
    offences.sort()
    ranges: list[tuple[int, int]] = []
    depth = 0
    for (place, change), (until, _) in pairwise(offences):
        depth += change
        if depth < breadth or place == until:
            continue
        if ranges and ranges[-1][1] == place:
            ranges[-1] = ranges[-1][0], until
        else:
            ranges.append((place, until))
    return ranges
