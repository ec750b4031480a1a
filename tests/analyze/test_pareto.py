"""The Pareto front against a comparison of everything with everything."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from loopcli.analyze.sweep.pareto import Objectives, front, has_headroom, objectives

COSTS = st.builds(
    Objectives,
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([0.0, 1.5, 2.0, inf]),
    st.sampled_from([0.0, 0.25, 0.5, inf]),
)


@given(st.lists(COSTS, max_size=60))
def test_the_front_equals_brute_force(costs: list[Objectives]) -> None:
    def beaten(cost: Objectives) -> bool:
        return any(
            all(other[axis] <= cost[axis] for axis in range(4))
            and any(other[axis] < cost[axis] for axis in range(4))
            for other in costs
        )

    found = front(enumerate(costs))
    assert sorted(key for _, keys in found for key in keys) == [
        key for key, cost in enumerate(costs) if not beaten(cost)
    ]
    assert all(costs[key] == cost for cost, keys in found for key in keys)
    assert [cost for cost, _ in found] == sorted({cost for cost, _ in found})


@given(
    st.none() | st.integers(0, 40),
    st.integers(0, 40),
    st.sampled_from([1, 1.5, 2, 4]),
)
def test_headroom_is_what_it_says(peak: int | None, ceiling: int, headroom: float) -> None:
    expected = peak is None or peak <= ceiling / headroom
    assert has_headroom(peak, ceiling, headroom) == expected
    tightness = objectives(0, 0, None, peak, ceiling).tightness
    assert (tightness <= 1 / headroom + 1e-12) == expected


def test_undefined_figures_are_the_worst_delay_and_the_best_headroom() -> None:
    assert objectives(1, 2, None, None, 0) == (1, 2, inf, 0.0)
    assert objectives(1, 2, 0.0, 0, 0) == (1, 2, 0.0, 0.0)
    assert objectives(1, 2, 3.5, 1, 0) == (1, 2, 3.5, inf)
