"""The period rule: what stays quiet, what is found, where, and that cutting never matters."""

from __future__ import annotations

import json
import random
import re
import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers import judged, text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import PROSE, QUIET, YES
from strategies import loopy

from fixtures.shapes import Shape, bag, code_block, prose, shapes
from loopcli.rules.period import mending, probes, tail, track
from loopcli.rules.period.config import REACH, PeriodConfig, UnitKind
from loopcli.rules.period.kinds import kind_of
from loopcli.rules.period.rule import PeriodRule
from loopcli.verdicts import Region, Verdict

CONFIG = PeriodConfig()
SHAPES = shapes(seed=1)
RNG = random.Random(11)
STDLIB = Path(sysconfig.get_paths()["stdlib"])


def whole(text: str, config: PeriodConfig = CONFIG) -> Verdict | None:
    return judged(text, PeriodRule(config))[0]


def unit_length(verdict: Verdict) -> int:
    return int(verdict.facts["period"])


def longest(text: str, most: int) -> tuple[int, int, int]:
    """By brute force: onset, copied characters and period of the longest periodic stretch."""
    best = (0, 0, 0)
    for period in range(1, most + 1):
        run = 0
        for at in range(period, len(text)):
            run = run + 1 if text[at] == text[at - period] else 0
            if run + period > sum(best[1:]) and run >= period:
                best = (at + 1 - run - period, run, period)
    return best


@pytest.mark.parametrize("name", QUIET)
def test_quiet(name: str) -> None:
    assert whole(QUIET[name]) is None


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.want == "no"], ids=lambda s: s.name)
def test_quiet_shapes(shape: Shape) -> None:
    assert whole(shape.text) is None


def test_quiet_standard_library_top() -> None:
    """`python measure.py --stdlib` says the same of all of it, and how near it comes."""
    for path in sorted(STDLIB.glob("*.py"))[::4]:
        assert whole(path.read_text("utf-8")) is None, path.name


@pytest.mark.parametrize("name", YES)
def test_loud_yes(name: str) -> None:
    lead, unit, times = YES[name]
    verdict = whole(lead + unit * times)
    assert verdict is not None
    assert verdict.chars - len(lead) <= max(8000, 3 * len(unit))
    assert unit_length(verdict) == len(unit)
    assert len(unit) > 200 or sorted(verdict.repeated[0]) == sorted(unit)
    assert abs(verdict.onset_char - len(lead)) <= 2


EARLY = [s for s in SHAPES if s.want == "early"]


@pytest.mark.parametrize("shape", EARLY, ids=lambda s: s.name)
def test_loud_shapes_early(shape: Shape) -> None:
    verdict = whole(shape.text)
    assert verdict is not None
    assert verdict.chars - shape.onset <= max(2000, 3 * shape.period)
    if "A37" not in shape.name and "A55" not in shape.name:
        assert len(verdict.repeated[0]) == min(unit_length(verdict), 200)
        assert shape.onset - 5 <= verdict.onset_char <= shape.onset


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.want == "late"], ids=lambda s: s.name)
def test_late_shapes_are_not_early(shape: Shape) -> None:
    verdict = whole(shape.text)
    assert verdict is None or verdict.chars - shape.onset > 2000


@pytest.mark.parametrize("name", ["M Case 59", "M both numbers", "A32 numbered steps"])
def test_counters_are_found_late(name: str) -> None:
    shape = next(s for s in SHAPES if s.name == name)
    verdict = whole(shape.text)
    assert verdict is not None
    assert verdict.facts["unit_kind"] == "counter"
    assert any(map(str.isdigit, verdict.repeated[0].replace("0", "")))


@pytest.mark.parametrize("name", ["B75 syllables", "B75 blank template"])
def test_known_limits_and_the_knob_that_raises_them(name: str) -> None:
    text = next(s for s in SHAPES if s.name == name).text
    assert whole(text) is not None
    assert whole(text, CONFIG._replace(period_letters=8000)) is None


@pytest.mark.parametrize(
    ("knob", "unit", "kind"),
    [
        ("period_letters", "so it goes, ", "letters"),
        ("period_signs", "?!", "signs"),
        ("period_art", "|  |\n|__|\n", "art"),
        ("period_table", "| a |\n", "table"),
        ("period_data", "0, ", "data"),
    ],
)
def test_each_kind_has_a_ceiling_that_can_be_set(knob: str, unit: str, kind: str) -> None:
    default = getattr(CONFIG, knob)
    for ceiling in (500, default, default * 2):
        verdict = whole(PROSE + unit * 60_000, CONFIG._replace(**{knob: ceiling}))
        assert verdict is not None
        assert verdict.facts["unit_kind"] == kind
        assert verdict.ceiling == max(ceiling, 150 * len(unit) if kind in ("art", "table") else 0)
    counted = "".join(f"Gate {n} is open, so go on. " for n in range(10, 3000))
    fewer = whole(counted, CONFIG._replace(period_counter=2000))
    assert fewer is not None
    assert fewer.ceiling == 2000


def test_copies_can_be_asked_for() -> None:
    unit = prose(random.Random(4), 200)
    for copies in (2, 3, 5):
        verdict = whole(unit * 8, CONFIG._replace(period_copies=copies))
        assert verdict is not None
        assert verdict.gauge == copies * len(unit)
        assert verdict.facts["copies"] == copies + 1


def test_the_verdict_says_what_repeats_and_where() -> None:
    verdict = whole(PROSE + "mend the gate, " * 99)
    assert verdict is not None
    onset = verdict.onset_char
    assert onset is not None
    assert verdict.message == (
        f"15 characters repeated 43 times, {onset + 655} characters into the reply"
    )
    text = PROSE + "mend the gate, " * 99
    assert verdict.facts == {
        "unit": "mend the gate, ",
        "unit_kind": "letters",
        "period": 15,
        "copies": 43,
        "good_chars": onset + 15,
    }
    assert verdict.words == len(text[: verdict.chars].split()) - (
        not text[verdict.chars - 1].isspace()
    )
    counted = whole("".join(f"Gate {n} is open, so go on. " for n in range(100, 999)))
    assert counted is not None
    assert "repeated 143 times (but for digits)" in counted.message
    assert re.fullmatch(r".*Gate \d\d\d.*", counted.repeated[0] * 2)


def test_a_unit_is_shown_from_the_beginning_of_a_line_or_a_word() -> None:
    for unit in ("mend the gate, ", "void 0;\n", "one\n  two\n", "?!", " ", "wood", "over"):
        for lead in range(len(unit)):
            verdict = whole(unit[lead:] + unit * 1300)
            assert verdict is not None
            shown = verdict.repeated[0]
            assert shown in {unit[at:] + unit[:at] for at in range(len(unit))}
            mark = "\n" if "\n" in unit else " "
            assert mark not in unit or shown.endswith(mark)


def test_a_long_unit_is_shortened() -> None:
    verdict = whole(code_block(92) * 4)
    assert verdict is not None
    assert len(verdict.repeated[0]) == 200
    assert verdict.repeated[0].endswith("…")
    assert verdict.facts["unit"] == verdict.repeated[0]


def regions(text: str, sizes: list[int] | None = None) -> list[Region]:
    rule = PeriodRule(CONFIG, past_trip=True)
    judged(text, rule, sizes)
    return rule.regions


def test_regions_are_the_repetitions_that_reached_their_ceiling() -> None:
    form = "Name: ________\nDate: ________\n"
    first, second = "la " * 400, form * 40
    text = PROSE + first + PROSE + second + PROSE + "no " * 100 + PROSE
    found = regions(text)
    assert [(r.kind, r.period, r.ceiling) for r in found] == [
        ("letters", 3, 640),
        ("letters", 30, 640),
    ]
    assert [sorted(r.unit) for r in found] == [sorted("la "), sorted(form)]
    starts = len(PROSE), len(PROSE) * 2 + len(first)
    for region, start, body in zip(found, starts, (first, second), strict=True):
        assert abs(region.onset_char - start) <= 2
        assert abs(region.end_char - start - len(body)) <= 2
        assert region.copies >= len(body) // region.period - 1
    assert regions(text, [1]) == regions(text, [100]) == found
    rule = PeriodRule(CONFIG, past_trip=True)
    rule.update(text_event(text[:3000]))
    again = PeriodRule(CONFIG, past_trip=True)
    again.restore(json.loads(json.dumps(rule.snapshot())))
    again.update(text_event(text[3000:]))
    assert again.regions == found


def test_regions_that_are_one_within_another_are_one() -> None:
    text = PROSE + ("so it goes, " * 20 + "and on.\n") * 30 + PROSE
    (found,) = regions(text)
    assert found.end_char - found.onset_char > 7000
    assert regions(PROSE) == []


@pytest.mark.parametrize("shape", EARLY, ids=lambda s: s.name)
def test_cutting_shapes(shape: Shape) -> None:
    text = shape.text[:12_500]
    want = judged(text, PeriodRule(CONFIG))
    sizes = [random.Random(shape.name).randint(1, 900) for _ in range(9)]
    for pieces in ([1], [4096], sizes):
        assert judged(text, PeriodRule(CONFIG), pieces) == want


@settings(max_examples=150)
@given(loopy(), st.lists(st.integers(1, 1500), min_size=1, max_size=6), st.booleans())
def test_cutting_anything(text: str, sizes: list[int], past: bool) -> None:
    want = judged(text, PeriodRule(CONFIG, past_trip=past))
    assert judged(text, PeriodRule(CONFIG, past_trip=past), sizes) == want
    assert judged(text, PeriodRule(CONFIG, past_trip=past), [1]) == want


def test_the_unit_of_a_counter_that_gains_a_digit_does_not_depend_on_the_cut() -> None:
    text = "".join(f"For n = {n}, d = {2 * n * n + n}. " for n in range(8, 400))
    want = judged(text, PeriodRule(CONFIG))
    assert want[0] is not None
    assert want[0].facts["unit"] == "For n = 197, d = 77815. "
    for size in range(200, 1500, 61):
        assert judged(text, PeriodRule(CONFIG), [size]) == want


@settings(max_examples=60)
@given(loopy(), st.data())
def test_snapshot_continues(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    first = PeriodRule(CONFIG)
    first.update(text_event(text[:at]))
    state = json.loads(json.dumps(first.snapshot()))
    second = PeriodRule(CONFIG)
    second.restore(state)
    assert second.snapshot() == state
    assert first.update(text_event(text[at:])) == second.update(text_event(text[at:]))
    assert first.snapshot() == second.snapshot()
    assert first.peak == second.peak == judged(text, PeriodRule(CONFIG))[1]
    assert (first.verdict is None) == (whole(text) is None)


def test_asking_changes_nothing() -> None:
    text = PROSE + "over the bridge " * 200 + PROSE
    asked, silent = PeriodRule(CONFIG, past_trip=True), PeriodRule(CONFIG, past_trip=True)
    for char in text:
        asked.update(text_event(char))
        silent.update(text_event(char))
        assert asked.gauge <= asked.chars
        assert asked.words <= asked.chars
        assert asked.peak == asked.peak
    assert asked.snapshot() == silent.snapshot()


@settings(max_examples=40)
@given(
    st.integers(0, 300),
    st.sampled_from([1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200]),
    st.integers(0, 10**6),
)
def test_position_and_onset_against_brute_force(words: int, period: int, seed: int) -> None:
    rng = random.Random(seed)
    unit = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz     ") for _ in range(period - 1)) + "é"
    text = prose(rng, words % 60) + (unit * 2000)[:2000]
    onset, copied, shortest = longest(text, 200)
    verdict = whole(text)
    assert verdict is not None
    assert (verdict.facts["period"], verdict.onset_char) == (shortest, onset)
    assert (
        verdict.ceiling == CONFIG.ceiling(kind_of(verdict.repeated[0]), shortest) == verdict.gauge
    )
    assert verdict.chars == onset + shortest + verdict.ceiling
    rule = PeriodRule(CONFIG, past_trip=True)
    rule.update(text_event(text))
    assert (rule.peak.value, rule.peak.char) == (copied, onset)


@pytest.mark.parametrize("period", [513, 700, 1000, 1024, 2048, 3000, 3500, 4095, 4096])
def test_long_units_within_three_periods(period: int) -> None:
    unit = (code_block(400) + prose(random.Random(period), 900))[-period:]
    verdict = whole(PROSE + unit * 4)
    assert verdict is not None
    assert verdict.facts["period"] == period
    assert verdict.chars <= len(PROSE) + max(2000, 3 * period)


@pytest.mark.parametrize("period", [256, 512, 1024, 2048, 4096])
@pytest.mark.parametrize("filler", [" ", "-", "ab", "word "])
def test_unit_that_is_mostly_a_run(period: int, filler: str) -> None:
    """Every probe falls on the same character of the unit, inside a repetition of its own."""
    head = "".join(RNG.choice("abcdefgh") for _ in range(period // 9))
    unit = head + (filler * period)[: period - len(head)]
    verdict = whole(unit * 12)
    assert verdict is not None
    if verdict.facts["unit_kind"] == "letters" and verdict.facts["period"] > len(filler):
        assert verdict.facts["period"] == period
        assert verdict.chars <= max(2000, 4 * period)


@pytest.mark.parametrize("change", ["x", "", "xyz"], ids=["replaced", "lost", "added"])
@pytest.mark.parametrize("period", [2, 5, 24, 48, 90, 300, 1200, 3500])
def test_small_damage_does_not_start_from_zero(period: int, change: str) -> None:
    unit = "".join(RNG.choice("abcdefgh kmnop") for _ in range(period))
    ceiling = CONFIG.ceiling(UnitKind.LETTERS, period)
    before = period + ceiling * 3 // 4
    endless = unit * (4 * ceiling // period + 8)
    text = PROSE + endless[:before] + change + endless[before + 1 :]
    verdict = whole(text)
    assert verdict is not None
    clean = len(PROSE) + period + ceiling
    assert verdict.chars <= clean + 2 * min(period, 1100) + 200
    assert verdict.chars < len(PROSE) + before + period + ceiling
    assert abs(verdict.onset_char - len(PROSE)) <= 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("All work and no play. " * 20, "=" * 300),
        ("No. " * 60, "=" * 450),
        ("No. " * 100, "Yes. " * 100),
        ("la " * 150, "-" * 300),
        ("All work and no play. " * 25, "Red rum blue rum. " * 25),
    ],
)
def test_two_repetitions_are_not_one(first: str, second: str) -> None:
    assert whole("Intro. " + first + second + PROSE) is None
    assert regions("Intro. " + first + second + PROSE) == []
    region, *_ = regions("Intro. " + first * 9 + second + PROSE)
    assert abs(region.end_char - len("Intro. " + first * 9)) < 4


def test_memory_is_bounded() -> None:
    rule = PeriodRule(CONFIG, past_trip=True)
    rng = random.Random(3)
    words = [prose(rng, 3) for _ in range(9)]
    for _ in range(40):
        rule.update(text_event(bag(rng, words, 400)))
        state = rule.snapshot()
        assert len(state["exact"]["text"]) <= 4 * REACH + 512
        assert len(json.dumps(state)) < 16 * REACH


def fibonacci(size: int) -> str:
    one, other = "a", "ab"
    while len(other) < size:
        one, other = other, other + one
    return other[:size]


def drawn(alphabet: str, size: int) -> str:
    rng = random.Random(5)
    return "".join(rng.choice(alphabet) for _ in range(size))


def mixed(size: int, *units: str) -> str:
    rng = random.Random(6)
    return "".join(rng.choice(units) for _ in range(size))[:size]


# Texts of any length that keep the search as busy as can be.
HOSTILE: dict[str, Callable[[int], str]] = {
    "two letters": lambda size: drawn("ab", size),
    "hardly anything but one": lambda size: drawn("a" * 40 + "b", size),
    "Fibonacci": fibonacci,
    "one character": lambda size: "a" * size,
    "a period of 4,096": lambda size: (drawn("abcdefgh ", 4096) * size)[:size],
    "the same, damaged": lambda size: "".join(
        ((drawn("abcdefgh ", 4096) * 32)[at : at + 999] + "x") for at in range(0, size, 999)
    )[:size],
    "two units": lambda size: mixed(size, "so it goes, ", "and on it goes. "),
    "two long units": lambda size: mixed(size, prose(RNG, 40), prose(RNG, 47)),
    "damage everywhere": lambda size: mixed(size, "mend " * 8, "mend " * 7 + "x"),
    "runs of every length": lambda size: mixed(size, *(" " * n + "x\n" for n in range(99, 700))),
    "padded cells": lambda size: "".join(f"| {n:<90} | {n * n:<90} |\n" for n in range(size))[
        :size
    ],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_text_and_no_faster(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in searches and comparisons, and in characters that they look at."""
    looked: list[int] = []

    def counted(function: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
        def wrapped(*args: Any) -> Any:
            found = function(*args)
            looked.append(size(found, *args))
            return found

        return wrapped

    for function in ("copied_ahead", "copied_behind"):
        compare = counted(getattr(track, function), lambda found, *_: 64 + found)
        for place in (tail, probes, mending, track):
            monkeypatch.setattr(place, function, compare, raising=place is track)
    monkeypatch.setattr(tail, "mend", counted(mending.mend, lambda *_: 3 * REACH // 8))
    work = []
    for size in (1 << 15, 1 << 16, 1 << 17):
        looked.clear()
        judged(HOSTILE[name](size), PeriodRule(CONFIG, past_trip=True), [4096])
        work.append((len(looked), sum(looked)))
        # At most four stretches, each taken up again every 32 characters or so.
        assert len(looked) <= size // 4
        assert sum(looked) <= size * 200
    for few, many in pairwise(work):
        assert many[0] <= 2.3 * few[0] + 200
        assert many[1] <= 2.3 * few[1] + (1 << 16)


def test_latched_and_past_trip() -> None:
    text = "over and out, " * 100
    for past in (False, True):
        rule = PeriodRule(CONFIG, past_trip=past)
        verdict = rule.update(text_event(text))
        assert verdict is not None
        assert verdict.chars == 14 + 640
        assert rule.update(text_event(text)) is verdict
        assert (rule.gauge > 2000) is past
