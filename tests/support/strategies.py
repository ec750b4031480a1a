"""Texts, knobs and grids that hypothesis draws for more than one test."""

from __future__ import annotations

import random

import oracle
from hypothesis import strategies as st

from fixtures.shapes import prose
from loopcli.analyze.sweep.grid import Grid
from loopcli.rules.saturation.rule import SaturationRule


def axis(low: int, high: int, *more: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Some values of one knob, ascending."""
    value = st.one_of(st.integers(low, high), *[st.just(each) for each in more])
    return st.sets(value, min_size=1, max_size=3).map(lambda values: tuple(sorted(values)))


GRIDS = st.builds(
    Grid,
    axis(1, 12, 40, 2**64 - 1),
    axis(1, 5, 9, 2**32 - 1),
    axis(1, 4, 9, 2**64 - 1),
    axis(0, 8, 30, 2**64 - 1),
    axis(0, 40, 130, 300, 2**64 - 1),
)
SPACES = st.sampled_from([" ", "\n", "  ", "\t \n", "\u2003", "\u0085", "\x1c", "\ufeff"])
WORDS = st.sampled_from(["a", "b", "c", "dd", "日", "🧱", "\ud800"])
RUNS = st.builds(
    lambda unit, times: unit * times,
    st.sampled_from(["x", "ab", "xyz"]),
    st.sampled_from([1, 42, 63, 64, 127, 128, 129, 256, 300, 640]),
)
CYCLES = st.builds(
    lambda words, times, space: (space.join(words) + space) * times,
    st.lists(WORDS, min_size=1, max_size=4),
    st.integers(1, 20),
    SPACES,
)
TEXTS = st.lists(st.one_of(WORDS, SPACES, CYCLES, RUNS), max_size=40).map("".join)


@st.composite
def loopy(draw: st.DrawFn) -> str:
    """Prose, exact and damaged repetition of units of any kind, one after another."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        alphabet = draw(
            st.sampled_from(["ab", "ab ", "a", "0, ", "-|\n ", "abcdefgh jk\n", "木门 "])
        )
        size = draw(st.sampled_from([1, 2, 3, 7, 31, 64, 65, 128, 256, 300, 512, 1024]))
        unit = "".join(rng.choice(alphabet) for _ in range(size))
        body = list((unit * 3000)[: draw(st.integers(0, 4000))])
        for _ in range(draw(st.sampled_from([0, 0, 1, 5, 40])) if body else 0):
            spot = rng.randrange(len(body))
            body[spot] = rng.choice(["", "x", "xy ", "7"])
        parts += [prose(rng, draw(st.integers(0, 60))), "".join(body)]
        if draw(st.booleans()):
            parts.append(_counter(rng, draw(st.integers(0, 120))))
    return "".join(parts)


def _counter(rng: random.Random, copies: int) -> str:
    """A loop that counts: its numbers change, and now and then gain or lose a digit."""
    first, step, odd = rng.choice([7, 93, 990]), rng.choice([1, 17]), rng.random() < 0.5
    written = []
    for number in range(first, first + copies * step, step):
        other = rng.randrange(10_000) if odd else number * number
        written.append(f"For n = {number}, d = {other}. ")
    return "".join(written)


SEPARATORS = [" ", "\n", "\t", "\x1c", "\x1f", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff", ""]
ATOMS = ["a", "b", "c", "ab", "0,", "é", "日本", "🧱", "\ud83d", "x" * 126, "y" * 128, "z" * 300]


@st.composite
def _repetitive(draw: st.DrawFn) -> str:
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


REPETITIVE = _repetitive()

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
