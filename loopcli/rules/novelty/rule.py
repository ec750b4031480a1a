"""The novelty rule: a reply that says nothing new, though it never repeats itself exactly.

It measures recycled words. Every four words in a row are new, or have been
written a few times before in this reply; the score gains one for each of the
latter, loses a few for each of the former, and never falls below zero (a
cumulative sum in the manner of Page, 1954). Prose, code and data stay near
zero, because a single new word makes four fresh groups; a bag of sentences in
random order, or a template with a few fillings, runs out of new groups and
climbs.

Source: our own; it finds what the period rule cannot, and finds it late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopcli.rules.base import refuse_zeros
from loopcli.rules.batching import BatchingRule
from loopcli.rules.novelty.config import NAME, NoveltyConfig
from loopcli.rules.novelty.groups import Group, extent, is_prose, joined, spaced
from loopcli.verdicts import Peak, Region

# The score falls when more than one group in five is fresh. In code and prose at
# least two in five are, over any thousand words; in loops without a period fewer
# than one in ten.
FRESH_COST = 4
# How many groups are remembered; those written once are forgotten first, which
# only makes a text look fresher. A reply of 10,000 words fits.
GROUPS = 1 << 14
_WORD_CHARS = 128  # a longer word is compared by so many characters
_WAIT = 4096  # characters: small deltas are counted together, as long as none can fire


class NoveltyRule(BatchingRule):
    """Measures recycled words of one lane, in excess of fresh ones; fires at ``novelty_words``.

    With ``past_trip`` the verdict is latched as ever but measuring goes on, so
    that a replay learns the true peak.

    >>> from loopcli.events import EventMarks, Lane, Text
    >>> rule = NoveltyRule(NoveltyConfig(novelty_words=40))
    >>> loop = "over and out again, " * 40
    >>> verdict = rule.update(Text(Lane(), loop, EventMarks([loop], [len(loop)])))
    >>> verdict.message
    '40 recycled words in excess of new ones, 55 words into the reply'
    >>> verdict.chars, verdict.onset_char, verdict.repeated
    (273, 73, ('again, over and out',))
    """

    name = NAME
    regions: Sequence[Region] = ()

    def __init__(self, config: NoveltyConfig | None = None, *, past_trip: bool = False) -> None:
        self.config = config or NoveltyConfig()
        refuse_zeros(self.config)
        super().__init__(past_trip=past_trip, wake=1)
        self._counted = 0  # characters that waited no longer
        self._held = ""  # a word that has not ended yet, and where it began
        self._held_char = 0
        self._last = ["", "", ""]  # words
        self._score = 0
        self._onset = 0
        self._best = Peak()
        self._recycled: Group | None = None  # of the stretch, the last
        self._seen: dict[Group, int] = {}  # how often, up to novelty_seen

    @property
    def gauge(self) -> int:
        """Recycled words in excess of fresh ones, now."""
        self._catch_up()
        return self._score

    @property
    def ceiling(self) -> int:
        """The gauge at which the rule fires."""
        return self.config.novelty_words

    @property
    def peak(self) -> Peak:
        """The highest score so far, and where it began to rise."""
        self._catch_up()
        return self._now() if self._score > self._best.value else self._best

    def _judge(self, new: str, last: int) -> None:
        """Count what waited; no word before character ``_wake`` can fire."""
        text, held = self._held + new, len(self._held)
        apart = spaced(text)
        words = apart.split()
        unfinished = words.pop() if words and not apart[-1].isspace() else ""
        self._count(words, text, new, last)
        if self._stopped:
            return
        if words or not held:
            self._held_char = self._chars - len(unfinished) if unfinished else 0
        self._held, self._counted = unfinished[:_WORD_CHARS], self._chars
        # A character can end one word and be another: the one held, and an unspaced one.
        missing = self.ceiling - self._score - 1 if self.verdict is None else _WAIT
        self._wake = self._chars + max(1, min(missing, _WAIT))

    def _count(self, words: list[str], text: str, new: str, last: int) -> None:
        """Count finished words; ``text`` holds them, and ends with what is ``new``."""
        seen, enough, score, start = self._seen, self.config.novelty_seen, self._score, -1
        get, lead = seen.get, len(text) - len(new)
        shown = [*self._last, *words]
        if max(map(len, words), default=0) > _WORD_CHARS:
            shown = [word[:_WORD_CHARS] for word in shown]
        room = GROUPS - len(seen)
        for number, group in enumerate(zip(shown, shown[1:], shown[2:], shown[3:], strict=False)):
            times = get(group, 0)
            if times < enough:
                seen[group] = times + 1
                if not times:
                    room -= 1
                    if not room:
                        self._forget()
                        room = GROUPS - len(seen)
                if score:
                    if score > self._best.value:
                        self._onset = self._place(text, lead, start)
                        self._best = self._now(score)
                    score = max(score - FRESH_COST, 0)
            elif is_prose(group):
                if not score:
                    start = number
                score += 1
                self._recycled = group
                if score == self.ceiling and self.verdict is None:
                    self._onset = self._place(text, lead, start)
                    self._fire(self._counted - lead + extent(text, number)[1], new, last)
                    if not self._past_trip:
                        self._score = score
                        return
        self._onset = self._place(text, lead, start) if score else 0
        self._last, self._score = shown[-3:], score

    def _fire(self, chars: int, new: str, last: int) -> None:
        """State the verdict of the word that is known to have ended after ``chars`` characters."""
        words, score = self._words_after(new, chars), self.ceiling
        self._trip(
            words,
            chars,
            last,
            message=f"{score} recycled words in excess of new ones, {words} words into the reply",
            gauge=score,
            ceiling=score,
            onset_char=self._onset,
            repeated=self._now(score).repeated,
            facts={"recycled": score},
        )

    def _forget(self) -> None:
        """Make room: what was written once goes first, then everything."""
        kept = {group: times for group, times in self._seen.items() if times > 1}
        self._seen.clear()
        if len(kept) <= GROUPS // 2:
            self._seen.update(kept)

    def _place(self, text: str, lead: int, number: int) -> int:
        """Return the place of a word of ``text``, or that of an earlier stretch."""
        if number < 0:
            return self._onset
        if not number and lead:
            return self._held_char
        return self._counted - lead + extent(text, number)[0]

    def _now(self, score: int | None = None) -> Peak:
        what = () if self._recycled is None else (joined(self._recycled),)
        return Peak(self._score if score is None else score, None, self._onset, what)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON; ``restore`` continues from it identically."""
        state = super().snapshot() | {
            "best": self._best.to_json(),
            "score": self._score,
            "onset": self._onset,
            "recycled": self._recycled and list(self._recycled),
        }
        if not self._stopped:
            state |= {
                "held": self._held,
                "held_char": self._held_char,
                "last": list(self._last),
                "seen": [[*group, times] for group, times in self._seen.items()],
            }
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        super().restore(state)
        self._counted = self._chars
        self._best, self._score = Peak.from_json(state["best"]), state["score"]
        self._onset, recycled = state["onset"], state["recycled"]
        self._recycled = None if recycled is None else tuple(recycled)
        if "held" in state:
            self._held, self._held_char = state["held"], state["held_char"]
            self._last = list(state["last"])
            self._seen = {(a, b, c, d): times for a, b, c, d, times in state["seen"]}
            self._wake = self._chars + 1
