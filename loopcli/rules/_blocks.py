"""Where many words at once leave a window saturated, without visiting every word.

Cut the words into blocks of at least a window. A window that ends inside block
b lies within blocks b-1 and b, so a word can offend there only if both blocks
together hold it more than ``threshold`` times, which means that one of them
holds it more than half as often. Fewer such words than ``breadth``: no window
that ends in b is saturated, and none of its words is looked at. Otherwise the
block is stepped through, counting only those words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set

from loopcli.window import WordWindow
from loopcli.words import word_hash

# A block shorter than this costs more to count than to step through.
_MIN_BLOCK = 256


def saturated_stretches(
    window: WordWindow, words: Sequence[str], breadth: int
) -> Iterator[tuple[int, int]]:
    """Yield each half-open range of ``words`` after every one of which the window is saturated.

    ``window`` holds what came before and is not changed. Ranges ascend; two
    that touch belong to one stretch.
    """
    size = max(window.width, _MIN_BLOCK)
    tail: Sequence[Hashable] = window.hashes()
    counts: Mapping[Hashable, int] = window.counts()
    heavy = _heavy(counts, window.threshold)
    for start in range(0, len(words), size):
        block = words[start : start + size]
        # What came before is known by hash only, so the first block is
        # compared by hash; from then on the words themselves serve.
        keys: Sequence[Hashable] = block if start else list(map(word_hash, block))
        before, now = counts, Counter(keys)
        before_heavy, heavy = heavy, _heavy(now, window.threshold)
        if len(before_heavy) + len(heavy) >= breadth:
            suspects = {
                key
                for key in (*before_heavy, *heavy)
                if before.get(key, 0) + now.get(key, 0) > window.threshold
            }
            if len(suspects) >= breadth:
                for first, end in _step(window, tail, keys, suspects, breadth):
                    yield start + first, start + end
        counts, tail = now, keys
        if not start:
            tail = block
            counts = Counter(block)
            heavy = _heavy(counts, window.threshold)


def _heavy(counts: Mapping[Hashable, int], threshold: int) -> list[Hashable]:
    half = threshold // 2
    return [key for key, count in counts.items() if count > half]


def _step(
    window: WordWindow,
    tail: Sequence[Hashable],
    keys: Sequence[Hashable],
    suspects: Set[Hashable],
    breadth: int,
) -> Iterator[tuple[int, int]]:
    """Walk through one block counting the suspects; ``tail`` ends with the window before it."""
    width, threshold = window.width, window.threshold
    recent = tail[-width:]
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
