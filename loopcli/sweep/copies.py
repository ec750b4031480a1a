"""At which places of a text the period rule may find that something stood there before.

The rule looks, every few hundred characters, for the last few in the text just
before. Here the last 32 characters are one number of 16 bits, in which all digits
are alike: where that number did not occur before, neither did what it stands for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loopcli.rules._probes import COUNTERS, COVER, FAR, NEAR, SHORT, Probe
from loopcli.rules._screening import Places
from loopcli.sweep.sight import Bytes, one_byte_each
from loopcli.sweep.tokens import Ints

Grams = NDArray[np.uint16]

GRID = FAR.grid
# In front of a text there must be so much that no search leaves the array.
LEAD = -(-FAR.reach // GRID) * GRID
_GRAM = 32  # characters; no needle is shorter
# Odd numbers without a pattern: what they are decides only how often grams that
# differ share a number. Each doubles the characters that one stands for.
_STEPS = ((1, 0x9E35), (2, 0x85E9), (4, 0xC2B1), (8, 0x27D5), (16, 0x1655))
_ZERO = np.uint8(ord("0"))
# Below this many characters at once the fixed cost of the arrays does not pay.
_LEAST_CHARS = 16 * 1024
assert min(NEAR.needle, FAR.needle, COUNTERS.needle) >= _GRAM


def grams(seen: Bytes) -> Grams:
    """Return a number for each 32 characters, at the first of them."""
    digit = seen - _ZERO
    digit *= (digit < 10).view(np.uint8)
    found = (seen - digit).astype(np.uint16)
    for width, odd in _STEPS:
        wider = found[:-width] * np.uint16(odd)
        wider += found[width:]
        found = wider
    return found


def search(numbers: Grams) -> tuple[Ints, Ints, Ints]:
    """Return the rows of the near, the far and the counters' search that may find enough.

    Row 0 is the first place, a grid's width behind ``LEAD``, where the text begins.
    """
    near, far = _alike(numbers, NEAR), _alike(numbers, FAR)
    return _open(numbers, NEAR, near), _open(numbers, FAR, far), _open(numbers, COUNTERS, far)


def _alike(numbers: Grams, probe: Probe) -> Ints:
    """Return the rows whose last gram occurred before."""
    last, before = _windows(numbers, probe, _GRAM)
    found: Ints = (before == last).any(axis=1).nonzero()[0]
    return found


def _open(numbers: Grams, probe: Probe, rows: Ints) -> Ints:
    """Return those of ``rows`` where so much may be copied that the distance would be followed."""
    if not len(rows):
        return rows
    last, before = _windows(numbers, probe, _GRAM)
    alike = before[rows] == last[rows]
    long = slice(probe.reach - SHORT), max(probe.needle, COVER)
    short = slice(probe.reach - SHORT, None), probe.needle
    for columns, back in (long, short):
        first, earlier = _windows(numbers, probe, back)
        alike[:, columns] &= earlier[rows, columns] == first[rows]
    found: Ints = rows[alike.any(axis=1)]
    return found


def _windows(numbers: Grams, probe: Probe, back: int) -> tuple[Grams, Grams]:
    """Return, for each place, the gram that begins ``back`` before it, and those within reach."""
    at = LEAD + probe.grid - back
    rows = max(0, (len(numbers) - 1 + _GRAM - LEAD) // probe.grid)
    if not rows:
        return numbers[:0, None], numbers[:0, None]
    # Views, a row for each place; numpy's own as_strided takes five times as long.
    size = numbers.itemsize
    gram, within = (
        np.ndarray((rows, width), numbers.dtype, numbers, begin * size, (probe.grid * size, size))
        for begin, width in ((at, 1), (at - probe.reach, probe.reach))
    )
    return gram, within


class Copies:
    """Finds the places of one text after another, whatever was cut where."""

    def __call__(self, behind: str, text: str, at: int) -> Places | None:
        """Return the places in ``text``, which stands at ``at``; ``behind`` comes before it."""
        if len(text) < _LEAST_CHARS:
            return None
        begin = at - at % GRID  # place 0 of the array
        missing = LEAD + at - begin - len(behind)
        joined = " " * missing + behind[max(-missing, 0) :] + text
        found = search(grams(one_byte_each(joined)))
        near, far, counters = (
            frozenset((begin + (rows + 1) * probe.grid).tolist())
            for rows, probe in zip(found, (NEAR, FAR, COUNTERS), strict=True)
        )
        return Places(near | far, counters)
