"""The figures against their definitions and against published values."""

from __future__ import annotations

from math import isclose, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcli.analyze.scoring import Z_95, Estimate, Score, ScoredReply, per_exposure, score, wilson


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    # R. G. Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_intervals(hits: int, trials: int, low: float, high: float) -> None:
    found = wilson(hits, trials)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_bounds_solve_the_score_equation(case: tuple[int, int]) -> None:
    hits, trials = case
    found = wilson(hits, trials)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    for bound in (found.low, found.high):
        distance = Z_95 * sqrt(bound * (1 - bound) / trials)
        assert isclose(abs(found.value - bound), distance, rel_tol=1e-6, abs_tol=1e-12)


@given(st.integers(0, 1000))
def test_a_rate_of_rare_events_is_a_share_of_very_many_trials(events: int) -> None:
    rate, share = per_exposure(events, 10**12, 1e6), wilson(events, 10**12, 1e6)
    assert rate is not None
    assert share is not None
    assert all(isclose(one, other, rel_tol=1e-6) for one, other in zip(rate, share, strict=True))


def test_more_alarms_than_words() -> None:
    rate = score([ScoredReply(False, 1, 9), ScoredReply(False, 0, 9)]).false_per_million_words
    assert rate is not None
    assert rate.value == 2_000_000


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="3 hits in 2 trials"):
        wilson(3, 2)


def test_nothing_labelled_leaves_every_figure_undefined() -> None:
    assert score([]) == Score(None, None, None, None)


def test_one_kind_of_label_leaves_the_other_figures_undefined() -> None:
    loops = score([ScoredReply(True, 500, None), ScoredReply(True, 500, 90, None)])
    assert loops.recall == wilson(1, 2)
    assert loops.false_per_1000_replies is None
    assert loops.false_per_million_words is None
    assert loops.delay is None
    clean = score([ScoredReply(False, 0, None)])
    assert clean.recall is None
    assert clean.false_per_1000_replies == wilson(0, 1, 1000)
    assert clean.false_per_million_words is None


def test_a_mixture() -> None:
    found = score(
        [
            ScoredReply(True, 900, 400, 100),
            ScoredReply(True, 900, 250, 50),
            ScoredReply(True, 900, 80, 100),  # before the episode: a miss, not a negative delay
            ScoredReply(True, 900, None, 100),
            ScoredReply(True, 900, 70),  # caught, onset unknown
            ScoredReply(False, 1500, None),
            ScoredReply(False, 500, 300),
        ]
    )
    assert found.recall == wilson(3, 5)
    assert found.false_per_1000_replies is not None
    assert found.false_per_1000_replies.value == 500
    assert isinstance(found.false_per_million_words, Estimate)
    assert found.false_per_million_words.value == 500
    assert found.delay == 250.0
