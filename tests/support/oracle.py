"""A slow judge of word saturation, kept plain so that the fast one can be held against it.

It reads one character at a time and, after each completed word, counts the whole window afresh.
Nothing is cached, nothing is updated in place of being recomputed: where this file and the
detector disagree, the detector is to be suspected first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

WORD_CAP = 128
SHOWN_WORDS = 8

# The characters with the Unicode property White_Space. str.isspace() would add U+001C..U+001F.
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

Kind = Literal["repetition", "length"]


@dataclass(frozen=True)
class Outcome:
    """What the judge says of one text.

    `words` to `onset_char` describe the first trip, or the end of the text if nothing tripped.
    An onset or a peak position counts what lies before the first word of that stretch.
    `peak*` cover everything that was measured: up to the trip, or up to the end past a trip.
    """

    kind: Kind | None
    words: int
    chars: int
    offenders: int
    run: int
    repeated: tuple[str, ...]
    onset_word: int | None
    onset_char: int | None
    peak: int
    peak_word: int | None
    peak_char: int | None
    peak_repeated: tuple[str, ...]
    total_words: int
    total_chars: int


@dataclass(frozen=True)
class Knobs:
    """The five figures of the rule."""

    window_words: int
    repeat_threshold: int
    min_offenders: int
    min_saturated_run: int
    max_response_chars: int


@dataclass
class Measure:
    """The measuring itself: what has been read, and where the saturated stretches lie."""

    knobs: Knobs
    chars: int = 0
    pending: str = ""
    words: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    run: int = 0
    peak: int = 0
    peak_end: int = 0

    def read(self, char: str) -> bool:
        """Take one character; say whether it completed a word (a pending one is no word yet)."""
        self.chars += 1
        if char not in WHITE_SPACE:
            self.pending += char
            if len(self.pending) < WORD_CAP:
                return False
            start = self.chars - len(self.pending)
        elif self.pending:
            start = self.chars - 1 - len(self.pending)
        else:
            return False
        self.words.append(self.pending)
        self.starts.append(start)
        self.pending = ""
        return True

    def weigh(self) -> None:
        """Settle the run after a completed word; only a higher run moves the peak."""
        saturated = len(self.offending(len(self.words))) >= self.knobs.min_offenders
        self.run = self.run + 1 if saturated else 0
        if self.run > self.peak:
            self.peak, self.peak_end = self.run, len(self.words)

    def offending(self, end: int) -> list[str]:
        """The words that offended in the window just after word number `end`, worst first."""
        size = self.knobs.window_words
        counts = window_counts(self.words[max(0, end - size) : end], size)
        offenders = [word for word in counts if counts[word] > self.knobs.repeat_threshold]
        return sorted(offenders, key=lambda word: (-counts[word], word))

    def trips(self, completed: bool) -> Kind | None:
        """The verdict this character brings. Repetition goes first: it wins a shared character."""
        knobs = self.knobs
        full = len(self.words) >= knobs.window_words
        # A run of at least one is what "saturated now" means; it matters when R is 0.
        if completed and full and self.run >= max(1, knobs.min_saturated_run):
            return "repetition"
        if knobs.max_response_chars and self.chars > knobs.max_response_chars:
            return "length"
        return None

    def outcome(self, kind: Kind | None) -> Outcome:
        """The state at this very character, told as an outcome."""
        offenders = self.offending(len(self.words))
        onset = len(self.words) - self.run if kind == "repetition" else None
        peak_word = self.peak_end - self.peak if self.peak else None
        return Outcome(
            kind=kind,
            words=len(self.words),
            chars=self.chars,
            offenders=len(offenders),
            run=self.run,
            repeated=tuple(offenders[:SHOWN_WORDS]) if kind else (),
            onset_word=onset,
            onset_char=None if onset is None else self.starts[onset],
            peak=self.peak,
            peak_word=peak_word,
            peak_char=None if peak_word is None else self.starts[peak_word],
            peak_repeated=tuple(self.offending(self.peak_end)[:SHOWN_WORDS]) if self.peak else (),
            total_words=len(self.words),
            total_chars=self.chars,
        )


def window_counts(words: Sequence[str], window_words: int) -> Counter[str]:
    """How often each word stands in the last `window_words` words."""
    return Counter(words[max(0, len(words) - window_words) :])


def split_words(text: str) -> list[str]:
    """The completed words of a text; what follows the last one is still pending and left out.

    >>> split_words("one two thr")
    ['one', 'two']
    """
    measure = Measure(Knobs(1, 1, 1, 1, 0))
    for char in text:
        measure.read(char)
    return measure.words


def judge(
    text: str,
    *,
    window_words: int = 256,
    repeat_threshold: int = 32,
    min_offenders: int = 2,
    min_saturated_run: int = 3000,
    max_response_chars: int = 250000,
    past_trip: bool = False,
) -> Outcome:
    """Judge a text, stopping at the first trip unless asked to measure on to the end.

    >>> outcome = judge("void 0;\\n" * 2000)
    >>> outcome.kind, outcome.words, outcome.chars, outcome.onset_word
    ('repetition', 3065, 12261, 65)
    """
    measure = Measure(
        Knobs(window_words, repeat_threshold, min_offenders, min_saturated_run, max_response_chars)
    )
    first: Outcome | None = None
    for char in text:
        completed = measure.read(char)
        if completed:
            measure.weigh()
        if first is None and (kind := measure.trips(completed)):
            first = measure.outcome(kind)
        if first is not None and not past_trip:
            return first
    end = measure.outcome(None)
    return end if first is None else _with_peak_of(first, end)


def _with_peak_of(first: Outcome, end: Outcome) -> Outcome:
    """The verdict of the first trip beside the peak and the totals of the whole text."""
    return Outcome(
        kind=first.kind,
        words=first.words,
        chars=first.chars,
        offenders=first.offenders,
        run=first.run,
        repeated=first.repeated,
        onset_word=first.onset_word,
        onset_char=first.onset_char,
        peak=end.peak,
        peak_word=end.peak_word,
        peak_char=end.peak_char,
        peak_repeated=end.peak_repeated,
        total_words=end.total_words,
        total_chars=end.total_chars,
    )
