"""The prose rule: the same sentences again and again.

Source: OpenCode Infinity Loop Guard, "Streaming loops". Two measures:

- *blocks*: the last 1 to 8 sentences are those before them, again and again.
  ``_runs[n - 1]`` counts how many sentences in a row equal the one n before, so
  the last ``runs + n`` sentences are copies of one block of n. Every sentence of
  the block has to be substantial: 12 characters and three words.
- *irregular cycles*: of the last 24 sentences at least 18 occur more than once,
  at most 12 are different, a substantial one occurs ``stream_threshold`` + 2
  times, and the newest occurs more than once. These are the document's figures.
  It counts as the ceiling of the gauge.

Where the document leaves a choice open: an irregular cycle needs all 24
sentences, and the document's limit of 65,536 characters is not needed here,
because nothing has to be cut away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from loopcli.rules.base import refuse_zeros
from loopcli.rules.batching import BatchingRule
from loopcli.rules.prose.config import NAME, ProseConfig
from loopcli.rules.prose.sentences import Sentence, SentenceSplitter
from loopcli.verdicts import Peak, Region

LONGEST_BLOCK = 8
CYCLE_SENTENCES = 24
_CYCLE_REPEATED = 18
_CYCLE_DISTINCT = 12
_CYCLE_MORE = 2


class ProseRule(BatchingRule):
    """Measures how often the last sentences were written in a row; fires at ``stream_threshold``.

    With ``past_trip`` the verdict is latched as ever but measuring goes on.

    >>> from loopcli.events import EventMarks, Lane, Text
    >>> loop = "Let me check it. I will look now. " * 3
    >>> verdict = ProseRule().update(Text(Lane(), loop, EventMarks([loop], [len(loop)])))
    >>> verdict.message
    '2 sentences written 3 times in a row, 24 words into the reply'
    >>> verdict.chars, verdict.onset_char, verdict.repeated
    (102, 0, ('let me check it.', 'i will look now.'))
    """

    name = NAME
    regions: Sequence[Region] = ()

    def __init__(self, config: ProseConfig | None = None, *, past_trip: bool = False) -> None:
        self.config = config or ProseConfig()
        refuse_zeros(self.config)
        super().__init__(past_trip=past_trip, wake=1)
        self._splitter = SentenceSplitter()
        self._last: list[Sentence] = []  # up to CYCLE_SENTENCES
        self._runs = [0] * LONGEST_BLOCK
        self._onsets = [0] * LONGEST_BLOCK
        self.gauge = 0
        self.peak = Peak()

    @property
    def ceiling(self) -> int:
        """The gauge at which the rule fires."""
        return self.config.stream_threshold

    def _judge(self, new: str, last: int) -> None:
        for sentence in self._splitter.feed(new):
            length = self._count(sentence)
            if self.verdict is None:
                if self.gauge >= self.ceiling:
                    self._fire_block(length, sentence, new, last)
                elif cycle := self._cycle():
                    self._fire_cycle(cycle, sentence, new, last)
                if self._stopped:
                    return
        self._wake = self._chars + 1

    def _count(self, sentence: Sentence) -> int:
        """Count a sentence; return the length of the block that repeats most often."""
        best, length = (1, 1) if sentence.substantial else (0, 1)
        for n in range(1, LONGEST_BLOCK + 1):
            earlier = self._last[-n] if n <= len(self._last) else None
            if earlier is None or earlier.key != sentence.key or not sentence.substantial:
                self._runs[n - 1] = 0
                continue
            if not self._runs[n - 1]:
                self._onsets[n - 1] = earlier.start
            self._runs[n - 1] += 1
            if self._runs[n - 1] // n + 1 > best:
                best, length = self._runs[n - 1] // n + 1, n
        self._last.append(sentence)
        del self._last[:-CYCLE_SENTENCES]
        self.gauge = best
        if best > self.peak.value:
            self.peak = Peak(best, None, self._onset(length), self._block(length))
        return length

    def _onset(self, length: int) -> int:
        """Return where the copies of a block begin."""
        return self._onsets[length - 1] if self.gauge > 1 else self._last[-1].start

    def _block(self, length: int) -> tuple[str, ...]:
        return tuple(sentence.shown for sentence in self._last[-length:])

    def _cycle(self) -> tuple[int, int] | None:
        """Return how many sentences an irregular cycle has, and the most that one occurs."""
        if len(self._last) < CYCLE_SENTENCES:
            return None
        times = Counter(sentence.key for sentence in self._last)
        most = max((times[one.key] for one in self._last if one.substantial), default=0)
        repeated = sum(count for count in times.values() if count > 1)
        if (
            repeated >= _CYCLE_REPEATED
            and len(times) <= _CYCLE_DISTINCT
            and most >= self.config.stream_threshold + _CYCLE_MORE
            and times[self._last[-1].key] > 1
        ):
            return len(times), most
        return None

    def _fire_block(self, length: int, sentence: Sentence, new: str, last: int) -> None:
        what = "1 sentence" if length == 1 else f"{length} sentences"
        words = self._words_after(new, sentence.end)
        self._trip(
            words,
            sentence.end,
            last,
            message=f"{what} written {self.gauge} times in a row, {words} words into the reply",
            gauge=self.gauge,
            ceiling=self.ceiling,
            onset_char=self._onset(length),
            repeated=self._block(length),
            facts={"sentences": length},
        )

    def _fire_cycle(self, cycle: tuple[int, int], sentence: Sentence, new: str, last: int) -> None:
        distinct, most = cycle
        words = self._words_after(new, sentence.end)
        onset = self._last[0].start
        common = Counter(one.shown for one in self._last if one.substantial).most_common(1)
        repeated = tuple(shown for shown, _ in common)
        self.gauge = self.ceiling
        if self.gauge > self.peak.value:
            self.peak = Peak(self.gauge, None, onset, repeated)
        self._trip(
            words,
            sentence.end,
            last,
            message=f"{CYCLE_SENTENCES} sentences are {distinct} different ones, one of them "
            f"{most} times, {words} words into the reply",
            gauge=self.gauge,
            ceiling=self.ceiling,
            onset_char=onset,
            repeated=repeated,
            facts={"sentences": distinct},
        )

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON; ``restore`` continues from it identically."""
        state = super().snapshot() | {"gauge": self.gauge, "peak": self.peak.to_json()}
        if not self._stopped:
            state |= {
                "splitter": self._splitter.snapshot(),
                "last": [list(sentence) for sentence in self._last],
                "runs": list(self._runs),
                "onsets": list(self._onsets),
            }
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        super().restore(state)
        self.gauge, self.peak = state["gauge"], Peak.from_json(state["peak"])
        if "splitter" in state:
            self._splitter.restore(state["splitter"])
            self._last = [Sentence(*sentence) for sentence in state["last"]]
            self._runs, self._onsets = list(state["runs"]), list(state["onsets"])
            self._wake = self._chars + 1
