"""Several rules over all lanes of a reply, as one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loopcli.events import Channel, Event, Lane, Restart, SharedWords, Text
from loopcli.rules.base import Armed, Rule
from loopcli.verdicts import Peak, Verdict, share

# A reply has a handful of lanes; a stream that opens this many is hostile, and
# the memory must not grow with it.
MAX_LANES = 1024
# Characters from which on sharing the words of a text is worth an object. Of shorter
# texts the rules that only count words join many before they split.
_WORTH_SHARING = 1024


class Gauge(NamedTuple):
    """What a rule measures now, the ceiling that applies to it, and the highest so far."""

    value: int
    ceiling: int
    peak: Peak


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
        if len(rules) > 1 and len(event.text) >= _WORTH_SHARING:
            event = event._replace(shared=SharedWords())
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

    def totals(self, channel: Channel | None = None, choice: int | None = None) -> tuple[int, int]:
        """Return the words and characters judged, over all lanes (of a channel, of a choice).

        A rule that tripped stopped there, so the lowest count of a lane's rules is used.
        """
        lanes: dict[Lane, tuple[int, int]] = {}
        for lane, rule in self:
            if channel in (None, lane.channel) and choice in (None, lane.choice):
                judged = rule.chars, rule.words
                lanes[lane] = min(judged, lanes.get(lane, judged))
        return sum(w for _, w in lanes.values()), sum(c for c, _ in lanes.values())

    def gauges(self) -> dict[str, Gauge]:
        """Return the gauge of each rule, by the rule's name.

        Of several lanes it is the one that is, or was, nearest to its ceiling.
        """
        gauges: dict[str, Gauge] = {}
        for _, rule in self:
            now, peak = (rule.gauge, rule.ceiling), rule.peak
            if peak.ceiling is None:
                peak = peak._replace(ceiling=rule.ceiling)
            if rule.name in gauges:
                value, ceiling, highest = gauges[rule.name]
                now = max((value, ceiling), now, key=lambda pair: share(*pair))
                peak = max(highest, peak, key=lambda p: share(p.value, p.ceiling or 0))
            gauges[rule.name] = Gauge(*now, peak)
        return gauges
