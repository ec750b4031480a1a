"""Where many words at once leave a window saturated, without visiting every word.

The idea. Cut the words into blocks of at least a window. A window that ends inside
block b lies within blocks b-1 and b, so a word can offend there only if both
blocks together hold it more than ``threshold`` times, which takes more of it in
each than ``threshold`` less the other's commonest word. One ``Counter`` a block
answers that, and in ordinary text no block but a few has ``breadth`` such words.
Only then the block is stepped through (``_step``), counting the few words that
both blocks hold often enough.

Invariants:

- A stretch that is yielded is exact: after each of its words the window is
  saturated, and after no word outside of them. The counts only decide where
  nobody has to look.
- Every bound errs to the side of looking. ``_LOW`` and ``_MIN_BLOCK`` change the
  speed and nothing else.
- A key is whatever the words before are known by: their text while it is at hand,
  their hash across two feeds (``_across``). One block never mixes both.

What each part is for:

- ``_high`` and ``_crowded`` reject a block from its highest counts, without naming
  a word. Without them every block pays for sets of its words.
- ``_heavy`` takes a word for a candidate if one block holds more than half of the
  threshold: one that offends across two blocks must have that in one of them.
- ``_offences`` works on the places of one word: with the place ``threshold`` places
  after another it offends, until that one leaves the window. Nothing is counted
  word by word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import TypeVar

from loopcli.rules.saturation.window import WordWindow
from loopcli.words import word_hashes

_Key = TypeVar("_Key", int, str)

# A block shorter than this costs more to count than to step through.
_MIN_BLOCK = 256
# Counts up to this are all treated as low; its value changes the speed only.
_LOW = 8
_LOW_BYTES = bytes(range(_LOW + 1))


def saturated_stretches(
    window: WordWindow, words: Sequence[str], breadth: int
) -> Iterator[tuple[int, int]]:
    """Yield each half-open range of ``words`` after every one of which the window is saturated.

    ``window`` holds what came before and is not changed. Ranges ascend; two that
    touch belong to one stretch.
    """
    size = max(window.width, _MIN_BLOCK)
    threshold = window.threshold
    tail: Sequence[str] = ()
    before: Mapping[str, int] = {}
    before_high = _high(window.counts.values())
    for start in range(0, len(words), size):
        block = words[start : start + size]
        now = Counter(block)
        high = _high(now.values())
        if _crowded(before_high, high, threshold, breadth):
            if start or window.empty:
                candidates = {*_heavy(before, threshold), *_heavy(now, threshold)}
                stretches = _inside(window, tail, before, block, now, candidates, breadth)
            else:
                stretches = _across(window, block, _heavy(now, threshold), breadth)
            for first, end in stretches:
                yield start + first, start + end
        tail, before, before_high = block, now, high


def _high(counts: Collection[int]) -> Sequence[int]:
    """Return the counts above ``_LOW``."""
    # As bytes the many low ones are gone at once; a loop would look at each.
    try:
        return bytes(counts).translate(None, _LOW_BYTES)
    except ValueError:  # one is above 255
        return [count for count in counts if count > _LOW]


def _crowded(before: Sequence[int], now: Sequence[int], threshold: int, breadth: int) -> bool:
    """Return whether ``breadth`` words may offend in a window across two blocks."""
    most_before, most_now = max(before, default=_LOW), max(now, default=_LOW)
    if most_before + most_now <= threshold:
        return False
    return _may_hold(now, threshold - most_before, breadth) and _may_hold(
        before, threshold - most_now, breadth
    )


def _may_hold(high: Sequence[int], low: int, breadth: int) -> bool:
    """Return whether ``breadth`` of a block's counts may be above ``low``."""
    return low < _LOW or sum(count > low for count in high) >= breadth


def _across(
    window: WordWindow, block: Sequence[str], heavy: Sequence[str], breadth: int
) -> Iterator[tuple[int, int]]:
    """Look at the first block: what came before it is known by hash only."""
    hashed = word_hashes(block)
    keys = [hashed[word] for word in block]
    candidates = {*_heavy(window.counts, window.threshold), *(hashed[word] for word in heavy)}
    return _inside(window, window.hashes(), window.counts, keys, Counter(keys), candidates, breadth)


def _inside(
    window: WordWindow,
    tail: Sequence[_Key],
    before: Mapping[_Key, int],
    block: Sequence[_Key],
    now: Mapping[_Key, int],
    candidates: Set[_Key],
    breadth: int,
) -> Iterator[tuple[int, int]]:
    suspects = {
        key for key in candidates if before.get(key, 0) + now.get(key, 0) > window.threshold
    }
    if len(suspects) < breadth:
        return iter(())
    return _step(window, tail, block, suspects, breadth)


def _heavy(counts: Mapping[_Key, int], threshold: int) -> list[_Key]:
    half = threshold // 2
    return [key for key, count in counts.items() if count > half]


def _step(
    window: WordWindow,
    tail: Sequence[_Key],
    keys: Sequence[_Key],
    suspects: Set[_Key],
    breadth: int,
) -> Iterator[tuple[int, int]]:
    """Go from one suspect to the next through a block; ``tail`` ends with the window before it."""
    recent: Sequence[_Key] = tail[-window.width :]
    begin, stop = len(recent), len(recent) + len(keys)
    places: dict[_Key, list[int]] = {key: [] for key in suspects}
    for index, key in enumerate([*recent, *keys]):
        if key in places:
            places[key].append(index)
    edges = [edge for at in places.values() for edge in _offences(at, window)]
    edges.sort()
    live = first = 0
    for index, change in edges:
        if live >= breadth and min(index, stop) > max(first, begin):
            yield max(first, begin) - begin, min(index, stop) - begin
        live += change
        first = index


def _offences(places: Sequence[int], window: WordWindow) -> Iterator[tuple[int, int]]:
    """Yield where a word that stands at ``places`` begins (+1) and ceases (-1) to offend.

    With the word ``threshold`` places after one of them it offends, until that
    one leaves the window.
    """
    width = window.width
    start = end = -1
    for one, later in zip(places, places[window.threshold :], strict=False):
        if later - one >= width:
            continue
        if later > end:
            if end >= 0:
                yield start, 1
                yield end, -1
            start = later
        end = one + width
    if end >= 0:
        yield start, 1
        yield end, -1
