"""From a swept grid to the combinations that are worth arming."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2
from typing import NamedTuple

from loopcli.analyze.sweep.pareto import Objectives, front, has_headroom, objectives
from loopcli.analyze.sweep.rows import Combination, SweepRow

ITEMS = {
    "saturation": (
        "window-words=64,128,256,512,1024,2048",
        "repeat-threshold=3,4,6,8,12,16,24,32,48,64,96,128",
        "min-offenders=1:4:1",
        "min-saturated-run=50,100,150,200,300,400,600,800,1000,1500,2000,3000",
    ),
    # The ceilings of tables and data are far from any reply, and are left where they are.
    "period": (
        "period-letters=160,240,320,480,640,960,1280",
        "period-signs=300,600,1200,2400",
        "period-art=1200,2400,4800",
        "period-counter=1000,2000,4000,8000",
        "period-copies=1,2,3",
    ),
    "novelty": (
        "novelty-words=50,100,150,200,300,400,600,800,1000,1500,2000,3000",
        "novelty-seen=1:5:1",
    ),
}
"""What `--suggest` sweeps by itself, the defaults among it: 3,456, 1,008 and 60 combinations."""


class Suggestion(NamedTuple):
    """A point of the front.

    row: the combination nearest to the knobs in use.  alike: all that cost exactly the same.
    """

    cost: Objectives
    row: SweepRow
    alike: list[SweepRow]


def suggest(
    rows: Iterable[SweepRow], loops: int, headroom: float, now: Combination
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
        Suggestion(cost, min(alike, key=lambda row: (_distance(row.knobs, now), row.knobs)), alike)
        for cost, alike in front(candidates)
    ]


def _cost(row: SweepRow, loops: int) -> Objectives:
    delay, ceiling = row.score.delay, row.clean_ceiling or 0
    return objectives(loops - row.caught, row.clean_trips, delay, row.clean_peak, ceiling)


def _distance(one: Combination, other: Combination) -> float:
    """How many doublings lie between two combinations, over all knobs."""
    return sum(abs(log2((a + 1) / (b + 1))) for a, b in zip(one, other, strict=True))
