"""The knob combinations worth choosing between: those that no other one beats outright."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple, TypeVar


class Objectives(NamedTuple):
    """What a combination costs; less is better everywhere.

    missed: loops without an alarm.  false_alarms: alarms on clean replies.  delay: median detection
    delay, infinite where nothing was caught in time to measure one.  tightness: highest clean peak
    as a share of the ceiling, the reciprocal of the headroom.
    """

    missed: int
    false_alarms: int
    delay: float
    tightness: float


KeyT = TypeVar("KeyT")


def objectives(
    missed: int, false_alarms: int, delay: float | None, clean_peak: int | None, ceiling: int
) -> Objectives:
    """Objectives from figures that may be undefined (None).

    Without a clean reply nothing came near the ceiling.  Under a ceiling of 0 any peak is beyond
    it.

    >>> objectives(1, 0, None, 1500, 3000)
    Objectives(missed=1, false_alarms=0, delay=inf, tightness=0.5)
    """
    tightness = 0.0
    if clean_peak:
        tightness = clean_peak / ceiling if ceiling else inf
    return Objectives(missed, false_alarms, inf if delay is None else delay, tightness)


def has_headroom(clean_peak: int | None, ceiling: int, headroom: float) -> bool:
    """Whether every clean peak is at most ceiling / headroom.

    >>> has_headroom(1500, 3000, 2), has_headroom(1501, 3000, 2), has_headroom(None, 0, 2)
    (True, False, True)
    """
    return clean_peak is None or clean_peak * headroom <= ceiling


def dominates(one: Objectives, other: Objectives) -> bool:
    """Whether `one` is nowhere worse than `other`, and somewhere better.

    >>> one, other = Objectives(0, 1, 5.0, 0.5), Objectives(0, 1, 6.0, 0.5)
    >>> dominates(one, other), dominates(other, one), dominates(one, one)
    (True, False, False)
    """
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def front(candidates: Iterable[tuple[KeyT, Objectives]]) -> list[tuple[Objectives, list[KeyT]]]:
    """The Pareto front, best `missed` first; combinations with equal objectives stay together.

    Every candidate that none dominates is in the answer, keys in the order they came.
    """
    groups: dict[Objectives, list[KeyT]] = {}
    for key, cost in candidates:
        groups.setdefault(cost, []).append(key)
    kept: list[Objectives] = []
    # In this order nothing is dominated by what follows it, so the front so far is all to ask.
    for cost in sorted(groups):
        if not _dominated(cost, kept):
            kept.append(cost)
    return [(cost, groups[cost]) for cost in kept]


def _dominated(cost: Objectives, others: Sequence[Objectives]) -> bool:
    return any(dominates(other, cost) for other in others)
