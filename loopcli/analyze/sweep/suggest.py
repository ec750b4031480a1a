"""From a swept grid to the combinations that are worth arming."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2
from typing import NamedTuple

from loopcli.analyze.sweep.pareto import Objectives, front, has_headroom, objectives
from loopcli.analyze.sweep.rows import SweepRow
from loopcli.rules.base import RuleConfig


class Suggestion(NamedTuple):
    """A point of the front.

    row: the combination nearest to the knobs in use.  alike: all that cost exactly the same.
    """

    cost: Objectives
    row: SweepRow
    alike: list[SweepRow]


def suggest(
    rows: Iterable[SweepRow], loops: int, headroom: float, now: RuleConfig
) -> list[Suggestion]:
    """The Pareto front of the combinations that leave the headroom; fewest missed loops first.

    Whatever beats a combination that leaves the headroom leaves it, too, so it does not matter
    that the others are dropped first.
    """
    candidates = (
        (row, _cost(row, loops))
        for row in rows
        if has_headroom(row.clean_peak, row.clean_ceiling or 0, headroom)
    )
    return [
        Suggestion(
            cost, min(alike, key=lambda row: (_distance(row.knobs, now), tuple(row.knobs))), alike
        )
        for cost, alike in front(candidates)
    ]


def _cost(row: SweepRow, loops: int) -> Objectives:
    delay, ceiling = row.score.delay, row.clean_ceiling or 0
    return objectives(loops - row.caught, row.clean_trips, delay, row.clean_peak, ceiling)


def _distance(one: RuleConfig, other: RuleConfig) -> float:
    """How many doublings lie between two combinations, over all knobs."""
    return sum(abs(log2((a + 1) / (b + 1))) for a, b in zip(one, other, strict=True))
