"""Where the period rule looks for what stood there before, and what it makes of a hit.

A probe is a place, a needle (the last characters before it) and a reach. The
needle has to be short, because a unit must hold it before it is found, and long
enough not to recur by chance. The grid may be coarse: the copying is followed
back to where it began, so a finer one finds the same stretches, only sooner.

What each part is for, and what breaks without it (``tests/rules/test_ablation.py``
holds the list):

- Two probes: ``NEAR`` finds a short unit before it has been copied far, ``FAR`` a
  unit of up to 4,096 characters. Each alone is late, or blind. Ordinary text pays
  for them alone: 544 characters of ``rfind`` every 256, and 4,224 every 1,024.
- ``COUNTERS`` does the same in the masked text, where any two numbers are equal:
  its needle is long enough to hold words, too.
- ``worth_following``: a few dozen characters recur in any text by chance. Without
  it ordinary code is compared ten times as often.
- ``distances``: ``rfind`` gives the nearest copy, and that may be the wrong one.
  Where the unit holds a run (a divider, a refrain) that is longer than the needle,
  every probe that falls into it hits inside the run, at the run's own distance.
  So it looks again, with a needle across the place where the shorter copying
  began: what precedes the run tells its copies apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loopcli.rules.period.config import REACH
from loopcli.rules.period.track import copied_behind

# In characters.
SHORT = 64  # units up to here are counted before a probe, and mended behind it
COVER = 128  # a longer one must be copied so far; a live stretch of this length needs no probe
NOTABLE = 3  # a peak is kept from this part of the lowest ceiling on
_LEVELS = 3  # a run inside a row inside a block
_DENSE = (256, 128)  # a short unit must cover so much of the text before the probe
# Of bytes: a str.translate takes six times as long.
_MASK = bytes.maketrans(b"123456789", b"000000000")


class GramProbe(NamedTuple):
    """Where to look: every ``grid`` characters, for the last ``needle``, up to ``reach`` back."""

    grid: int
    needle: int
    reach: int


# Where to look. A loop of short units is found early only if it is looked for
# often; long ones have time. A grid finer than this costs more and finds the
# same, because the copying is followed back to where it began.
NEAR = GramProbe(grid=256, needle=32, reach=512)
FAR = GramProbe(grid=1024, needle=128, reach=REACH)
COUNTERS = GramProbe(grid=1024, needle=96, reach=1024)


def distances(
    text: str, at: int, dist: int, size: int, reach: int, floor: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield the distance of a hit and the longer ones it may be a part of; where each begins.

    The nearest copy of the needle can be a run or a sentence that the real unit holds twice.
    So the search is repeated with a needle around the place where the shorter copying begins.
    """
    lead = size // 4
    for _ in range(_LEVELS):
        start = at - copied_behind(text, at, dist, floor + dist)
        yield dist, start
        edge = start - dist - 1
        head = edge - lead
        if head < floor:
            return
        needle = text[head : min(at, head + size)]
        copy = text.rfind(needle, max(floor, head - reach), head + len(needle) - 1)
        if copy < 0 or text[edge:at] != text[edge - head + copy : at - head + copy]:
            return
        dist = head - copy


def worth_following(text: str, at: int, dist: int) -> bool:
    """Return whether so much is copied at a distance that it is worth to be followed."""
    if dist > SHORT:
        return at >= COVER + dist and text[at - COVER : at] == text[at - COVER - dist : at - dist]
    window, dense = _DENSE
    return text.count(text[at - dist : at], max(at - window, 0), at) * dist >= dense


def masked(text: str) -> str:
    """Return a text with every digit written as 0."""
    return text.encode("utf-8", "surrogatepass").translate(_MASK).decode("utf-8", "surrogatepass")
