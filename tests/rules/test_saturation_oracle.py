"""The saturation rule, both paths of it, against the slow oracle."""

from __future__ import annotations

import oracle
from helpers import cut, run_rule, text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KNOBS, REPETITIVE, SIZES, assert_equal

from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule


@settings(max_examples=300)
@given(text=REPETITIVE, knobs=KNOBS, sizes=SIZES)
def test_every_chunking_gives_the_oracles_answer(
    text: str, knobs: dict[str, int], sizes: list[int]
) -> None:
    config = SaturationConfig(**knobs)
    assert_equal(run_rule(text, config, cut(text, sizes)), oracle.judge(text, **knobs))


@settings(max_examples=300)
@given(text=REPETITIVE, knobs=KNOBS, sizes=SIZES)
def test_measuring_past_the_trip_gives_the_oracles_peak(
    text: str, knobs: dict[str, int], sizes: list[int]
) -> None:
    rule = run_rule(text, SaturationConfig(**knobs), cut(text, sizes), past=True)
    want = oracle.judge(text, **knobs, past_trip=True)
    assert_equal(rule, want)
    assert (rule.words, rule.chars) == (want.total_words, want.total_chars)


@settings(max_examples=150)
@given(text=REPETITIVE, knobs=KNOBS, sizes=SIZES, at=st.integers(0, 2000), past=st.booleans())
def test_a_restored_snapshot_continues_identically(
    text: str, knobs: dict[str, int], sizes: list[int], at: int, past: bool
) -> None:
    config = SaturationConfig(**knobs)
    first = run_rule(text[:at], config, cut(text[:at], sizes), past=past)
    second = SaturationRule(config, past_trip=past)
    second.restore(first.snapshot())
    for rule in (first, second):
        rule.update(text_event(text[at:]))
    assert first.snapshot() == second.snapshot()
