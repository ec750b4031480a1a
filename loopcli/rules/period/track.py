"""One stretch of copies: where it began, how far it has come, what it is worth.

The idea. Each character of a stretch equals the one ``distance`` before it. While
that holds, following it is one comparison of two slices, however much text came.
Where the copying breaks, ``mending`` may take it up again behind the damage; what
was copied before is then its ``credit``, less a price.

Invariants:

- All positions are absolute, and what happens at one depends on the characters
  before it alone. So the answer does not depend on how the text was cut.
- From ``clean_from`` to ``end`` each character equals the one ``distance`` before.
- ``copied``, the gauge, is what that clean zone holds and the ``credit`` of the
  zones before it.
- No verdict is older than ``found_at``, the character whose arrival showed this
  zone. A stretch that is found or mended late may have passed its ceiling long
  before; a stream cannot be cut where nobody knew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

# All in characters.
TRIES = (32, 48, 72, 104, 144)  # how far behind the damage the copying is looked for again
_DAMAGE = 16  # taken off for a damaged spot, besides a period
_DAMAGE_CAP = 1024  # the most that this period counts
_DAMAGE_SIGNS = 256  # the least for a unit without letters: padding and dividers are everywhere
_SOUND = (64, 256)  # copied before it is worth mending: a period, but not less, not more
_CHANCE = 6  # what is shorter is in some copy or other by chance
# Characters of a unit that a verdict holds; a reader knows it again by these.
_SHOWN = 200


class Track:
    """A stretch of copies; all positions are absolute, counted in characters.

    No data class, which would take longer to define than everything else here.
    """

    __slots__ = (
        "alive",
        "before",  # some characters in front of the first copy
        "broken",  # where the copying stopped, while it may still be taken up again, or -1
        "ceiling",  # 0 until the stretch is long enough to matter, like its kind
        "clean_from",  # first copied character since the last damage
        "cost",  # of a damaged spot, besides a period; 0 until somebody asks
        "credit",  # what was copied before that, less the price of the damage
        "distance",  # at which it is copied now: the period, give or take mended damage
        "end",  # behind the last character that was compared
        "expected",  # what should have stood where the last damage is
        "found_at",  # where this zone was found: no verdict can be older
        "kind",
        "onset",  # first character of the first copy
        "period",
        "shown",  # the unit as it was written, where its digits are masked
        "tries",
        "tripped",
        "unit",
    )

    def __init__(self, distance: int, onset: int, place: int, unit: str, before: str) -> None:
        self.period = self.distance = distance
        self.onset = onset
        self.clean_from = onset + distance
        self.end = self.found_at = place
        self.unit = unit
        self.before = before
        self.credit = self.ceiling = self.tries = self.cost = 0
        self.broken = -1
        self.kind = self.expected = self.shown = ""
        self.alive = True
        self.tripped = False

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Self:
        """Return the track that ``snapshot`` wrote."""
        track = cls(0, 0, 0, "", "")
        for name in cls.__slots__:
            setattr(track, name, state[name])
        return track

    @property
    def copied(self) -> int:
        """Characters that repeat what stood one period before, damage deducted."""
        return self.credit + self.end - self.clean_from

    def due(self, least: int) -> int:
        """The position at which it may be taken up again, or reach its ceiling."""
        if self.broken >= 0:
            return self.broken + TRIES[self.tries]
        return self.clean_from + (self.ceiling or least) - self.credit

    @property
    def sound(self) -> bool:
        """Whether the stretch is long enough to be worth mending."""
        return self.copied >= min(max(self.period, _SOUND[0]), _SOUND[1])

    @property
    def price(self) -> int:
        """What a damaged spot costs."""
        if not self.cost:
            # Between two signs of equal padding there is often one odd cell. A unit
            # without letters has to pay for more than the spot.
            words = any(map(str.isalpha, self.unit))
            self.cost = _DAMAGE if words else max(_DAMAGE_SIGNS - self.period, 1)
        return self.cost + min(self.period, _DAMAGE_CAP)


class Hit(NamedTuple):
    """A stretch that reached its ceiling: where, and what its period was there.

    The track itself goes on to the end of what has arrived, and may change its period.
    """

    chars: int
    period: int
    track: Track


def copied_ahead(text: str, start: int, distance: int, stop: int) -> int:
    """How many characters from ``start`` on, before ``stop``, equal those ``distance`` before them.

    Slices that grow while they agree, then bisection: a few comparisons in C for a
    stretch of any length, and hardly any where the first characters differ.

    >>> copied_ahead("xababac", 3, 2, 7)
    3
    """
    low, step = start, 64
    while low < stop:
        high = min(low + step, stop)
        if text[low:high] == text[low - distance : high - distance]:
            low, step = high, step * 8
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if text[low:middle] == text[low - distance : middle - distance]:
                low = middle
            else:
                high = middle
        break
    return low - start


def copied_behind(text: str, stop: int, distance: int, floor: int) -> int:
    """How many characters before ``stop``, down to ``floor``, equal those ``distance`` before.

    >>> copied_behind("xababac", 6, 2, 2)
    3
    """
    high, step = stop, 64
    while high > floor:
        low = max(high - step, floor)
        if text[low:high] == text[low - distance : high - distance]:
            high, step = low, step * 8
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if text[middle:high] == text[middle - distance : high - distance]:
                high = middle
            else:
                low = middle
        break
    return stop - high


def goes_on(track: Track, copies: str, rest: str) -> bool:
    """Whether a text that ends in ``rest`` has gone on with something else behind ``copies``.

    Blanks and end marks are nothing else. While a broken stretch may still be taken up, what
    came is something else unless at least half of it is a copy again.
    """
    from loopcli.rules.period.kinds import without_marks

    rest = without_marks(rest)
    if track.alive and track.broken >= 0 and len(rest) >= _CHANCE:
        return rest[len(rest) // 2 :] not in copies
    return bool(rest)


def readable(unit: str) -> str:
    """Return a unit as it is best read: from the beginning of a line, or else of a word.

    A period has no first character; the stretch may have begun anywhere in it.
    """
    start = _beginning(unit)
    return shortened(unit[start:] + unit[:start])


def line_within(copies: str, period: int) -> str:
    """Return the ``period`` characters of two copies that are best read, as they stand there.

    >>> line_within("9\\nCase 10\\nCase 1", 8)
    'Case 10\\n'
    """
    start = _beginning(copies[:period])
    return copies[start : start + period]


def _beginning(unit: str) -> int:
    """Return where the first line of a unit begins, or else its first word."""
    for mark in ("\n", " "):
        if mark in unit:
            return 0 if unit.endswith(mark) else unit.index(mark) + 1
    return 0


def shortened(unit: str) -> str:
    """Return the part of a unit that a verdict holds."""
    return unit if len(unit) <= _SHOWN else unit[: _SHOWN - 1] + "…"
