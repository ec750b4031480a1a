"""What a word is: a run of characters between whitespace, in slices of at most 128.

A word is complete when whitespace follows it, or when it has reached
``MAX_WORD`` characters; what is cut at that width is a slice of the stream
rather than a lexical word, and that is what makes a loop without whitespace
visible. A reply's unfinished last word is never counted: a reply that ends is
not looping.

Whitespace is the Unicode property White_Space. ``str.split`` also splits at
U+001C to U+001F, which do not have that property; a text that holds one of
them takes the slow path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from xxhash import xxh3_64_intdigest

from loopcli.events import SharedWords

# gg's figure. Base64 comes in lines of 64 or 76, and names and addresses are
# shorter still: what real replies write without a blank stays whole.
MAX_WORD = 128

_WHITESPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_RUN = re.compile(f"[^{_WHITESPACE}]{{1,{MAX_WORD}}}")
_SPLIT_ONLY_FOR_PYTHON = "\x1c\x1d\x1e\x1f"


def word_hash(word: str) -> int:
    """Return the word's 64-bit identity; lone surrogates are words like any other."""
    return xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"))


def word_hashes(words: Iterable[str]) -> dict[str, int]:
    """Return each different word's hash; a call for each word would double the cost."""
    digest = xxh3_64_intdigest
    return {word: digest(word.encode("utf-8", "surrogatepass")) for word in set(words)}


class Spans:
    """Where the words that one ``feed`` completed lie in its text.

    Found only when a position is asked for, which most texts never need.
    """

    __slots__ = ("_index", "_joined", "_lead", "_place", "_plain")

    def __init__(self, joined: str, lead: int) -> None:
        self._joined = joined
        self._lead = lead
        self._plain: bool | None = None
        # The word that was asked for last and where it begins: the next one
        # asked for comes soon after it.
        self._index = self._place = 0

    def _find(self, index: int) -> tuple[int, int]:
        """Return where in ``joined`` a word begins and ends."""
        if index < self._index:
            self._index = self._place = 0
        ahead = self._joined[self._place :] if self._place else self._joined
        if self._plain is None:
            self._plain = _is_plain(ahead)
        if self._plain:
            rest = ahead.split(None, index - self._index)[-1]
            start = len(self._joined) - len(rest)
            end = start + len(rest.split(None, 1)[0])
        else:
            run = next(islice(_RUN.finditer(ahead), index - self._index, None))
            start, end = (self._place + at for at in run.span())
        self._index, self._place = index, start
        return start, end

    def start(self, index: int) -> int:
        """Return the offset of a word's first character; negative if it came earlier."""
        return self._find(index)[0] - self._lead

    def end(self, index: int) -> int:
        """Return how many characters of the text had been read when the word was complete."""
        start, end = self._find(index)
        # The whitespace that completes a word belongs to it; a full slice is
        # complete without any.
        return end + (end - start < MAX_WORD) - self._lead


class Splitter:
    """Splits a text that arrives in pieces into words; where it is cut never matters.

    The list of words may be another caller's, too: it is not to be changed.

    >>> splitter = Splitter()
    >>> splitter.feed("cons")[0], splitter.feed("tructTile")[0], splitter.feed("Map ")[0]
    ([], [], ['constructTileMap'])
    """

    __slots__ = ("pending",)

    def __init__(self, pending: str = "") -> None:
        self.pending = pending

    def feed(self, text: str, shared: SharedWords | None = None) -> tuple[list[str], Spans]:
        """Return the words that ``text`` completes, and their places in it."""
        lead = len(self.pending)
        joined = self.pending + text if lead else text
        return self.words(text, shared, joined), Spans(joined, lead)

    def words(self, text: str, shared: SharedWords | None = None, joined: str = "") -> list[str]:
        """Return the words that ``text`` completes; ``joined`` is it behind what was pending.

        ``shared`` belongs to the event that brought the text. Two rules of one
        lane can disagree about what was pending, because one of them did not see
        all of an earlier text; then each splits for itself.
        """
        if not text:
            return []
        if shared is not None and shared.text is text and shared.pending == self.pending:
            self.pending = shared.rest
            return shared.words
        joined = joined or self.pending + text
        words, rest = _split(joined), ""
        if words and len(words[-1]) < MAX_WORD and not _is_whitespace(joined[-1]):
            rest = words.pop()
        if shared is not None:
            shared.text, shared.pending, shared.words, shared.rest = text, self.pending, words, rest
        self.pending = rest
        return words


class WordCounter:
    """Counts the complete words of a text that arrives in pieces.

    >>> counter = WordCounter()
    >>> counter.feed("one two thr")
    >>> counter.total, counter.after("ee four ", 3), counter.after("ee four ", 8)
    (2, 3, 4)
    """

    __slots__ = ("_splitter", "total")

    def __init__(self, total: int = 0, pending: str = "") -> None:
        self.total = total
        self._splitter = Splitter(pending)

    def feed(self, text: str, shared: SharedWords | None = None) -> None:
        """Count on; ``shared`` belongs to the event that brought the text."""
        self.total += len(self._splitter.words(text, shared))

    def after(self, text: str, chars: int) -> int:
        """Return what the total would be after so many characters of a text."""
        ahead = Splitter(self._splitter.pending)
        return self.total + len(ahead.words(text[:chars]))

    def snapshot(self) -> tuple[int, str]:
        """Return the arguments that make a counter like this one."""
        return self.total, self._splitter.pending


def _is_whitespace(character: str) -> bool:
    return character.isspace() and character not in _SPLIT_ONLY_FOR_PYTHON


def _split(text: str) -> list[str]:
    return text.split() if _is_plain(text) else _RUN.findall(text)


def _is_plain(text: str) -> bool:
    """Return whether ``str.split`` finds the words of a text."""
    for separator in _SPLIT_ONLY_FOR_PYTHON:
        if separator in text:
            return False
    return not _has_slices(text)


def _has_slices(text: str) -> bool:
    """Return whether a run in ``text`` may be longer than a word, in a few steps a kilobyte."""
    at, last = 0, len(text) - MAX_WORD
    while at < last:
        end = at + MAX_WORD + 1
        blank = text.rfind(" ", at, end)
        if blank < at:
            blank = text.rfind("\n", at, end)
            if blank < at:
                return True
        at = blank + 1
    return False
