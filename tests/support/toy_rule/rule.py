"""The shout rule: too many exclamation marks in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopcli.events import Event, Text
from loopcli.rules.base import refuse_zeros
from loopcli.verdicts import REPETITION, Peak, Region, Verdict
from loopcli.words import WordCounter
from toy_rule.config import NAME, ShoutConfig


class ShoutRule:
    """Measures exclamation marks with at most ``shout_gap`` characters between two of them."""

    name = NAME
    regions: Sequence[Region] = ()

    def __init__(self, config: ShoutConfig, *, past_trip: bool = False) -> None:
        refuse_zeros(config, but={"shout_gap"})
        self.config, self._past_trip = config, past_trip
        self.verdict: Verdict | None = None
        self.peak = Peak()
        self.gauge = self.chars = self._onset = self._gap = 0
        self._counter = WordCounter()

    @property
    def words(self) -> int:
        return self._counter.total

    @property
    def ceiling(self) -> int:
        return self.config.shout_marks

    def update(self, event: Event) -> Verdict | None:
        if not isinstance(event, Text) or (self.verdict and not self._past_trip):
            return self.verdict
        for offset, character in enumerate(event.text, 1):
            self._counter.feed(character)
            self.chars += 1
            self._step(character)
            if self.verdict is None and self.gauge >= self.ceiling:
                self._fire(offset)
                if not self._past_trip:
                    break
        return self.verdict

    def _step(self, character: str) -> None:
        if character != "!":
            self._gap += 1
            self.gauge = self.gauge if self._gap <= self.config.shout_gap else 0
            return
        self._onset = self._onset if self.gauge else self.chars - 1
        self.gauge, self._gap = self.gauge + 1, 0
        if self.gauge > self.peak.value:
            self.peak = Peak(self.gauge, None, self._onset, ("!",))

    def _fire(self, offset: int) -> None:
        self.verdict = Verdict(
            rule=NAME,
            kind=REPETITION,
            message=f"{self.gauge} exclamation marks in a row",
            words=self.words,
            chars=self.chars,
            offset=offset,
            gauge=self.gauge,
            ceiling=self.ceiling,
            onset_char=self._onset,
            repeated=("!",),
        )

    @property
    def quiet(self) -> int:
        return self.ceiling - 1 - self.gauge

    def snapshot(self) -> dict[str, Any]:
        raise NotImplementedError("no rule is armed before this one")

    def restore(self, state: Mapping[str, Any]) -> None:
        raise NotImplementedError("no rule is armed before this one")
