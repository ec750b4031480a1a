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

        On the same character the rule that was armed first comes first. Where a
        rule has stopped at its verdict, the others are not shown the rest of that
        event: what they have measured is then the same however the text was cut.
        """
        if not isinstance(event, Text):
            if isinstance(event, Restart):
                self._rules.clear()  # a fresh object per attempt
            return []
        rules = self._rules.get(event.lane)
        if rules is None:
            rules = self._open(event.lane)
        fresh = []
        # The last first: the quick-witted rules are armed behind the patient ones,
        # and spare them what nobody will read any more.
        for place in range(len(rules) - 1, -1, -1):
            rule = rules[place]
            had = rule.verdict
            verdict = rule.update(event)
            if verdict is not None and had is None:
                fresh.append((verdict.offset, place, verdict._replace(lane=event.lane)))
                if rule.chars == verdict.chars:  # it stopped there
                    event = event._replace(text=event.text[: verdict.offset])
        return [verdict for _, _, verdict in sorted(fresh)] if fresh else []

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
