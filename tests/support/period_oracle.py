"""Where a text is periodic, found by brute force over every period."""

from __future__ import annotations

from typing import NamedTuple


class Periodic(NamedTuple):
    """A stretch that repeats itself: its first character, its length, and its period."""

    onset: int
    chars: int
    period: int


def longest(text: str, most: int = 4096) -> Periodic:
    """Return the longest stretch, of two copies at least, whose period is `most` or less.

    Of equal ones the one with the shortest period, and of these the first. For every period the
    text is compared with itself one period later, all characters at once as one large number; a
    run of zeros in the difference is a run of copies.
    """
    kinds = {char: number for number, char in enumerate(dict.fromkeys(text))}
    width = 1 if len(kinds) <= 256 else 2
    codes = b"".join(kinds[char].to_bytes(width, "little") for char in text)
    number = int.from_bytes(codes, "little")
    best = Periodic(0, 0, 0)
    for period in range(1, min(most, len(text) // 2) + 1):
        later = len(codes) - period * width
        differ = (number ^ (number >> (8 * width * period))) & ((1 << (8 * later)) - 1)
        best = _longer(differ.to_bytes(later, "little"), period, width, best)
    return best


def _longer(differ: bytes, period: int, width: int, best: Periodic) -> Periodic:
    at = 0
    while True:
        # So many copied characters it takes to be better than what there is.
        least = max(period, best.chars - period + 1)
        at = differ.find(bytes(least * width), at)
        if at < 0:
            return best
        end = len(differ) - len(differ[at:].lstrip(b"\0"))
        start = -(-at // width)
        if end // width - start >= least:
            best = Periodic(start, end // width - start + period, period)
        at = end
