"""Splits prose that arrives in pieces into sentences; where it is cut never matters.

A sentence ends at a blank behind its mark (``.``, ``!``, ``?``, ``…``, with closing
quotes and brackets), so that ``README.md``, ``.env``, ``1.18.0`` and addresses stay
whole. A line ends whatever it holds. What has not ended is pending.

Lines of fenced code and block quotes are no prose. Whether a line is one of these
is known from its first characters, before a sentence in it can end: so the state
between two pieces is the beginning of the line, the sentence so far and the fence.

Source: OpenCode Infinity Loop Guard, "Streaming loops". Beside the document: the
three words of a sentence have to be different and hold a letter. Otherwise tables and
drawings that consist of a few values are loops.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

# The document's figures for a sentence that is worth comparing.
MIN_CHARS = 12
MIN_WORDS = 3
# A longer sentence is compared by its beginning and its length.
MAX_HELD = 4096
# As much of a line as tells a fence.
_MAX_LINE = 256
_SHOWN = 80

_BLANK = re.compile(r"\s")
_ENDED = re.compile("[.!?\u2026]+[\"'\u201d\u2019\u00bb)\\]*_`]*\\Z")
_WORD = re.compile(r"[^\W\d_]\w*|\w+[^\W\d_]\w*")
_OPENING = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTE = re.compile(r" {0,3}>")
_MARKS = 40  # the marks at the end of a sentence; more of them are no sentence's end


class Sentence(NamedTuple):
    """A sentence that has ended, after ``end`` characters of the text.

    ``key`` is the same for sentences that differ only in case and blanks.
    """

    key: int
    substantial: bool
    start: int
    end: int
    shown: str


class SentenceSplitter:
    """Splits one lane.

    >>> splitter = SentenceSplitter()
    >>> [one.shown for one in splitter.feed("I edit README.md now. And th")]
    ['i edit readme.md now.']
    >>> [one.shown for one in splitter.feed("en .env.\\n> quoted.\\n")]
    ['and then .env.']
    """

    __slots__ = ("_chars", "_fence", "_held", "_length", "_line", "_start")

    def __init__(self) -> None:
        self._chars = 0
        self._line = ""  # its beginning
        self._held = ""  # the sentence so far, without blanks before it
        self._length = 0  # of the whole of it
        self._start = 0
        self._fence = ""  # the marks that opened the code around the line

    def feed(self, text: str) -> list[Sentence]:
        """Return the sentences that ``text`` ends."""
        ended = []
        place = 0
        for match in _BLANK.finditer(text):
            at = match.start()
            self._take(text[place:at], self._chars + place)
            place, blank = at + 1, match[0]
            is_line = blank == "\n"
            if self._held and (is_line or _ENDED.search(self._held[-_MARKS:])):
                if self._is_prose():
                    ended.append(self._sentence(self._chars + place))
                self._held, self._length = "", 0
            if is_line:
                self._end_line()
            else:
                self._take(blank, self._chars + at)
        self._take(text[place:], self._chars + place)
        self._chars += len(text)
        return ended

    def _take(self, text: str, at: int) -> None:
        """Add to the line and the sentence a text that stands after ``at`` characters."""
        if len(self._line) < _MAX_LINE:
            self._line += text[: _MAX_LINE - len(self._line)]
        if not self._held:
            if not text or text.isspace():
                return
            self._start = at
        self._length += len(text)
        # The end decides whether the sentence has ended, so it is kept of a long one, too.
        held = self._held + text
        if len(held) > MAX_HELD:
            held = held[: MAX_HELD - _MARKS] + held[-_MARKS:]
        self._held = held

    def _is_prose(self) -> bool:
        return not (self._fence or _OPENING.match(self._line) or _QUOTE.match(self._line))

    def _sentence(self, end: int) -> Sentence:
        text = " ".join(self._held.split()).lower()
        size = self._length if self._length > MAX_HELD else 0
        substantial = len(text) >= MIN_CHARS and len({*_WORD.findall(text)}) >= MIN_WORDS
        key = xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed=size)
        return Sentence(key, substantial, self._start, end, text[:_SHOWN])

    def _end_line(self) -> None:
        """Open or close a fence with a line that is complete."""
        opening = _OPENING.match(self._line)
        if opening and not self._fence:
            self._fence = opening[1]
        elif opening and self._line.strip() == opening[1]:
            closes = opening[1][0] == self._fence[0] and len(opening[1]) >= len(self._fence)
            self._fence = "" if closes else self._fence
        self._line = ""

    def snapshot(self) -> list[int | str]:
        """Return the state as plain JSON."""
        place = [self._chars, self._length, self._start]
        return [*place, self._line, self._held, self._fence]

    def restore(self, state: list[int | str]) -> None:
        """Take over the state that ``snapshot`` returned."""
        numbers, texts = state[:3], state[3:]
        self._chars, self._length, self._start = map(int, numbers)
        self._line, self._held, self._fence = map(str, texts)
