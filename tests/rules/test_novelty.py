"""The novelty rule: what stays quiet, what is found late, and that cutting never matters."""

from __future__ import annotations

import json
import random
import re
import sysconfig
from pathlib import Path

import pytest
from helpers import judged, text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import QUIET

from fixtures.shapes import Shape, bag, prose, sentence, shapes
from loopcli.rules.novelty import rule as novelty
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.novelty.rule import NoveltyRule
from loopcli.verdicts import Peak, Verdict, share

CONFIG = NoveltyConfig()
SHAPES = shapes(seed=2)
SMALL = NoveltyConfig(novelty_words=30)


def whole(text: str, config: NoveltyConfig = CONFIG) -> Verdict | None:
    return judged(text, NoveltyRule(config))[0]


def slow(text: str, config: NoveltyConfig) -> tuple[int, int]:
    """The rule for plain words, said again in another way: words and characters at the trip."""
    ends = [hit.end() for hit in re.finditer(r"\S+(?=\s)", text)]
    words = [hit.group() for hit in re.finditer(r"\S+(?=\s)", text)]
    written: dict[tuple[str, ...], int] = {}
    score = 0
    for at in range(len(words)):
        group = tuple(["", "", "", *words][at : at + 4])
        times = written.get(group, 0)
        written[group] = times + 1
        if times < config.novelty_seen:
            score = max(0, score - novelty.FRESH_COST)
        elif len(words[at].strip(".,")) > 1:
            score += 1
        if score == config.novelty_words:
            return at + 1, ends[at] + 1
    return 0, 0


@pytest.mark.parametrize("name", QUIET)
def test_quiet(name: str) -> None:
    assert whole(QUIET[name]) is None


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.want == "no"], ids=lambda s: s.name)
def test_quiet_shapes(shape: Shape) -> None:
    assert whole(shape.text) is None


def test_quiet_standard_library_top() -> None:
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.glob("*.py"))[::4]:
        rule = NoveltyRule(CONFIG)
        assert rule.update(text_event(path.read_text("utf-8"))) is None, path.name
        assert share(rule.peak.value, rule.ceiling) < 0.3, path.name


def test_quiet_when_a_long_text_is_written_again() -> None:
    """A draft, its first and its second revision: recycled twice, not a loop."""
    draft = prose(random.Random(5), 4000)
    assert whole(draft * 3) is None


def test_quiet_status_words() -> None:
    rng = random.Random(6)
    rows = [f'  {{"gate": "{rng.choice(("open", "shut"))}", "lit": true}},\n' for _ in range(3000)]
    assert whole("".join(rows)) is None
    assert whole("".join(f"| {rng.choice(('yes', 'no'))} | open |\n" for _ in range(3000))) is None
    assert whole("".join(rng.choice(("true, ", "false, ")) for _ in range(6000))) is None
    assert whole("".join(rng.choice("01") + ", " for _ in range(9000))) is None


WITHOUT_PERIOD = ("A17", "A18", "A19", "A30")


@pytest.mark.parametrize("name", WITHOUT_PERIOD)
def test_loud_loops_without_a_period(name: str) -> None:
    shape = next(s for s in SHAPES if s.name.startswith(name))
    verdict = whole(shape.text)
    assert verdict is not None
    assert verdict.chars - shape.onset > 5000  # late by design


def test_loud_without_blanks() -> None:
    forms = [
        "请把门关好再走一次。",
        "灯还亮着。",
        "木桥已经修好了。",
        "再量一量石头。",
        "门没有关。",
    ]
    verdict = whole(prose(random.Random(2), 50) + bag(random.Random(1), forms, 3000))
    assert verdict is not None


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(0, 60))
def test_position_against_a_slow_count(seed: int, forms: int, lead: int) -> None:
    rng = random.Random(seed)
    items = [sentence(rng, rng.randint(1, 6)) + rng.choice((" ", "\n")) for _ in range(forms)]
    text = prose(rng, lead) + bag(rng, items, 300)
    verdict = whole(text, SMALL)
    assert ((verdict.words, verdict.chars) if verdict else (0, 0)) == slow(text, SMALL)


@st.composite
def mixed(draw: st.DrawFn) -> str:
    rng = random.Random(draw(st.integers(0, 10**6)))
    forms = [sentence(rng, rng.randint(1, 5)) + " " for _ in range(4)]
    forms += ["灯亮着。", "| a | b |\n", "0, 0, ", "x" * 140, "\u2028", "ab木 ", '"id": 1,\n']
    items = draw(st.lists(st.sampled_from(forms), min_size=1, max_size=6))
    return prose(rng, draw(st.integers(0, 40))) + bag(rng, items, draw(st.integers(0, 150)))


@settings(max_examples=150)
@given(mixed(), st.lists(st.integers(1, 400), min_size=1, max_size=5), st.booleans())
def test_cutting_anything(text: str, sizes: list[int], past: bool) -> None:
    want = judged(text, NoveltyRule(SMALL, past_trip=past))
    assert judged(text, NoveltyRule(SMALL, past_trip=past), sizes) == want
    assert judged(text, NoveltyRule(SMALL, past_trip=past), [1]) == want


@settings(max_examples=60)
@given(mixed(), st.data())
def test_snapshot_continues(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    first, second = NoveltyRule(SMALL), NoveltyRule(SMALL)
    first.update(text_event(text[:at]))
    state = json.loads(json.dumps(first.snapshot()))
    second.restore(state)
    assert second.snapshot() == first.snapshot()
    assert first.update(text_event(text[at:])) == second.update(text_event(text[at:]))
    assert first.snapshot() == second.snapshot()
    assert first.peak == second.peak == judged(text, NoveltyRule(SMALL))[1]


def test_asking_changes_nothing() -> None:
    text = prose(random.Random(4), 60) * 6
    asked, silent = NoveltyRule(CONFIG), NoveltyRule(CONFIG)
    for char in text:
        asked.update(text_event(char))
        silent.update(text_event(char))
        assert asked.gauge <= asked.peak.value
        assert asked.words <= asked.chars
    assert asked.snapshot() == silent.snapshot()


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(novelty, "GROUPS", 500)
    rule = NoveltyRule(CONFIG, past_trip=True)
    rng = random.Random(8)
    for _ in range(30):
        rule.update(text_event(prose(rng, 400) + "y" * 3000))
        state = rule.snapshot()
        assert len(state["seen"]) <= 500
        assert len(state["held"]) <= 128


def test_peak_names_the_place() -> None:
    rng = random.Random(9)
    lead = prose(rng, 100)
    text = lead + "over the bridge and back, " * 60 + prose(rng, 200)
    verdict, peak = judged(text, NoveltyRule(CONFIG))
    assert verdict is None
    assert peak == Peak(300 - 3 - 3 * 5, None, peak.char, peak.repeated)
    assert peak.char is not None
    assert 0 < peak.char - len(lead) < 120
    assert set(" ".join(peak.repeated).split()) <= {"over", "the", "bridge", "and", "back,"}
