"""Several rules over all lanes of a reply, as one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopcli.events import Event, Lane, Restart, Text
from loopcli.rules.base import Armed, Rule
from loopcli.verdicts import Verdict

# A reply has a handful of lanes; a stream that opens this many is hostile, and
# the memory must not grow with it.
MAX_LANES = 1024


class Detector:
    """Gives each lane rules of its own, so that no lane is diluted by another."""

    def __init__(self, armed: Sequence[Armed], *, max_lanes: int = MAX_LANES) -> None:
        self._armed = armed
        self._max_lanes = max_lanes
        self._rules: dict[Lane, list[Rule]] = {}
        # Set once a lane had to be left unjudged.
        self.overflowed = False

    def update(self, event: Event) -> list[Verdict]:
        """Judge one event; return the verdicts that are new, in the order they fired.

        On the same character the rule that was armed first comes first.
        """
        if not isinstance(event, Text):
            if isinstance(event, Restart):
                self._rules.clear()  # a fresh object per attempt
            return []
        rules = self._rules.get(event.lane)
        if rules is None:
            rules = self._open(event.lane)
        fresh = []
        for rule in rules:
            had = rule.verdict
            verdict = rule.update(event)
            if verdict is not None and had is None:
                fresh.append(verdict._replace(lane=event.lane))
        return sorted(fresh, key=lambda verdict: verdict.offset) if fresh else fresh

    def _open(self, lane: Lane) -> list[Rule]:
        rules = [armed.make() for armed in self._armed if lane.channel in armed.channels]
        if not rules:
            return []
        if len(self._rules) >= self._max_lanes:
            self.overflowed = True
            return []
        return self._rules.setdefault(lane, rules)

    def __iter__(self) -> Iterator[tuple[Lane, Rule]]:
        for lane, rules in self._rules.items():
            for rule in rules:
                yield lane, rule
