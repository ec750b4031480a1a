"""Several rules over all lanes of a reply, as one object.

A stream brings a few characters at a time, and no rule can fire within the next few: each
states how many (``Rule.quiet``). Deltas wait until the lane has more than the smallest of
these numbers, and all rules judge them as one text. The verdict is the same, because a rule's
answer does not depend on how a text is cut, and it comes with the same delta, because no
delta that waits can bring one. Whoever asks what was measured has the deltas judged first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loopcli.events import Channel, Event, EventMarks, Lane, Restart, SharedWords, Text
from loopcli.rules.base import Armed, Rule
from loopcli.session_events import RoundEnd, RoundRestart
from loopcli.verdicts import Peak, Verdict, share

# A reply has a handful of lanes, and APIs allow 128 choices. A stream that opens this
# many is hostile: a lane takes 60 KB, and three times as much where it holds emoji.
MAX_LANES = 512
# Characters from which on sharing the words of a text is worth an object. Of shorter
# texts the rules that only count words join many before they split.
_WORTH_SHARING = 1024
# Characters of deltas that wait to be judged at most: the rules split and search this many
# at nearly the speed of a whole reply, and a lane that waits holds no more.
_MAX_WAITING = 4096


class Gauge(NamedTuple):
    """What a rule measures now, the ceiling that applies to it, and the highest so far."""

    value: int
    ceiling: int
    peak: Peak


class _LaneRules:
    """The rules of one lane, and its deltas that wait; none of them can make a rule fire."""

    __slots__ = ("lane", "quiet", "rules", "size", "waiting")

    def __init__(self, lane: Lane, rules: list[Rule]) -> None:
        self.lane = lane
        self.rules = rules
        self.waiting: list[str] = []
        self.size = 0
        self.measure()

    def measure(self) -> None:
        """Ask the rules how many characters may wait."""
        self.quiet = min(_MAX_WAITING, *map(_quiet, self.rules))

    def take(self, text: str) -> str:
        """Return what waits with ``text`` behind it; nothing waits any more."""
        if self.waiting:
            text = "".join((*self.waiting, text))
            self.waiting.clear()
            self.size = 0
        return text

    def settle(self) -> list[Rule]:
        """Have the rules judge what waits, and return them."""
        if self.waiting:
            event = Text(self.lane, self.take(""), EventMarks((), ()))
            for rule in self.rules:
                rule.update(event)
            self.measure()
        return self.rules


class Detector:
    """Gives each lane rules of its own, so that no lane is diluted by another.

    In a session every reply is judged by itself: when a round ends, the lanes of
    its agent are closed, and only their totals and peaks are kept.
    """

    def __init__(self, armed: Sequence[Armed], *, max_lanes: int = MAX_LANES) -> None:
        self._armed = armed
        self._max_lanes = max_lanes
        self._lanes: dict[Lane, _LaneRules] = {}
        self._closed_totals: dict[tuple[Channel, int], tuple[int, int]] = {}
        self._closed_gauges: dict[str, Gauge] = {}
        # Set once a lane had to be left unjudged.
        self.overflowed = False

    def update(self, event: Event) -> list[Verdict]:
        """Judge one event; return the verdicts that are new, in the order they fired.

        On the same character the rule that was armed first comes first. Where a
        rule has stopped at its verdict, the others are not shown the rest of that
        event: what they have measured is then the same however the text was cut.
        Those that had seen it already are set back.
        """
        if not isinstance(event, Text):
            if isinstance(event, Restart):
                self._lanes.clear()  # a fresh object per attempt
            elif isinstance(event, RoundEnd | RoundRestart):
                self._close(event.agent)
            return []
        lane = self._lanes.get(event.lane) or self._open(event.lane)
        if lane is None:
            return []
        waited, size = lane.size, lane.size + len(event.text)
        if size <= lane.quiet:
            lane.waiting.append(event.text)
            lane.size = size
            return []
        if waited:
            event = event._replace(text=lane.take(event.text))
        verdicts = self._judge(lane.rules, event)
        lane.measure()
        return [verdict._replace(offset=verdict.offset - waited) for verdict in verdicts]

    def _judge(self, rules: list[Rule], event: Text) -> list[Verdict]:
        """Return the new verdicts on a text; their offsets are places in it."""
        if len(rules) > 1 and len(event.text) >= _WORTH_SHARING:
            event = event._replace(shared=SharedWords())
        size = len(event.text)
        may = any(_quiet(rule) < size for rule in rules[:-1])
        saved = [rule.snapshot() for rule in rules[1:]] if may else []
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
                    for other in range(place + 1, len(rules)):
                        rules[other].restore(saved[other - 1])
                        rules[other].update(event)
        if not fresh:
            return []
        # A rule that was set back has no verdict any more.
        return [verdict for _, place, verdict in sorted(fresh) if rules[place].verdict is not None]

    def _open(self, lane: Lane) -> _LaneRules | None:
        rules = [armed.make() for armed in self._armed if lane.channel in armed.channels]
        if not rules:
            return None
        if len(self._lanes) >= self._max_lanes:
            self.overflowed = True
            return None
        return self._lanes.setdefault(lane, _LaneRules(lane, rules))

    def watches(self, channel: Channel) -> bool:
        """Return whether any rule judges what stands in a channel."""
        return any(channel in armed.channels for armed in self._armed)

    def _close(self, agent: str) -> None:
        """Close the lanes of an agent's reply."""
        for lane in [lane for lane in self._lanes if lane.agent == agent]:
            rules = self._lanes.pop(lane).settle()
            for rule in rules:
                _add_gauge(self._closed_gauges, rule, 0)
            part = lane.channel, lane.choice
            words, chars = self._closed_totals.get(part, (0, 0))
            more = _judged(rules)
            self._closed_totals[part] = words + more[0], chars + more[1]

    def __iter__(self) -> Iterator[tuple[Lane, Rule]]:
        for lane, its in self._lanes.items():
            for rule in its.settle():
                yield lane, rule

    def totals(self, channel: Channel | None = None, choice: int | None = None) -> tuple[int, int]:
        """Return the words and characters judged, over all lanes (of a channel, of a choice)."""
        parts = [*self._closed_totals.items()]
        parts += [
            ((lane.channel, lane.choice), _judged(its.settle()))
            for lane, its in self._lanes.items()
        ]
        judged = [
            counts
            for (its_channel, its_choice), counts in parts
            if channel in (None, its_channel) and choice in (None, its_choice)
        ]
        return sum(words for words, _ in judged), sum(chars for _, chars in judged)

    def gauges(self) -> dict[str, Gauge]:
        """Return the gauge of each rule, by the rule's name.

        Of several lanes it is the one that is, or was, nearest to its ceiling.
        """
        gauges = dict(self._closed_gauges)
        for _, rule in self:
            _add_gauge(gauges, rule, rule.gauge)
        return gauges


def _quiet(rule: Rule) -> int:
    """Return the characters that may wait for a rule; one that does not say sees each delta."""
    quiet: int = getattr(rule, "quiet", 0)
    return quiet


def _judged(rules: Sequence[Rule]) -> tuple[int, int]:
    """Return the words and characters of a lane that were judged.

    A rule that tripped stopped there, so the lowest count of a lane's rules is used.
    """
    chars, words = min((rule.chars, rule.words) for rule in rules)
    return words, chars


def _add_gauge(gauges: dict[str, Gauge], rule: Rule, value: int) -> None:
    """Take a rule into account that measures ``value`` now."""
    now, peak = (value, rule.ceiling), rule.peak
    if peak.ceiling is None:
        peak = peak._replace(ceiling=rule.ceiling)
    if rule.name in gauges:
        *other, highest = gauges[rule.name]
        now = max((other[0], other[1]), now, key=lambda pair: share(*pair))
        peak = max(highest, peak, key=lambda p: share(p.value, p.ceiling or 0))
    gauges[rule.name] = Gauge(*now, peak)
