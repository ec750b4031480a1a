"""The knobs of the saturation rule, and the run that it measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from loopcli.verdicts import Peak

NAME = "saturation"

# Knobs for which 0 means something.
MAY_BE_ZERO = frozenset({"min_saturated_run", "max_response_chars"})


class SaturationConfig(NamedTuple):
    """The five knobs; the defaults are the document's figures."""

    # A phrase of a few words recurs dozens of times in 256; thousands of good
    # words before a loop are soon out of sight. Also the least a reply must
    # hold before the rule can fire.
    window_words: int = 256
    # More than 32 in 256 is more than an eighth of the window; ordinary prose
    # gives its commonest word about 6 %.
    repeat_threshold: int = 32
    # One common word is ordinary text; a phrase is at least two.
    min_offenders: int = 2
    # About a 55x55 tilemap; the largest in gg's corpus, 1,504 entries, peaks at
    # 1,409. 0 is the plain frequency rule.
    min_saturated_run: int = 3000
    # For a runaway without a period; a 2,000-line program is about 60,000
    # characters. 0 turns the backstop off.
    max_response_chars: int = 250_000

    @property
    def lowest(self) -> int:
        """The lowest ceiling: the only one that is a gauge's."""
        return self.min_saturated_run


class Run:
    """How long the window has been saturated without a break, since where, and the longest yet."""

    __slots__ = ("_char", "best", "length", "word")

    def __init__(self, length: int = 0, word: int = 0, char: int = 0) -> None:
        self.length = length
        self.word = word
        # A function while the words are at hand: most runs end before anybody asks.
        self._char: int | Callable[[], int] = char
        self.best = Peak()

    def begin(self, word: int, char: Callable[[], int]) -> None:
        """Begin with nothing; so many words came before, and so many characters."""
        self.length, self.word, self._char = 0, word, char

    @property
    def char(self) -> int:
        """The characters before it; to be asked for once before the words are gone."""
        if not isinstance(self._char, int):
            self._char = self._char()
        return self._char

    def note(self, length: int, repeated: Callable[[], tuple[str, ...]]) -> None:
        """Remember it if it is the longest; ``repeated`` names its words."""
        if length > self.best.value:
            self.best = Peak(length, self.word, self.char, repeated())

    def end(self, repeated: Callable[[], tuple[str, ...]]) -> None:
        """End it, and remember it if it was the longest."""
        self.note(self.length, repeated)
        self.length = self.word = self._char = 0
