"""How a stretch of copies is carried over a damaged spot.

The idea. A loop of a language model is not always exact: a word is misspelt, a
copy loses a comma. The copying breaks there, and goes on some characters later,
at the same distance or at one that the damage has shifted. ``mend`` looks for
that a few times behind the damage and keeps what was copied before as credit,
less a price.

The price is a whole period and a little. Text that is made from a template
differs in every copy: between two differences it gains less than a period and
pays more, so it never reaches a ceiling. A loop with a slip now and then pays
once.

What each part is for, and what breaks without it (``tests/rules/test_ablation.py``
holds the list):

- ``TRIES``: a spot may be damaged for one character or for a word or two. Looked
  for only close behind it, a longer one ends the loop; looked for only far behind
  it, the next spot of a loop that slips often comes first.
- The echo: one period after a damaged spot the text is compared with it, and
  differs again. Charged twice, a unit that slips loses two periods each time.
- ``_alike``: the text behind the spot must be of the repetition that broke.
  Otherwise a divider behind a repeated sentence, itself a copy at any distance,
  goes on with the account of the sentence.
- ``_new_row``: a repetition that only a line break interrupts is a row of a board,
  and the board is judged as one unit of several lines, not as a damaged row.
- ``mend_behind``: a word repeated with an odd one in between every few copies is
  found late, in one of its clean pieces. The pieces before that count too.
"""

from __future__ import annotations

from typing import NamedTuple

from loopcli.rules.period.track import Track, copied_behind

# All in characters.
_SLACK = 16  # what a damaged spot may hold, lose or gain: an odd word or two
_AGREE = 24  # what must agree again before a stretch is taken up
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_BEHIND = 2048  # how far a damaged stretch is followed back when it is found


def mend(track: Track, text: str, base: int, at: int) -> None:
    """Take a broken stretch up again if the characters just before ``at`` continue it.

    One period later the damaged copy is the one compared with. That echo is known by
    the text that was expected the first time, and costs nothing.
    """
    damage = track.broken - base
    resumption = _resumed(track.period, text, at - base, damage)
    if resumption is None or _new_row(track.unit, text[damage : resumption.clean_from]):
        return
    last = text[max(damage - track.period - _AGREE, 0) : damage]
    if not _alike(text[at - base - _AGREE : at - base], track.unit, last):
        return
    credit = track.copied
    if track.expected and text.startswith(track.expected, damage):
        track.expected = ""
    else:
        credit -= track.price
        source = damage - track.distance
        track.expected = text[source : source + min(_SLACK, track.distance)]
    if credit <= 0:
        track.alive = False
        return
    track.credit, track.end, track.found_at = credit, at, at
    track.period, track.distance = resumption.period, resumption.distance
    track.clean_from = resumption.clean_from + base
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


class _Resumption(NamedTuple):
    """Where a stretch is taken up: at what distance it is copied, and from where on."""

    period: int
    distance: int
    clean_from: int


def _resumed(period: int, text: str, here: int, damage: int) -> _Resumption | None:
    """Where the text before ``here`` is a copy again.

    At the period itself where a character was replaced, or where the unit is so short that it
    came again since; at another one near it, from now on, where a counter gained a digit; else
    at a distance a little off some periods, counted from a copy that lies before the damage.
    """
    recent = text[here - _AGREE : here]
    drift = min(_SLACK, period // 4)
    back = -(-(here - damage + _SLACK) // period) * period
    # The least and the most distance, and how far behind the damage the copy may begin.
    for least, most, slack in (
        (period, period, _SLACK + period),
        (period - drift, period + drift, _SLACK + period),
        (back - _SLACK, back + _SLACK, _SLACK),
    ):
        copy = text.rfind(recent, max(here - _AGREE - most, 0), max(here - least, 0))
        if copy < 0:
            continue
        distance = here - _AGREE - copy
        start = here - copied_behind(text, here, distance, max(damage, distance))
        if start - damage <= slack:
            # Of the last the period stays: its distance holds until the copies before
            # the damage are out of sight.
            return _Resumption(distance if slack > _SLACK else period, distance, start)
    return None


def mend_behind(track: Track, text: str, base: int, floor: int) -> None:
    """Follow a newly found stretch of a short unit back over damaged spots, with their price."""
    price, period = track.price, track.period
    start = track.onset - base
    floor = max(floor, start - _BEHIND)
    size = max(period, _SLACK)
    while True:
        low = max(floor, start - _SLACK - size)
        copy = text.rfind(text[start : start + size], low, start)
        if copy < 0:
            break
        clean = copied_behind(text, copy + size, period, max(floor, period))
        gain = clean + period - price
        gap = text[copy + size : start]
        start = copy + size - clean - period
        # A piece that does not pay for the spot behind it is where the loop begins.
        if gain <= 0 or start < floor or _new_row(track.unit, gap):
            break
        track.credit += gain
        track.onset = start + base
