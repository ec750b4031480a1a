"""The gauge of each rule over the length of one reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loopcli.analyze.replay import NO_MARKS, Lanes
from loopcli.events import Lane, SharedWords, Text
from loopcli.rules.base import Armed, Rule
from loopcli.verdicts import Peak, Verdict

# How many points of a gauge are kept at most; a chart has far fewer columns.
_MOST_POINTS = 4096


class Point(NamedTuple):
    """The highest gauge since the point before, and the words that had been read by then."""

    words: int
    gauge: int


class Trace(NamedTuple):
    """One rule over one lane."""

    rule: str
    lane: Lane
    words: int
    chars: int
    ceiling: int
    points: Sequence[Point]
    peak: Peak
    verdict: Verdict | None


def trace(lanes: Lanes, armed: Sequence[Armed]) -> list[Trace]:
    """Return a trace for each armed rule: of the lane in which its peak is highest."""
    highest: dict[int, Trace] = {}
    for lane, pieces in lanes:
        watching = [at for at, arm in enumerate(armed) if lane.channel in arm.channels]
        rules = [armed[at].make() for at in watching]
        points = _points(lane, pieces, rules) if rules else []
        for at, rule, line in zip(watching, rules, points, strict=True):
            if at not in highest or rule.peak.value > highest[at].peak.value:
                highest[at] = Trace(
                    rule=rule.name,
                    lane=lane,
                    words=rule.words,
                    chars=rule.chars,
                    ceiling=rule.ceiling,
                    points=line,
                    peak=rule.peak,
                    verdict=rule.verdict,
                )
    return [highest[at] for at in sorted(highest)]


def _points(lane: Lane, pieces: Iterable[str], rules: Sequence[Rule]) -> list[list[Point]]:
    """Feed a lane to rules in steps, which grow with it; return the gauges after each step."""
    points: list[list[Point]] = [[] for _ in rules]
    step, taken = 1, 0
    for piece in pieces:
        at = 0
        while at < len(piece):
            # Never across the end of a step: where a piece ends is to show nowhere.
            size = step - taken % step
            part = piece[at : at + size]
            at += len(part)
            taken += len(part)
            event = Text(lane, part, NO_MARKS, SharedWords())
            for rule, line in zip(rules, points, strict=True):
                rule.update(event)
                line.append(Point(rule.words, rule.gauge))
            if len(points[0]) > _MOST_POINTS:
                points = list(map(_halved, points))
                step *= 2
    return points


def _halved(points: Sequence[Point]) -> list[Point]:
    pairs = [points[at : at + 2] for at in range(0, len(points), 2)]
    return [Point(pair[-1].words, max(point.gauge for point in pair)) for pair in pairs]
