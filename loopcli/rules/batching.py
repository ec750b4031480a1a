"""What rules share that need not look at every small piece of text at once.

A stream brings a few characters at a time. A rule that measures long stretches
can say from which character on there may be something to do; until then the
pieces wait, joined by one call, and cost an append each. Whoever asks for the
gauge or takes a snapshot has them judged first, so that nobody sees the
difference.

Its words are counted at the same time: such a rule wants no more of them than
their number, for its verdict.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from loopcli.events import Event, SharedWords, Text
from loopcli.rules.base import FOREVER
from loopcli.verdicts import REPETITION, Verdict
from loopcli.words import WordCounter


class BatchingRule(ABC):
    """A rule whose text waits until the lane has ``_wake`` characters."""

    name: str

    def __init__(self, *, past_trip: bool, wake: int) -> None:
        self.verdict: Verdict | None = None
        self.counter = WordCounter()
        self._past_trip = past_trip
        self._wake = wake
        self._chars = 0
        self._waiting: list[str] = []
        self._shared: SharedWords | None = None  # of the last text that waits

    @property
    def words(self) -> int:
        """The complete words judged so far."""
        self._catch_up()
        return self.counter.total

    @property
    def chars(self) -> int:
        """The characters judged so far."""
        return self._chars

    @property
    def _stopped(self) -> Verdict | None:
        """The verdict at which the rule has stopped, if it has."""
        return None if self._past_trip else self.verdict

    def update(self, event: Event) -> Verdict | None:
        """Judge one event; return the verdict from the moment the rule fires on."""
        if not isinstance(event, Text) or not event.text or self._stopped:
            return self.verdict
        self._chars += len(event.text)
        self._waiting.append(event.text)
        self._shared = event.shared
        if self._chars >= self._wake:
            self._catch_up(len(event.text))
        return self.verdict

    @property
    def quiet(self) -> int:
        """The number of further characters within which the rule cannot fire."""
        return FOREVER if self._stopped else self._wake - self._chars - 1

    def _catch_up(self, last: int = 0) -> None:
        """Judge what waits; ``last`` is the length of the event that is being judged."""
        waiting = self._waiting
        if not waiting:
            return
        text, shared = "".join(waiting), None
        if len(waiting) == 1:  # the text that came, for the words of which others may wait
            text, shared = waiting[0], self._shared
        waiting.clear()
        self._shared = None
        self._judge(text, last)
        if not self._stopped:
            self.counter.feed(text, shared)

    @abstractmethod
    def _judge(self, text: str, last: int) -> None:
        """Judge the text that waited, of which the last event brought ``last`` characters.

        It ends at character ``_chars``. Sets ``_wake`` for the text after it.
        """

    def _words_after(self, text: str, chars: int) -> int:
        """Return the words of the lane after ``chars`` characters, which end in ``text``."""
        return self.counter.after(text, chars - self._chars + len(text))

    def _trip(self, words: int, chars: int, last: int, **stated: Any) -> None:
        """State the verdict after so many words and characters; ``stated`` are its other fields."""
        self.verdict = Verdict(
            rule=self.name,
            kind=REPETITION,
            words=words,
            chars=chars,
            offset=chars - self._chars + last,
            **stated,
        )
        if not self._past_trip:
            self._chars = chars
            self.counter = WordCounter(words)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON; ``restore`` continues from it identically."""
        self._catch_up()
        return {
            "chars": self._chars,
            "words": list(self.counter.snapshot()),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        self.verdict = None if state["verdict"] is None else Verdict.from_json(state["verdict"])
        self._chars = state["chars"]
        self.counter = WordCounter(*state["words"])
        self._waiting.clear()
