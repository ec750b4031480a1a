"""Repetitions that ended, told from loops that last to the end of the reply."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from analyzing import VOID, Run, run
from helpers import judged
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import PROSE
from strategies import loopy

from fixtures.shapes import code_block, grid, prose
from loopcli.analyze.replay import ENDED, LOOP
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.period.rule import PeriodRule
from loopcli.verdicts import Region

STATUS = "".join("| gate | open |\n" for _ in range(900))
# A text, flags that make a finding of it, and the findings for each region in it.
TEXTS = {
    "a zero grid, then code": (
        PROSE + "```js\nconst map = [\n" + grid(100, 100) + "];\n" + code_block(30),
        ["--period-data", "20000"],
        [ENDED],
    ),
    "a zero grid that is closed": (
        "[\n" + grid(100, 100) + "]\n",
        ["--period-data", "20000"],
        [ENDED],
    ),
    "a status table, then a word on it": (
        f"| what | state |\n|---|---|\n{STATUS}\nAll gates are open.\n",
        [],
        [ENDED],
    ),
    "a loop to the end": (PROSE + "so it goes, " * 300, [], [LOOP]),
    "a loop cut within a copy": (PROSE + "so it goes, " * 300 + "so i", [], [LOOP]),
    "a loop and a line break": (PROSE + "la " * 400 + "\n\n", [], [LOOP]),
    "a loop and an end mark": (PROSE + "so it goes, " * 300 + "<|im_end|>\n", [], [LOOP]),
    "a loop that is damaged near its end": (
        PROSE + "so it goes, " * 300 + "so is goes, so it goes, ",
        [],
        [LOOP],
    ),
    "a loop that is left by a word": (PROSE + "so it goes, " * 300 + "Done.", [], [ENDED]),
    "a loop that is left by two letters": (PROSE + "so it goes, " * 300 + "ok ", [], [ENDED]),
    "a loop, and another sentence thrice": (
        PROSE + "so it goes, " * 300 + "on and on. " * 3,
        [],
        [ENDED],
    ),
    "two that ended": (PROSE + "la " * 400 + PROSE + VOID * 200 + PROSE, [], [ENDED, ENDED]),
    "one that ended and a loop": (PROSE + "la " * 400 + PROSE + VOID * 200, [], [ENDED, LOOP]),
    "a loop that is turning into another": (
        PROSE + "so it goes, " * 300 + "and it goes on, " * 25,
        [],
        [LOOP],
    ),
    "an ending with a divider": (PROSE + "la " * 400 + PROSE + "-" * 60, [], [ENDED]),
    "nothing": (PROSE, [], []),
}


def analyzed(text: str, tmp_path: Path, *args: str) -> Run:
    (tmp_path / "a.txt").write_text(text)
    return run(["--rules", "period", *args, "a.txt"], tmp_path)


@pytest.mark.parametrize("name", TEXTS)
def test_what_ended_and_what_lasts(name: str, tmp_path: Path) -> None:
    text, flags, findings = TEXTS[name]
    (row,) = analyzed(text, tmp_path, "--format", "jsonl", *flags).rows
    wanted = (LOOP if LOOP in findings else ENDED) if findings else None
    assert row["finding"] == wanted
    assert [ENDED if region["ended"] else LOOP for region in row["regions"]] == findings
    # What the filter does is not changed by what comes later.
    assert row["verdict"] == ("repetition" if findings else None)
    assert (row["trip_char"] is None) == (not findings)
    for region in row["regions"]:
        stretch = text[region["onset_char"] : region["end_char"]]
        period = region["period"]
        assert region["copies"] == len(stretch) // period
        shown = region["unit"].removesuffix("…")
        assert shown in stretch
        assert len(shown) == min(period, 200 - (period > 200))
        assert region["line"] == text.count("\n", 0, region["onset_char"]) + 1
        assert region["copied"] >= region["ceiling"]
        assert (region["channel"], row["trip_char"] > row["regions"][0]["onset_char"]) == (
            "content",
            True,
        )


PASSED = "Here it is:\n" + "la " * 400 + "and that is all.\n"


def test_a_table_names_unit_copies_and_place(tmp_path: Path) -> None:
    said = analyzed(PASSED, tmp_path).stdout
    assert "repetition, ended" in said
    assert 'a.txt#1: ended: "la " 400 times, characters 12 to 1212, from line 2\n' in said
    assert "1 trip (1 on what ended), highest peak 1197 (period)" in said
    text = "".join(f"{prose(random.Random(n), 60)}{'la ' * 400}" for n in range(5)) + PROSE
    many = analyzed(text, tmp_path, "--format", "markdown").stdout
    assert many.count("a.txt#1: ended: ") == 4
    assert "a.txt#1: ended: 2 more\n" in many
    loop = analyzed(PROSE + "la " * 400, tmp_path).stdout
    assert "ended" not in loop


def test_documents_and_cells(tmp_path: Path) -> None:
    document = json.loads(analyzed(PASSED, tmp_path, "--format", "json").stdout)
    assert document["totals"]["rules"]["period"]["ended"] == 1
    (region,) = document["transcripts"][0]["regions"]
    assert region == {
        "channel": "content",
        "line": 2,
        "unit": "la ",
        "unit_kind": "letters",
        "period": 3,
        "copies": 400,
        "copied": 1197,
        "ceiling": 640,
        "onset_char": 12,
        "end_char": 1212,
        "ended": True,
    }
    (row,) = csv.DictReader(io.StringIO(analyzed(PASSED, tmp_path, "--format", "csv").stdout))
    assert (row["finding"], json.loads(row["regions"])) == ("ended", [region])


def test_a_gate_judges_what_the_filter_does(tmp_path: Path) -> None:
    """Asked for or not, the reply would have been cut; the message says which it was."""
    for label in ("clean", "loop"):
        (tmp_path / "labels.jsonl").write_text(json.dumps({"id": "a.txt", "label": label}))
        found = analyzed(PASSED, tmp_path, "--check", "--labels", "labels.jsonl")
        assert found.status == (3 if label == "clean" else 0)
        wanted = "labelled clean, and period trips (repetition that ended) at word"
        assert (wanted in found.stderr) == (label == "clean")


def test_a_run_of_words_ends_when_the_window_has_forgotten_it(tmp_path: Path) -> None:
    """The other rules know no unit; theirs has ended when the gauge has fallen."""
    for words, finding in ((100, LOOP), (300, ENDED)):
        (tmp_path / "a.txt").write_text(VOID * 2000 + " ".join(f"w{n}" for n in range(words)))
        (row,) = run(["--format", "jsonl", "a.txt"], tmp_path).rows
        assert (row["rule"], row["finding"], row["regions"]) == ("saturation", finding, [])
    (row,) = run(["--format", "jsonl", "--max-response-chars", "99", "a.txt"], tmp_path).rows
    assert (row["verdict"], row["finding"]) == ("length", None)


def test_the_channels_of_a_reply_each_have_their_own(tmp_path: Path) -> None:
    deltas: list[dict[str, Any]] = [{"reasoning_content": PASSED}, {"content": VOID * 200}]
    events = [f"data: {json.dumps({'choices': [{'index': 0, 'delta': d}]})}\n\n" for d in deltas]
    (row,) = analyzed("".join(events) + "data: [DONE]\n\n", tmp_path, "--format", "jsonl").rows
    assert [(each["channel"], each["ended"]) for each in row["regions"]] == [
        ("reasoning", True),
        ("content", False),
    ]
    assert (row["finding"], row["trip_channel"]) == (LOOP, "reasoning")


def found(text: str, sizes: list[int]) -> list[Region]:
    rule = PeriodRule(PeriodConfig(period_data=20_000), past_trip=True)
    judged(text, rule, sizes)
    return rule.regions


def test_how_the_text_was_cut_changes_nothing() -> None:
    rng = random.Random(5)
    for text, _, _ in TEXTS.values():
        whole = found(text, [len(text)])
        assert found(text, [4096]) == whole
        assert found(text, [rng.randint(1, 700) for _ in range(9)]) == whole


@settings(max_examples=80)
@given(loopy(), st.lists(st.integers(1, 1500), min_size=1, max_size=6))
def test_how_anything_was_cut_changes_nothing(text: str, sizes: list[int]) -> None:
    assert found(text, sizes) == found(text, [max(len(text), 1)])


def test_of_very_many_the_last_is_among_them() -> None:
    text = "".join(PROSE[:400] + f"{chr(97 + n)}{chr(98 + n % 9)} " * 300 for n in range(26)) * 2
    kept = found(text, [4096])
    assert len(kept) == 32
    assert kept[-1].end_char == len(text)
    assert not kept[-1].ended
    assert all(region.ended for region in kept[:-1])
