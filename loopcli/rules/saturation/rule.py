"""Word saturation: several words over-represented for a long, unbroken stretch.

Source: gg's loop detection ("The rule", "What a word is"). A word *offends*
while it occurs more than ``repeat_threshold`` times among the last
``window_words`` words (frequency); the window is *saturated* while at least
``min_offenders`` words offend (breadth); the rule fires when it has stayed
saturated for ``min_saturated_run`` words (persistence), once the window is
full. A tilemap is as repetitive as a loop, but it ends: persistence is what
tells them apart.

Two paths lead to the same answer. A few words take the incremental one, O(1)
a word: ``WordWindow`` counts the word that enters and the one that leaves. Many
words at once take the batch one (``blocks``), which steps only through the
stretches that hold words frequent enough to matter; ordinary text has none.
Which path a text takes depends on the words that it completes and on the width of
the window, and any mixture of the two gives the same verdict, peak and snapshot:
``tests/rules/test_saturation_oracle.py`` compares both with a slow third one.

What the two paths hand each other:

- ``_window``, the last words, as hashes; the batch path has its words enter at the end,
  all at once.
- ``_run``, the saturated stretch that lasts at the end of the text so far.
  Where it began in characters is found only while its words are at hand.

A run counts from the first word that leaves the window saturated, full or not.
Only the verdict waits for a full window, so a reply shorter than the window
never trips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from loopcli.events import Event, SharedWords, Text
from loopcli.rules.base import FOREVER, refuse_zeros
from loopcli.rules.saturation.blocks import saturated_stretches
from loopcli.rules.saturation.config import MAY_BE_ZERO, NAME, Run, SaturationConfig
from loopcli.rules.saturation.window import WordWindow
from loopcli.verdicts import LENGTH, REPETITION, Peak, Region, Verdict
from loopcli.words import Spans, Splitter

# Below this many words at once the batch path's fixed cost does not pay.
_MIN_BATCH = 32
# The batch path rebuilds the whole window at the end, so the window must not
# be much wider than what arrived.
_MAX_WINDOW_PER_WORD = 8


class SaturationRule:
    """Measures the saturated run of one lane, in words; fires at ``min_saturated_run``.

    With ``past_trip`` the verdict is latched as ever but measuring goes on, so
    that a replay learns the true peak.

    >>> from loopcli.events import EventMarks, Lane
    >>> rule = SaturationRule()
    >>> loop = "void 0;\\n" * 2000
    >>> verdict = rule.update(Text(Lane(), loop, EventMarks([loop], [len(loop)])))
    >>> verdict.message
    '2 words repeated across 3000 consecutive words, 3065 words into the reply'
    >>> verdict.chars, verdict.onset_word, verdict.onset_char, verdict.repeated
    (12261, 65, 261, ('0;', 'void'))
    """

    name = NAME
    regions: Sequence[Region] = ()

    def __init__(self, config: SaturationConfig | None = None, *, past_trip: bool = False) -> None:
        self.config = config or SaturationConfig()
        refuse_zeros(self.config, but=MAY_BE_ZERO)
        self.verdict: Verdict | None = None
        self.words = 0
        self.chars = 0
        self._past_trip = past_trip
        self._splitter = Splitter()
        self._window = WordWindow(self.config.window_words, self.config.repeat_threshold)
        self._run = Run()

    @property
    def gauge(self) -> int:
        """The saturated run now, in words."""
        return self._run.length

    @property
    def ceiling(self) -> int:
        """The saturated run at which the rule fires."""
        return self.config.min_saturated_run

    @property
    def peak(self) -> Peak:
        """The longest saturated run so far, whether the window was full or not."""
        if self._run.length > self._run.best.value:
            run = self._run
            return Peak(run.length, run.word, run.char, self._window.named())
        return self._run.best

    def update(self, event: Event) -> Verdict | None:
        """Judge one event; return the verdict from the moment the rule fires on."""
        if not isinstance(event, Text) or (self.verdict is not None and not self._past_trip):
            return self.verdict
        text, limit = event.text, self.config.max_response_chars
        room = limit + 1 - self.chars
        if not limit or self.verdict is not None or len(text) < room:
            self._judge(text, 0, event.shared)
            return self.verdict
        # The backstop fires at character limit + 1 wherever the reads fall; a
        # repetition on that same character wins.
        self._judge(text[:room], 0)
        if self.verdict is None:
            message = f"the reply passed {self.chars} characters without finishing"
            self.verdict = Verdict(
                NAME, LENGTH, message, self.words, self.chars, room, self.chars, limit
            )
        if self._past_trip:
            self._judge(text[room:], room)
        return self.verdict

    @property
    def quiet(self) -> int:
        """The number of further characters within which the rule cannot fire."""
        if self.verdict is not None and not self._past_trip:
            return FOREVER
        # No character ends more than one word.
        quiet, limit = self.ceiling - 1 - self._run.length, self.config.max_response_chars
        return min(quiet, limit - self.chars) if limit else quiet

    def _judge(self, text: str, offset: int, shared: SharedWords | None = None) -> None:
        """Judge the part of an event's text that stands at ``offset`` in it."""
        words, spans = self._splitter.feed(text, shared)
        many = len(words) >= _MIN_BATCH
        if many and self.config.window_words <= _MAX_WINDOW_PER_WORD * len(words):
            ended = self._batch(words, spans, offset)
        else:
            ended = self._one_by_one(words, spans, offset)
        if self._run.length:
            _ = self._run.char  # now that its words are at hand
        if not ended:
            self.words += len(words)
            self.chars += len(text)

    def _one_by_one(self, words: Sequence[str], spans: Spans, offset: int) -> bool:
        run, window, breadth = self._run, self._window, self.config.min_offenders
        for index, word in enumerate(words):
            window.push(word)
            if len(window.offenders) >= breadth:
                if not run.length:
                    run.begin(self.words + index, partial(self._place, index, spans))
                run.length += 1
                if self.verdict is None and run.length >= self.ceiling and window.full:
                    self._fire(index, spans, offset, run.length, window)
                    if not self._past_trip:
                        return True
            elif run.length:
                run.end(window.named_before)
        return False

    def _batch(self, words: Sequence[str], spans: Spans, offset: int) -> bool:
        run, window, ended = self._run, self._window, 0
        for first, end in saturated_stretches(window, words, self.config.min_offenders):
            if run.length and first > ended:
                run.end(partial(self._named_after, words[:ended]))
            if not run.length:
                run.begin(self.words + first, partial(self._place, first, spans))
            fires = max(first, first + self.ceiling - run.length - 1, window.missing - 1)
            if self.verdict is None and fires < end:
                length = run.length + fires + 1 - first
                self._fire(fires, spans, offset, length, window.extended(words[: fires + 1]))
                if not self._past_trip:
                    run.length = length
                    return True
            run.length += end - first
            ended = end
        if run.length and ended < len(words):
            run.end(partial(self._named_after, words[:ended]))
        window.extend(words)
        return False

    def _named_after(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the words that offend after these, which have still to enter the window."""
        return self._window.extended(words).named()

    def _place(self, index: int, spans: Spans) -> int:
        return self.chars + spans.start(index)

    def _fire(self, index: int, spans: Spans, offset: int, run: int, window: WordWindow) -> None:
        """State the verdict of the word at ``index``; ``window`` is what that word left."""
        words, chars = self.words + index + 1, self.chars + spans.end(index)
        offenders = len(window.offenders)
        message = (
            f"{offenders} words repeated across {run} consecutive words, "
            f"{words} words into the reply"
        )
        self.verdict = Verdict(
            NAME,
            REPETITION,
            message,
            words,
            chars,
            offset + spans.end(index),
            run,
            self.ceiling,
            self._run.word,
            self._run.char,
            window.named(),
            {"offenders": offenders, "run": run},
        )
        if not self._past_trip:
            self.words, self.chars = words, chars
            self._run.note(run, window.named)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON; ``restore`` continues from it identically."""
        return {
            "words": self.words,
            "chars": self.chars,
            "pending": self._splitter.pending,
            "window": self._window.snapshot(),
            "run": [self._run.length, self._run.word, self._run.char],
            "best": self._run.best.to_json(),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        self.words, self.chars = state["words"], state["chars"]
        self._splitter = Splitter(state["pending"])
        self._window.restore(state["window"])
        self._run = Run(*state["run"])
        self._run.best = Peak.from_json(state["best"])
        self.verdict = None if state["verdict"] is None else Verdict.from_json(state["verdict"])
