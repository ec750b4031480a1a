"""At which places of a text the period rule may find that something stood there before.

The rule looks, every few hundred characters, for the last few in the text just
before. Here the last 32 characters are one number of 16 bits, in which all digits
are alike: where that number did not occur before, neither did those characters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loopcli.analyze.screening.sight import Bytes, one_byte_each
from loopcli.analyze.sweep.tokens import Ints
from loopcli.rules.period.probes import COUNTERS, COVER, FAR, NEAR, SHORT, GramProbe
from loopcli.rules.screening import Places

Grams = NDArray[np.uint16]

GRID = FAR.grid
# In front of a text there must be so much that no search leaves the array.
LEAD = -(-FAR.reach // GRID) * GRID
_GRAM = 32  # characters; no needle is shorter
# How far apart the parts are that a step puts together: eight characters of the 32
# are looked at. Of the odd numbers only how often grams that differ share a number
# depends, so they have no pattern.
_STEPS = ((5, 0x9E35), (9, 0x85E9), (17, 0xC2B1))
_ZERO, _DIGITS = np.uint8(ord("0")), np.uint8(10)
assert 1 + sum(width for width, _ in _STEPS) == _GRAM
# Below this many characters at once the fixed cost of the arrays does not pay.
_LEAST_CHARS = 16 * 1024
# A place has a few earlier ones like it. Where they are so many, as in a run of
# blanks, to look at each would cost more than to search.
_MOST_PAIRS = 16
assert min(NEAR.needle, FAR.needle, COUNTERS.needle) >= _GRAM
assert max(NEAR.needle, FAR.needle, COUNTERS.needle) <= COVER
# The counters' search is a part of the far one.
assert COUNTERS.grid == FAR.grid
assert COUNTERS.reach <= FAR.reach


def grams(seen: Bytes) -> Grams:
    """Return a number for each 32 characters, at the first of them."""
    sign = seen - _ZERO
    sign *= (sign >= _DIGITS).view(np.uint8)
    found = sign.astype(np.uint16)
    for width, odd in _STEPS:
        wider = found[:-width] * np.uint16(odd)
        wider += found[width:]
        found = wider
    return found


def search(numbers: Grams) -> tuple[Ints, Ints, Ints]:
    """Return the places at which the near, the far and the counters' search may find enough.

    The text begins at ``LEAD``.
    """
    near, near_dists = _alike(numbers, NEAR)
    far, far_dists = _alike(numbers, FAR)
    within = far_dists <= COUNTERS.reach
    places = np.concatenate((near, far, far[within]))
    dists = np.concatenate((near_dists, far_dists, far_dists[within]))
    first, second = len(near), len(near) + len(far)
    copied = np.full(len(places), NEAR.needle)
    copied[first:second] = FAR.needle
    copied[second:] = COUNTERS.needle
    copied[dists > SHORT] = COVER  # so much has to be copied
    enough = np.ones(len(places), np.bool_)
    for back in range(2 * _GRAM, COVER + 1, _GRAM):
        at = places - back
        enough &= (numbers[at] == numbers[at - dists]) | (copied < back)
    near, far, counters = (
        places[part][enough[part]]
        for part in (slice(first), slice(first, second), slice(second, None))
    )
    return near, far, counters


def _alike(numbers: Grams, probe: GramProbe) -> tuple[Ints, Ints]:
    """Return the places whose last gram occurred before, and how far; 0 if all too often."""
    rows = max(0, (len(numbers) - 1 + _GRAM - LEAD) // probe.grid)
    size, reach, first = numbers.itemsize, probe.reach, LEAD + probe.grid - _GRAM
    step = probe.grid * size, size
    # Views, a row for each place; numpy's own as_strided takes five times as long.
    last, before = (
        np.ndarray((rows, width), numbers.dtype, numbers, at * size, step)
        if rows
        else numbers[:0, None]
        for at, width in ((first, 1), (first - reach, reach))
    )
    alike = before == last
    some = alike.any(axis=1).nonzero()[0]
    # Of one dimension, which is several times as fast.
    pairs = alike[some].reshape(-1).nonzero()[0]
    places = LEAD + (some + 1) * probe.grid
    if len(pairs) > _MOST_PAIRS * rows:
        return places, np.zeros_like(places)
    return places[pairs // reach], reach - pairs % reach


class Copies:
    """Finds the places of one text after another, whatever was cut where."""

    def __call__(self, behind: str, text: str, at: int) -> Places | None:
        """Return the places in ``text``, which stands at ``at``; ``behind`` comes before it."""
        if len(text) < _LEAST_CHARS:
            return None
        begin = at - at % GRID  # place 0 of the array
        missing = LEAD + at - begin - len(behind)
        joined = " " * missing + behind[max(-missing, 0) :] + text
        near, far, counters = search(grams(one_byte_each(joined)))
        # Among the first are some of places before the text.
        shift = begin - LEAD
        exact = np.concatenate((near, far)) + shift
        return Places(set(exact.tolist()), set((counters + shift).tolist()))
