"""The words of many transcripts on one axis, and where the frequent ones occur on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopcli.analyze.sweep.tokens import Hashes, Ints, Tokens

CLASS_BITS = 12
"""At most so many bits of a word's hash tell words apart in a first count."""


class Axis:
    """The word positions of a batch on one axis, with a gap behind every transcript."""

    def __init__(self, batch: Sequence[Tokens], window: int) -> None:
        self.batch = batch
        self.words = np.array([tokens.words for tokens in batch], np.int64)
        # No window tells more of a transcript than one that holds the longest of them entirely;
        # the bound also keeps 64-bit knobs out of the arithmetic.
        self.longest = int(self.words.max(initial=0))
        self.gap = min(window, self.longest)
        self.first = np.cumsum(self.words + self.gap) - self.words - self.gap
        self.ends = self.first + self.words
        self.span = int(self.words.sum()) + self.gap * len(batch)
        self.shift = self.span.bit_length()

    def occurrences(self, threshold: int) -> Ints:
        """Keys (word << shift | position), ascending, of all words that may occur often enough.

        Keys of different words lie further apart than any window, which spares a comparison of
        words wherever the distance of two occurrences is tested.
        """
        ids = np.concatenate([np.zeros(0, np.uint64), *(tokens.ids for tokens in self.batch)])
        positions = np.arange(len(ids)) + np.repeat(
            self.gap * np.arange(len(self.batch)), self.words
        )
        kept = self._frequent(ids, positions, threshold)
        ids, positions = ids[kept], positions[kept]
        order = stable_order(ids)
        ids = ids[order]
        ranks = np.zeros(len(ids), np.int64)
        np.cumsum(ids[1:] != ids[:-1], out=ranks[1:])
        keys: Ints = ranks << self.shift | positions[order]
        return keys

    def _frequent(self, ids: Hashes, positions: Ints, threshold: int) -> Ints:
        """Indexes of the words that may occur more than `threshold` times within a window.

        A window touches two neighbouring blocks at most, so their counts bound its counts; and
        counting by a few bits of the hash counts too much at worst.
        """
        block = max(self.gap - 1, 0).bit_length()
        classes = min(block + 1, CLASS_BITS)
        index = positions >> block << classes
        index |= (ids >> np.uint64(64 - classes)).astype(np.int64)
        blocks = (self.span >> block) + 2
        counts = np.bincount(index, minlength=blocks << classes).reshape(blocks, -1)
        busy = counts[:-1] + counts[1:] > threshold
        kept = np.zeros(counts.shape, np.bool_)
        kept[:-1] = busy
        kept[1:] |= busy
        return np.flatnonzero(kept.ravel()[index])

    def end_chars(self, transcript: Ints, words: Ints) -> Ints:
        """Characters read when the `words`-th word (from 1) of each transcript completed."""
        if not len(words):  # the usual case, and the columns of a whole batch are large
            return words
        ends = np.concatenate([tokens.ends for tokens in self.batch])
        before = np.cumsum(self.words) - self.words
        chars: Ints = ends[before[transcript] + words - 1]
        return chars


def stable_order(ids: Hashes) -> Ints:
    """The stable order of hashes.

    numpy sorts 16-bit numbers by radix, many times faster than wider ones, and few different words
    share the first 16 bits of their hashes; only those are left to a second, general sort.
    """
    heads = (ids >> np.uint64(48)).astype(np.uint16)
    order = np.argsort(heads, kind="stable")
    ids, heads = ids[order], heads[order]
    shared = np.zeros(1 << 16, np.bool_)
    shared[heads[1:][(heads[1:] == heads[:-1]) & (ids[1:] != ids[:-1])]] = True
    mixed = np.flatnonzero(shared[heads])
    order[mixed] = order[mixed][np.argsort(ids[mixed], kind="stable")]
    return order
