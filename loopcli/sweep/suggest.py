"""From a swept grid to the combinations that are worth arming."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from loopcli.sweep.grid import Knobs
from loopcli.sweep.pareto import Objectives, front, has_headroom, objectives

if TYPE_CHECKING:
    from loopcli.sweep.tally import Row

ITEMS = (
    "window-words=64,128,256,512,1024,2048",
    "repeat-threshold=3,4,6,8,12,16,24,32,48,64,96,128",
    "min-offenders=1:4:1",
    "min-saturated-run=50,100,150,200,300,400,600,800,1000,1500,2000,3000",
)
"""What `--suggest` sweeps by itself: 3,456 combinations, the document's figures among them."""


class Suggestion(NamedTuple):
    """A point of the front.

    row: the combination nearest to the knobs in use.  alike: all that cost exactly the same.
    """

    cost: Objectives
    row: Row
    alike: list[Row]


def suggest(rows: Iterable[Row], loops: int, headroom: float, now: Knobs) -> list[Suggestion]:
    """The Pareto front of the combinations that leave the headroom; fewest missed loops first.

    Whatever beats a combination that leaves the headroom leaves it, too, so it does not matter
    that the others are dropped first.
    """
    candidates = (
        (row, _cost(row, loops))
        for row in rows
        if has_headroom(row.clean_peak, row.knobs.min_saturated_run, headroom)
    )
    return [
        Suggestion(cost, min(alike, key=lambda row: (_distance(row.knobs, now), row.knobs)), alike)
        for cost, alike in front(candidates)
    ]


def _cost(row: Row, loops: int) -> Objectives:
    ceiling = row.knobs.min_saturated_run
    delay = row.score.delay
    return objectives(loops - row.caught, row.clean_trips, delay, row.clean_peak, ceiling)


def _distance(one: Knobs, other: Knobs) -> float:
    """How many doublings lie between two combinations, over all knobs."""
    return sum(abs(log2((a + 1) / (b + 1))) for a, b in zip(one, other, strict=True))
