"""The saturation rule, both paths of it, against the slow oracle."""

from __future__ import annotations

import oracle
from helpers import cut, run_rule, text_event
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcli.rules.saturation.rule import SaturationConfig, SaturationRule

SEPARATORS = [" ", "\n", "\t", "\x1c", "\x1f", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff", ""]
ATOMS = ["a", "b", "c", "ab", "0,", "é", "日本", "🧱", "\ud83d", "x" * 126, "y" * 128, "z" * 300]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Repetitive texts with rare words, odd separators and long runs in between."""
    phrases = draw(
        st.lists(
            st.tuples(
                st.lists(
                    st.tuples(st.sampled_from(ATOMS), st.sampled_from(SEPARATORS)),
                    min_size=1,
                    max_size=5,
                ),
                st.integers(1, 60),
            ),
            max_size=6,
        )
    )
    blocks = ["".join(map("".join, pairs)) * times for pairs, times in phrases]
    return draw(st.text(max_size=20)) + "".join(blocks) + draw(st.text(max_size=20))


KNOBS = st.fixed_dictionaries(
    {
        "window_words": st.one_of(st.integers(1, 12), st.integers(1, 300)),
        "repeat_threshold": st.integers(1, 8),
        "min_offenders": st.integers(1, 4),
        "min_saturated_run": st.integers(0, 60),
        "max_response_chars": st.one_of(st.just(0), st.integers(1, 400)),
    }
)
SIZES = st.one_of(st.just([1] * 100_000), st.just([]), st.lists(st.integers(0, 200), max_size=200))


def assert_equal(rule: SaturationRule, want: oracle.Outcome) -> None:
    verdict, peak = rule.verdict, rule.peak
    assert (verdict and verdict.kind) == want.kind
    assert (peak.value, peak.word, peak.char) == (want.peak, want.peak_word, want.peak_char)
    assert peak.repeated == want.peak_repeated
    if verdict is None:
        assert (rule.words, rule.chars) == (want.words, want.chars)
        return
    assert (verdict.words, verdict.chars) == (want.words, want.chars)
    assert (verdict.onset_word, verdict.onset_char) == (want.onset_word, want.onset_char)
    if verdict.kind == "repetition":
        assert verdict.facts == {"offenders": want.offenders, "run": want.run}
        assert verdict.repeated == want.repeated


@settings(max_examples=300, deadline=None)
@given(text=texts(), knobs=KNOBS, sizes=SIZES)
def test_every_chunking_gives_the_oracles_answer(
    text: str, knobs: dict[str, int], sizes: list[int]
) -> None:
    config = SaturationConfig(**knobs)
    assert_equal(run_rule(text, config, cut(text, sizes)), oracle.judge(text, **knobs))


@settings(max_examples=300, deadline=None)
@given(text=texts(), knobs=KNOBS, sizes=SIZES)
def test_measuring_past_the_trip_gives_the_oracles_peak(
    text: str, knobs: dict[str, int], sizes: list[int]
) -> None:
    rule = run_rule(text, SaturationConfig(**knobs), cut(text, sizes), past=True)
    want = oracle.judge(text, **knobs, past_trip=True)
    assert_equal(rule, want)
    assert (rule.words, rule.chars) == (want.total_words, want.total_chars)


@settings(max_examples=150, deadline=None)
@given(text=texts(), knobs=KNOBS, sizes=SIZES, at=st.integers(0, 2000), past=st.booleans())
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
