"""A screen passes over most of a text, and nothing but the time may tell."""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import oracle
import pytest
from helpers import cut, run_rule, text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KNOBS, REPETITIVE, SIZES, assert_equal

from loopcli.analyze import survey
from loopcli.analyze.screening import screen
from loopcli.analyze.screening.screen import Screen
from loopcli.analyze.screening.sight import Eyes
from loopcli.cli import main
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.verdicts import Verdict

LIBRARY = Path(sysconfig.get_paths()["stdlib"])


def screened(
    text: str, config: SaturationConfig, pieces: Iterable[str], least: int = 0
) -> SaturationRule:
    """Return a rule that has judged ``text``; what is shorter than ``least`` is not screened."""
    rule = SaturationRule(config, past_trip=True, screen=Screen(config, Eyes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "LEAST_CHARS", least)
        for piece in pieces:
            rule.update(text_event(piece))
    return rule


@settings(max_examples=300)
@given(text=REPETITIVE, knobs=KNOBS, sizes=SIZES, least=st.sampled_from([0, 2, 8, 40]))
def test_every_chunking_gives_the_oracles_answer(
    text: str, knobs: dict[str, int], sizes: list[int], least: int
) -> None:
    rule = screened(text, SaturationConfig(**knobs), cut(text, sizes), least)
    want = oracle.judge(text, **knobs, past_trip=True)
    assert_equal(rule, want)
    assert (rule.words, rule.chars) == (want.total_words, want.total_chars)


def ordinary(draw: random.Random) -> str:
    """Pages of library code, with loops, tables and words that are too long between them."""
    parts = []
    for name in ("argparse.py", "typing.py", "tarfile.py"):
        source = (LIBRARY / name).read_text("utf-8")
        at = draw.randrange(len(source))
        parts += [source[at : at + draw.choice([50, 3000, 30_000])]]
        parts += ["void 0; " * draw.choice([3, 40, 400, 4000]), "é 日本 " * draw.choice([0, 0, 90])]
        parts += ["0x1f, 0x2f,\n" * draw.choice([0, 20, 200]), "z" * draw.choice([0, 0, 127, 128])]
        parts += [" \n"]
    return "".join(parts)


def outcome(rule: SaturationRule) -> tuple[int, int, object, Verdict | None, dict[str, object]]:
    """All that can be seen of a rule; in which order its words offend is nobody's business."""
    state = rule.snapshot()
    state["window"]["offenders"].sort()
    return rule.words, rule.chars, rule.peak, rule.verdict, state


@pytest.mark.parametrize("seed", range(40))
def test_ordinary_text_gives_what_it_gives_without(seed: int) -> None:
    draw = random.Random(seed)
    text = ordinary(draw)
    widths = [16, 64, 256, 300, 20_000, 10**12]
    config = SaturationConfig(
        draw.choice(widths), draw.choice([3, 8, 32]), draw.choice([1, 2, 3]), draw.choice([0, 300])
    )
    sizes = [draw.choice([1, 100, 3000, 65_536]) for _ in range(500)]
    plain = run_rule(text, config, cut(text, sizes), past=True)
    assert outcome(screened(text, config, cut(text, sizes))) == outcome(plain)


def test_most_of_a_page_is_passed_over() -> None:
    source = (LIBRARY / "argparse.py").read_text("utf-8")
    stretches = Screen(SaturationConfig(), Eyes())("", source, True)
    assert stretches is not None
    passed = sum(stretch.chars for stretch in stretches if stretch.words is not None)
    assert sum(stretch.chars for stretch in stretches) == len(source)
    assert passed > 0.8 * len(source)


@pytest.mark.parametrize("text", ["", " ", "\n" * 3000, "word", "x" * 127, " x" * 40])
@pytest.mark.parametrize("pending", ["", "half"])
@pytest.mark.parametrize("first", [True, False])
def test_stretches_cover_a_text(text: str, pending: str, first: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "LEAST_CHARS", 0)
        stretches = Screen(SaturationConfig(), Eyes())(pending, text, first)
    if len(pending + text) < 128:
        assert stretches is not None
    if stretches is not None:
        assert sum(stretch.chars for stretch in stretches) == len(text)


def test_slices_are_words_like_any_other() -> None:
    found = Screen(SaturationConfig(), Eyes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "LEAST_CHARS", 0)
        (stretch,) = found("", "a " + "x" * 128, True) or ()
        assert (stretch.words, stretch.pending) == (2, "")
        (stretch,) = found("", "y" * 129, False) or ()
        assert (stretch.words, stretch.pending) == (1, "y")


def test_a_large_corpus_is_screened_and_reads_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(3):
        (tmp_path / f"{seed}.txt").write_text(ordinary(random.Random(seed)), "utf-8")
    asked = [str(tmp_path), "--rules", "saturation", "--max-response-chars", "0"]
    records = []
    used: list[str] = []
    real = Screen.__call__
    monkeypatch.setattr(Screen, "__call__", lambda *args: used.append(args[2][:1]) or real(*args))
    for worth in (1 << 40, 1):
        monkeypatch.setattr(survey, "_WORTH_NUMPY", worth)
        assert main(["analyze", "--jobs", "1", "--format", "jsonl", *asked]) == 0
        records.append([json.loads(line) for line in capfd.readouterr().out.splitlines()])
        assert bool(used) == (worth == 1)
    assert records[0] == records[1]
    assert any(record["peak"] for record in records[0])
