"""The most recent words of a text as hashes, and which of them are over-represented.

A ring of 64-bit hashes and a count for each different one: a word enters, the
oldest leaves, and both counts are right. The document demands that a window be
``width`` x 8 bytes between two feeds, so words are not kept as text, but for those
that offend right now: a verdict names them, and at most ``width / threshold`` can.

Two different words of one hash would count as one. That takes some 2**32 different
words in one window for an even chance, and the window holds 256.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from loopcli.words import word_hash, word_hashes

# Words named in a verdict; more would not help a reader.
_MAX_NAMED = 8


def named(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the words of ``counts``, the most frequent first, the first few only."""
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return tuple(ranked[:_MAX_NAMED])


class WordWindow:
    """The last ``width`` words; a word *offends* while more than ``threshold`` are equal to it.

    Words are kept as 64-bit hashes, ``width`` x 8 bytes; only those that offend
    right now, at most ``width / threshold`` of them, are kept as text.
    """

    __slots__ = ("_last", "_oldest", "_ring", "counts", "offenders", "threshold", "width")

    def __init__(self, width: int, threshold: int) -> None:
        self.width = width
        self.threshold = threshold
        # Grows up to `width`, from then on the word at `_oldest` is overwritten.
        self._ring = array("Q")
        self._oldest = 0
        self.counts: dict[int, int] = {}
        self._last: tuple[int, int | None, str] = (0, None, "")
        self.offenders: dict[int, str] = {}

    @property
    def full(self) -> bool:
        """Whether ``width`` words have been seen."""
        return len(self._ring) == self.width

    @property
    def empty(self) -> bool:
        """Whether no word has been seen."""
        return not self._ring

    @property
    def missing(self) -> int:
        """How many more words fill the window."""
        return self.width - len(self._ring)

    def push(self, word: str) -> None:
        """Let ``word`` enter, then, if the window was full, the oldest leave."""
        key = word_hash(word)
        counts, offenders = self.counts, self.offenders
        count = counts.get(key, 0) + 1
        counts[key] = count
        if count == self.threshold + 1:
            offenders[key] = word
        if len(self._ring) < self.width:
            self._ring.append(key)
            self._last = key, None, ""
            return
        old = self._ring[self._oldest]
        self._ring[self._oldest] = key
        self._oldest = (self._oldest + 1) % self.width
        count = counts[old] - 1
        gone = offenders.pop(old) if count == self.threshold else ""
        if count:
            counts[old] = count
        else:
            del counts[old]
        self._last = key, old, gone

    def named(self) -> tuple[str, ...]:
        """Return the offending words, the most frequent first."""
        return named({word: self.counts[key] for key, word in self.offenders.items()})

    def named_before(self) -> tuple[str, ...]:
        """Return what ``named`` said before the last ``push``."""
        entered, left, gone = self._last
        texts = dict(self.offenders)
        if left is not None and gone:
            texts[left] = gone
        before = {key: self.counts.get(key, 0) for key in texts}
        for key, change in ((entered, -1), (left, 1)):
            if key in before:
                before[key] += change
        return named({texts[key]: n for key, n in before.items() if n > self.threshold})

    def hashes(self) -> list[int]:
        """Return the hashes in the window, the oldest first."""
        ring = self._ring.tolist()
        return ring[self._oldest :] + ring[: self._oldest]

    def extend(self, words: Sequence[str]) -> None:
        """Let many words enter at once: as if pushed one by one, looked at in the end only."""
        recent = words[-self.width :]
        hashed = word_hashes(recent)
        keys = [hashed[word] for word in recent]
        self._ring = array("Q", (self.hashes() + keys)[-self.width :])
        self._oldest = 0
        self.counts = dict(Counter(self._ring))
        if max(self.counts.values(), default=0) > self.threshold:
            over = [key for key, count in self.counts.items() if count > self.threshold]
            # A word that offends without being among the new ones did so before.
            texts = self.offenders | {key: word for word, key in hashed.items()}
            self.offenders = {key: texts[key] for key in over}
        else:
            self.offenders = {}

    def extended(self, words: Sequence[str]) -> WordWindow:
        """Return a copy that ``words`` have entered."""
        copy = WordWindow(self.width, self.threshold)
        copy.restore(self.snapshot())
        copy.extend(words)
        return copy

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""
        return {
            "hashes": self.hashes(),
            "offenders": [[key, word] for key, word in self.offenders.items()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        self._ring = array("Q", state["hashes"])
        self._oldest = 0
        self.counts = dict(Counter(self._ring))
        self.offenders = dict(state["offenders"])
