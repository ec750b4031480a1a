"""One stretch of copies, and how it is carried over a damaged spot.

A loop of a language model is not always exact: a word is misspelt, a copy loses
a comma. Such a spot costs the stretch a period and a little, and the copying
goes on behind it. The price is a whole period, so that texts made from a
template, which differ in every copy, never gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

# All in characters.
TRIES = (32, 48, 72, 104, 144)  # how far behind the damage the copying is looked for again
_SLACK = 16  # what a damaged spot may hold, lose or gain: an odd word or two
_AGREE = 24  # what must agree again before a stretch is taken up
_DAMAGE = 16  # taken off for a damaged spot, besides a period
_DAMAGE_CAP = 1024  # the most that this period counts
_DAMAGE_SIGNS = 256  # the least for a unit without letters: padding and rules are everywhere
_SOUND = (64, 256)  # copied before it is worth mending: a period, but not less, not more
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_TOLD = 6  # what is shorter is in some copy or other by chance
_BEHIND = 2048  # how far a damaged stretch is followed back when it is found
# Characters of a unit that a verdict holds; a reader knows it again by these.
_SHOWN = 200


class Track:
    """A stretch of copies; all positions are absolute, counted in characters.

    No data class, which would take longer to define than everything else here.
    """

    __slots__ = (
        "alive",
        "before",  # some characters in front of the first copy
        "broken",  # where the copying stopped, while there is hope to take it up again, or -1
        "ceiling",  # 0 until the stretch is long enough to matter, like its kind
        "cost",  # of a damaged spot, besides a period; 0 is not yet known
        "dist",  # distance at which it is copied now: the period, give or take mended damage
        "end",  # behind the last character that was compared
        "expected",  # what should have stood where the last damage is
        "kind",
        "known",  # where this zone was found: no verdict can be older
        "onset",  # first character of the first copy
        "period",
        "score",  # what was copied before this zone, less the price of the damage
        "shown",  # the unit as it was written, where its digits are masked
        "tries",
        "tripped",
        "unit",
        "zone",  # first copied character since the last damage
    )

    def __init__(self, dist: int, onset: int, place: int, unit: str, before: str) -> None:
        self.period = self.dist = dist
        self.onset = onset
        self.zone = onset + dist
        self.end = self.known = place
        self.unit = unit
        self.before = before
        self.score = self.ceiling = self.tries = self.cost = 0
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
        return self.score + self.end - self.zone

    def due(self, least: int) -> int:
        """The position at which it may be taken up again, or reach its ceiling."""
        if self.broken >= 0:
            return self.broken + TRIES[self.tries]
        return self.zone + (self.ceiling or least) - self.score

    @property
    def sound(self) -> bool:
        """Whether the stretch is long enough to be worth mending."""
        return self.copied >= worth_mending(self.period)

    @property
    def price(self) -> int:
        """What a damaged spot costs."""
        if not self.cost:
            words = any(map(str.isalpha, self.unit))
            self.cost = _DAMAGE if words else max(_DAMAGE_SIGNS - self.period, 1)
        return self.cost + min(self.period, _DAMAGE_CAP)


def worth_mending(period: int) -> int:
    """How much of a period has to be copied for a damaged spot not to end it."""
    return min(max(period, _SOUND[0]), _SOUND[1])


def copied_ahead(text: str, start: int, dist: int, stop: int) -> int:
    """How many characters from ``start`` on, before ``stop``, equal those ``dist`` before them.

    >>> copied_ahead("xababac", 3, 2, 7)
    3
    """
    low, step = start, 64
    while low < stop:
        high = min(low + step, stop)
        if text[low:high] == text[low - dist : high - dist]:
            low, step = high, step * 8
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if text[low:middle] == text[low - dist : middle - dist]:
                low = middle
            else:
                high = middle
        break
    return low - start


def copied_behind(text: str, stop: int, dist: int, floor: int) -> int:
    """How many characters before ``stop``, down to ``floor``, equal those ``dist`` before them.

    >>> copied_behind("xababac", 6, 2, 2)
    3
    """
    high, step = stop, 64
    while high > floor:
        low = max(high - step, floor)
        if text[low:high] == text[low - dist : high - dist]:
            high, step = low, step * 8
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if text[middle:high] == text[middle - dist : high - dist]:
                high = middle
            else:
                low = middle
        break
    return stop - high


def mend(track: Track, text: str, base: int, at: int) -> None:
    """Take a broken stretch up again if the characters just before ``at`` continue it.

    One period later the damaged copy is the one compared with: that echo, told by the text that
    was expected the first time, costs nothing.
    """
    damage = track.broken - base
    found = _resumed(track.period, text, at - base, damage)
    if found is None or _new_row(track.unit, text[damage : found.zone]):
        return
    last = text[max(damage - track.period - _AGREE, 0) : damage]
    if not _alike(text[at - base - _AGREE : at - base], track.unit, last):
        return
    score = track.copied
    if track.expected and text.startswith(track.expected, damage):
        track.expected = ""
    else:
        score -= track.price
        source = damage - track.dist
        track.expected = text[source : source + min(_SLACK, track.dist)]
    if score <= 0:
        track.alive = False
        return
    track.score, track.end, track.known = score, at, at
    track.period, track.dist, track.zone = found.period, found.dist, found.zone + base
    track.broken, track.tries = -1, 0


def _alike(recent: str, unit: str, last: str) -> bool:
    """Whether ``recent`` is of the repetition that broke: of its first copy, or of its ``last``.

    A divider behind a repeated sentence is a copy of itself at any distance, and
    another sentence may come as often; neither is the same loop. Digits may differ.
    """
    copies = unit * (2 + _AGREE // len(unit))
    if recent in copies or recent in last:
        return True
    recent, copies, last = (text.translate(_NO_DIGITS) for text in (recent, copies, last))
    return recent in copies or recent in last


def _new_row(unit: str, gap: str) -> bool:
    """A repetition that only a line break interrupts is a row of a board, not a damaged loop."""
    return "\n" in gap and "\n" not in unit


class _Found(NamedTuple):
    """Where a stretch is taken up: at what distance it is copied, and from where on."""

    period: int
    dist: int
    zone: int


def _resumed(period: int, text: str, here: int, damage: int) -> _Found | None:
    """Where the text before ``here`` is a copy again.

    At the period itself where a character was replaced, or where the unit is so short that it
    came again since; at another one near it, from now on, where a counter gained a digit; else
    at a distance a little off some periods, counted from a copy that lies before the damage.
    """
    recent = text[here - _AGREE : here]
    drift = min(_SLACK, period // 4)
    back = -(-(here - damage + _SLACK) // period) * period
    for least, most, slack in (
        (period, period, _SLACK + period),
        (period - drift, period + drift, _SLACK + period),
        (back - _SLACK, back + _SLACK, _SLACK),
    ):
        found = text.rfind(recent, max(here - _AGREE - most, 0), max(here - least, 0))
        if found < 0:
            continue
        dist = here - _AGREE - found
        zone = here - copied_behind(text, here, dist, max(damage, dist))
        if zone - damage <= slack:
            return _Found(dist if slack > _SLACK else period, dist, zone)
    return None


def goes_on(track: Track, copies: str, rest: str) -> bool:
    """Whether a text that ends in ``rest`` has gone on with something else behind ``copies``.

    Blanks and end marks are nothing else. While a broken stretch may still be taken up, what
    came is something else unless at least half of it is a copy again.
    """
    from loopcli.rules.period.kinds import without_marks

    rest = without_marks(rest)
    if track.alive and track.broken >= 0 and len(rest) >= _TOLD:
        return rest[len(rest) // 2 :] not in copies
    return bool(rest)


def mend_behind(track: Track, text: str, base: int, floor: int) -> None:
    """Follow a newly found stretch of a short unit back over damaged spots, with their price.

    A word that is repeated with an odd one in between every few copies is found late, in one of
    its clean pieces; the pieces before it count too.
    """
    price, period = track.price, track.period
    start = track.onset - base
    floor = max(floor, start - _BEHIND)
    size = max(period, _SLACK)
    while True:
        low = max(floor, start - _SLACK - size)
        found = text.rfind(text[start : start + size], low, start)
        if found < 0:
            break
        clean = copied_behind(text, found + size, period, max(floor, period))
        gain = clean + period - price
        gap = text[found + size : start]
        start = found + size - clean - period
        if gain <= 0 or start < floor or _new_row(track.unit, gap):
            break
        track.score += gain
        track.onset = start + base


def readable(unit: str) -> str:
    """Return a unit as it is best read: from the beginning of a line, or else of a word.

    A period has no first character; the stretch may have begun anywhere in it.
    """
    for mark in ("\n", " "):
        if mark in unit:
            start = 0 if unit.endswith(mark) else unit.index(mark) + 1
            unit = unit[start:] + unit[:start]
            break
    return unit if len(unit) <= _SHOWN else unit[: _SHOWN - 1] + "…"
