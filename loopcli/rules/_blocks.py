"""Where many words at once leave a window saturated, without visiting every word.

Cut the words into blocks of at least a window. A window that ends inside block
b lies within blocks b-1 and b, so a word can offend there only if both blocks
together hold it more than ``threshold`` times, which takes more of it in each
than ``threshold`` less the other's commonest word. In ordinary text no block
but a few has ``breadth`` such words, and no more of it is looked at. Otherwise
the block is stepped through, counting only the words that both blocks hold
often enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import TypeVar

from loopcli.window import WordWindow
from loopcli.words import word_hashes

_Key = TypeVar("_Key", int, str)

# A block shorter than this costs more to count than to step through.
_MIN_BLOCK = 256
# Counts up to this are not told apart: what it is changes the speed only.
_LOW = 8
_LOW_BYTES = bytes(range(_LOW + 1))


def saturated_stretches(
    window: WordWindow, words: Sequence[str], breadth: int, recent: Sequence[str] = ()
) -> Iterator[tuple[int, int]]:
    """Yield each half-open range of ``words`` after every one of which the window is saturated.

    ``window`` holds what came before and is not changed; if that is known as
    text, it is ``recent``, all that a window holds of it, and ``window`` is not
    looked into. Ranges ascend; two that touch belong to one stretch.
    """
    size = max(window.width, _MIN_BLOCK)
    threshold = window.threshold
    tail = recent
    before: Mapping[str, int] = Counter(recent)
    before_high = _high((before if recent else window.counts).values())
    for start in range(0, len(words), size):
        block = words[start : start + size]
        now = Counter(block)
        high = _high(now.values())
        if _crowded(before_high, high, threshold, breadth):
            if start or recent or window.empty:
                candidates = {*_heavy(before, threshold), *_heavy(now, threshold)}
                found = _inside(window, tail, before, block, now, candidates, breadth)
            else:
                found = _across(window, block, _heavy(now, threshold), breadth)
            for first, end in found:
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
    """Tell whether ``breadth`` words may offend in a window across two blocks."""
    most_before, most_now = max(before, default=_LOW), max(now, default=_LOW)
    if most_before + most_now <= threshold:
        return False
    return _may_hold(now, threshold - most_before, breadth) and _may_hold(
        before, threshold - most_now, breadth
    )


def _may_hold(high: Sequence[int], low: int, breadth: int) -> bool:
    """Tell whether ``breadth`` of a block's counts may be above ``low``."""
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
    """Walk through one block counting the suspects; ``tail`` ends with the window before it."""
    width, threshold = window.width, window.threshold
    recent: Sequence[_Key] = tail[-width:]
    counts = dict.fromkeys(suspects, 0)
    for key in recent:
        if key in counts:
            counts[key] += 1
    live = sum(count > threshold for count in counts.values())
    sequence = [*recent, *keys]
    leaving = len(recent) - width
    first = -1
    for index, key in enumerate(keys):
        if key in counts:
            counts[key] += 1
            live += counts[key] == threshold + 1
        if leaving >= 0:
            old = sequence[leaving]
            if old in counts:
                counts[old] -= 1
                live -= counts[old] == threshold
        leaving += 1
        if live >= breadth:
            if first < 0:
                first = index
        elif first >= 0:
            yield first, index
            first = -1
    if first >= 0:
        yield first, len(keys)
