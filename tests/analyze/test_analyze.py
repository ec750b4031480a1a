"""`loopcheck analyze` as a process: what each option changes, statuses, damage, processes."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from analyzing import VOID, Run, run
from session_options import SESSION_OPTIONS

from loopcli.cli import cli
from loopcli.commands.analyze.command import command as analyze

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
TILEMAP = "replies/clean/tilemap-47x32.txt"
PROSE = (FIXTURES / "replies" / "clean" / "prose.txt").read_text("utf-8")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A small corpus: a loop that trips, one that does not, and clean replies."""
    for path, text in {
        "runs/loop/void.txt": VOID * 2000,
        "runs/loop/short.txt": VOID * 200,
        "runs/clean/prose.txt": PROSE,
        "runs/clean/tiles.txt": (FIXTURES / TILEMAP).read_text("utf-8"),
        "more/reply.jsonl": '{"body": "one two three ", "text": "four five "}\n',
    }.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


# --- What each option changes --------------------------------------------------------------------


class Option(NamedTuple):
    """Flags, and what a run with them must show beside one without; `base` is on both sides."""

    args: list[str]
    check: Callable[[Run, Run], bool]
    base: tuple[str, ...] = ("--format", "jsonl", "runs")
    files: tuple[tuple[str, str], ...] = ()


def peaks(found: Run) -> list[int]:
    return [row["peak"] for row in found.rows]


def trips(found: Run) -> list[int | None]:
    return [row["trip_char"] for row in found.rows]


def one(text: str) -> tuple[tuple[str, str], ...]:
    return (("one.txt", text),)


def bag(words: int) -> str:
    """The same few sentences in an order that has no period."""
    sentences = ["Done with this one.", "It all looks fine to me.", "Let me look at it once more."]
    state, chosen = 1, []
    for _ in range(words):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        chosen.append(sentences[state >> 16 & 1 if state & 64 else 2])
    return " ".join(chosen)


def ids(found: Run) -> list[str]:
    return [row["id"] for row in found.rows]


NDJSON = ("--format", "jsonl")
PERIOD = (*NDJSON, "--rules", "period", "one.txt")
NOVELTY = (*NDJSON, "--rules", "novelty", "one.txt")
SENTENCES = (*NDJSON, "--rules", "prose", "one.txt")
LOOPS = ("--format", "jsonl", "runs/loop")
# The saturation rule trips after 13 words.
SMALL = """
rules = ["saturation"]
[saturation]
window-words = 8
repeat-threshold = 3
min-saturated-run = 6
"""
TWO = """[
  {"id": "a"},
  {"id": "b", "loopDetection": {"enabled": true, "windowWords": 8, "repeatThreshold": 3,
    "minOffenders": 2, "minSaturatedRun": 6, "maxResponseChars": 0}},
]"""
OPTIONS = {
    "paths": Option(["more"], lambda off, on: len(on.rows) == len(off.rows) + 1),
    "files0_from": Option(
        ["--files0-from", "list"],
        lambda off, on: ids(on) == [*ids(off), "runs/loop/short.txt#1", "runs/loop/void.txt#1"],
        (*NDJSON, "more"),
        (("list", "runs/loop/void.txt\0runs/loop/short.txt\0"),),
    ),
    "text_field": Option(
        ["--text-field", "body"],
        lambda off, on: (off.rows[0]["words"], on.rows[0]["words"]) == (2, 3),
        (*NDJSON, "more"),
    ),
    "labels_": Option(
        ["--labels", "labels.csv"],
        lambda off, on: (off.rows[0]["label"], on.rows[0]["label"]) == (None, "clean"),
        (*NDJSON, "more"),
        (("labels.csv", "id,label\nmore/reply.jsonl#1,clean\n"),),
    ),
    "rules": Option(["--rules", "none"], lambda off, on: (off.status, on.status) == (0, 2)),
    "preset": Option(["--preset", "none"], lambda off, on: (off.status, on.status) == (0, 2)),
    "watch": Option(
        ["--watch", "reasoning"],
        lambda off, on: on.rows[0]["words"] != off.rows[0]["words"] > 0 < on.rows[0]["words"],
        (*NDJSON, str(FIXTURES / "streams" / "reasoning.sse")),
    ),
    "config": Option(
        ["--config", "small.toml"],
        lambda off, on: (trips(off), trips(on)) == ([None], [53]),
        (*NDJSON, "void.txt"),
        (("small.toml", SMALL), ("void.txt", VOID * 60)),
    ),
    "agent": Option(
        ["--agent", "b"],
        lambda off, on: (off.status, trips(on)) == (2, [53]),
        (*NDJSON, "--config", "two.json", "void.txt"),
        (("two.json", TWO), ("void.txt", VOID * 60)),
    ),
    "window_words": Option(["--window-words", "64"], lambda off, on: peaks(on) != peaks(off)),
    "repeat_threshold": Option(
        ["--repeat-threshold", "64"], lambda off, on: peaks(on) != peaks(off)
    ),
    "min_offenders": Option(["--min-offenders", "3"], lambda off, on: max(peaks(on)) == 0),
    "period_letters": Option(
        ["--period-letters", "300"],
        lambda off, on: (trips(off), trips(on)) == ([None], [308]),
        PERIOD,
        one(VOID * 60),
    ),
    "period_signs": Option(
        ["--period-signs", "300"],
        lambda off, on: (trips(off), trips(on)) == ([None], [302]),
        PERIOD,
        one("?!" * 200),
    ),
    "period_art": Option(
        ["--period-art", "9000"],
        lambda off, on: (trips(off), trips(on)) == ([2406], [9006]),
        PERIOD,
        one("|  |/\n" * 2000),
    ),
    "period_table": Option(
        ["--period-table", "2000"],
        lambda off, on: (trips(off), trips(on)) == ([None], [2114]),
        PERIOD,
        one("| open | no |\n" * 300),
    ),
    "period_data": Option(
        ["--period-data", "2000"],
        lambda off, on: (trips(off), trips(on)) == ([None], [2003]),
        PERIOD,
        one("0, " * 2000),
    ),
    "period_counter": Option(
        ["--period-counter", "2000"],
        lambda off, on: (trips(off), trips(on)) == ([None], [2025]),
        PERIOD,
        one("".join(f"Gate {n} is open, go on. " for n in range(100, 200))),
    ),
    "period_copies": Option(
        ["--period-copies", "1000"],
        lambda off, on: (trips(off), trips(on)) == ([648], [8008]),
        PERIOD,
        one(VOID * 1200),
    ),
    "novelty_words": Option(
        ["--novelty-words", "100"],
        lambda off, on: trips(off) == [None] != trips(on),
        NOVELTY,
        one(bag(150)),
    ),
    "novelty_seen": Option(
        ["--novelty-seen", "1"],
        lambda off, on: peaks(off)[0] < peaks(on)[0],
        NOVELTY,
        one(bag(150)),
    ),
    "stream_threshold": Option(
        ["--stream-threshold", "5"],
        lambda off, on: (trips(off), trips(on)) == ([72], [120]),
        SENTENCES,
        one("I look at the log again\n" * 9),
    ),
    "min_saturated_run": Option(
        ["--min-saturated-run", "300"],
        lambda off, on: (
            [row["verdict"] for row in off.rows] == [None, "repetition"]
            and [row["trip_word"] for row in on.rows] == [365, 365]
        ),
        LOOPS,
    ),
    "max_response_chars": Option(
        ["--max-response-chars", "1000"],
        lambda off, on: [row["verdict"] for row in on.rows] == ["length", "length"],
        LOOPS,
    ),
    "format_": Option(
        ["--format", "csv"],
        lambda off, on: "transcript" in off.stdout and on.stdout.startswith("id,label,onset,rule,"),
        ("runs",),
    ),
    "top": Option(
        ["--top", "1"],
        lambda off, on: (len(off.rows), ids(on)) == (4, ["runs/loop/void.txt#1"]),
    ),
    "trace": Option(
        ["--trace", "runs/clean/tiles.txt#1"],
        lambda off, on: "┄" in on.stdout and "peak 1409 of 3000" in on.stdout,
        ("runs",),
    ),
    "sweep": Option(
        ["--sweep", "min-saturated-run=300,3000"],
        lambda off, on: [row["loop_trips"] for row in on.rows] == [2, 1],
    ),
    "suggest": Option(
        ["--suggest"],
        lambda off, on: (
            on.rows[0]["flags"].startswith("--rules saturation --window-words ") and on.status == 0
        ),
    ),
    "headroom": Option(
        ["--headroom", "0"],
        lambda off, on: len(on.rows) > len(off.rows) == 1,
        (*NDJSON, "runs", "--suggest", "--sweep", "min-saturated-run=100:3000:100"),
    ),
    "check": Option(
        ["--check"],
        lambda off, on: (
            (off.status, on.status) == (0, 3)
            and "check: runs/loop/short.txt#1: labelled loop, and nothing trips" in on.stderr
        ),
    ),
    "max_peak": Option(
        ["--max-peak", "1408"],
        lambda off, on: (
            (off.status, on.status) == (0, 3)
            and "max-peak: runs/clean/tiles.txt#1: the peak of saturation is 1409" in on.stderr
        ),
    ),
    "baseline": Option(
        ["--baseline", "base.json"],
        lambda off, on: (off.status, on.status) == (0, 3) and "1 -> 1409" in on.stderr,
        files=(
            (
                "base.json",
                '{"format": 1, "settings": {"saturation": {"watch": ["content"], "window_words":'
                ' 256, "repeat_threshold": 32, "min_offenders": 2, "min_saturated_run": 3000,'
                ' "max_response_chars": 250000}}, "transcripts": {"runs/clean/tiles.txt#1":'
                ' {"saturation": {"peak": 1, "verdict": null}}}}',
            ),
        ),
    ),
    "update_baseline": Option(
        ["--update-baseline"],
        lambda off, on: (off.status, on.status) == (1, 0),
        ("runs", "--baseline", "new.json"),
    ),
    "junit": Option(
        ["--junit", "/dev/stderr"],
        lambda off, on: off.stderr == "" and on.stderr.startswith("<?xml"),
    ),
    "jobs": Option(["--jobs", "0"], lambda off, on: (off.status, on.status) == (0, 2)),
}
# An argument, and what a shell would hardly keep in its environment.
NO_VARIABLE = {"paths", "preset"}


def test_every_option_is_in_the_table() -> None:
    assert {param.name for param in analyze.params} == {*OPTIONS, *SESSION_OPTIONS}


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_changes_something(name: str, corpus: Path) -> None:
    option = OPTIONS[name]
    for path, text in option.files:
        (corpus / path).write_text(text)
    off = run(option.base, corpus)
    on = run([*option.base, *option.args], corpus)
    assert option.check(off, on), (off, on)


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - NO_VARIABLE))
def test_each_option_has_an_environment_variable(name: str, corpus: Path) -> None:
    option = OPTIONS[name]
    for path, text in option.files:
        (corpus / path).write_text(text)
    flag, *value = option.args
    variable = "LOOPCHECK_" + flag.removeprefix("--").replace("-", "_").upper()
    off = run(option.base, corpus)
    on = run(option.base, corpus, {variable: value[0] if value else "1"})
    assert option.check(off, on), (off, on)


CONTRADICTIONS = [
    ["--trace", "x", "--check"],
    ["--trace", "x", "--sweep", "window-words=1"],
    ["--sweep", "window-words=1", "--check"],
    ["--suggest", "--baseline", "x"],
    ["--headroom", "2"],
    ["--sweep", "window-words=1", "--headroom", "2"],
    ["--update-baseline"],
]
REFUSED = [
    (["--sweep", "window-words"], "write it as knob=values"),
    (["--sweep", "min-offenders=0"], "outside 1 to"),
    (["--suggest", "--headroom", "-1"], "--headroom = `-1`: not a number"),
    (["--top", "-3"], "--top = `-3`: not a whole number"),
    (["--jobs", "two"], "--jobs = `two`: not a whole number of 1 or more"),
    (["--max-peak", "period=3"], "the rule `period` is not armed"),
    (["--max-peak", "x"], "--max-peak = `x`"),
    (["--window-words", "0", "--min-offenders", "0"], "--min-offenders = `0`"),
    (["--baseline", "runs/clean/prose.txt"], "not a baseline of loopcheck"),
]


@pytest.mark.parametrize("args", CONTRADICTIONS, ids=" ".join)
def test_contradictions_are_usage_errors(args: list[str], corpus: Path) -> None:
    found = run(["runs", *args], corpus)
    assert (found.status, found.stdout) == (2, "")


@pytest.mark.parametrize(("args", "message"), REFUSED)
def test_what_is_refused_is_said(args: list[str], message: str, corpus: Path) -> None:
    found = run(["runs", *args], corpus)
    assert (found.status, found.stdout) == (2, "")
    assert message in found.stderr


def test_no_path_is_a_usage_error(tmp_path: Path) -> None:
    assert run([], tmp_path).status == 2
    before = subprocess.run(
        [sys.executable, "-m", "loopcli", "--window-words", "3", "analyze", "x"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert before.returncode == 2
    assert "write it after `analyze`" in before.stderr


def test_the_group_knows_the_command() -> None:
    import click

    context = click.Context(cli)
    assert "analyze" in cli.list_commands(context)
    assert cli.get_command(context, "analyze") is analyze


# --- The fixtures --------------------------------------------------------------------------------

FIGURES = ("words", "chars", "peak", "peak_word", "peak_char", "verdict", "trip_word", "trip_char")


def expected_rows() -> dict[str, dict[str, Any]]:
    """What expected.json says, by the ids that analyze gives; one choice is one reply."""
    rows = {}
    for path, entry in EXPECTED.items():
        choices = entry.get("choices")
        if choices is None:
            rows[f"{path}#1"] = entry
            continue
        for number, choice in enumerate(choices.values(), 1):
            rows[f"{path}#{number}"] = choice
    return rows


def test_every_fixture_has_its_figures() -> None:
    found = run(["--format", "jsonl", "--rules", "saturation", "replies", "streams"], FIXTURES)
    rows = {row["id"]: row for row in found.rows}
    wrong = {}
    for ident, wanted in expected_rows().items():
        row = rows.get(ident)
        shared = [name for name in FIGURES if name in wanted]
        if row is None or [row[name] for name in shared] != [wanted[name] for name in shared]:
            wrong[ident] = (wanted, row)
    assert not wrong


def test_the_tilemap_is_in_the_table(tmp_path: Path) -> None:
    found = run(["--rules", "saturation", "fixtures"], ROOT)
    (line,) = [line for line in found.stdout.splitlines() if "tilemap-47x32" in line]
    figures = re.split(r"\s{2,}", line)
    assert figures[2:7] == ["1509", "4630", "1409", "3000", "1591"]
    assert "no trip" in figures


# --- Formats -------------------------------------------------------------------------------------


def test_the_formats_agree(corpus: Path) -> None:
    lines = run(["--format", "jsonl", "runs"], corpus).rows
    document = json.loads(run(["--format", "json", "runs"], corpus).stdout)
    table = list(csv.DictReader(run(["--format", "csv", "runs"], corpus).stdout.splitlines()))
    assert {line.pop("type") for line in lines} == {"transcript"}
    assert document["transcripts"] == lines
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    for line, row in zip(lines, table, strict=True):
        assert list(row) == list(line)
        for name, value in line.items():
            if isinstance(value, list):
                assert json.loads(row[name]) == value
            else:
                assert row[name] == ("" if value is None else str(value))


def test_markdown_has_a_row_for_each(corpus: Path) -> None:
    (corpus / "runs" / "a|b\n.txt").write_text(PROSE)
    found = run(["--format", "markdown", "runs"], corpus).stdout.splitlines()
    rows = [line for line in found if line.startswith("| ")]
    assert len({re.sub(r"\\\|", "", row).count("|") for row in rows}) == 1
    assert len(rows) == 1 + 5
    assert "a\\|b\\\\n.txt#1" in "".join(rows)


def test_a_table_is_cut_and_says_so(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": f"reply {n} "}) + "\n" for n in range(150))
    (tmp_path / "a.jsonl").write_text(lines)
    found = run(["a.jsonl"], tmp_path)
    assert sum(line.startswith("a.jsonl#") for line in found.stdout.splitlines()) == 100
    assert "50 rows with a lower peak are not shown" in found.stdout
    assert "150 transcripts (0 clean, 0 loop, 150 unlabelled)" in found.stdout
    assert len(run(["--format", "jsonl", "a.jsonl"], tmp_path).rows) == 150
    numbers = [row["id"] for row in run(["--format", "jsonl", "a.jsonl"], tmp_path).rows]
    assert numbers == [f"a.jsonl#{n}" for n in range(1, 151)]


def test_undefined_figures_are_never_zero(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some words\n")
    (row,) = run(["--format", "jsonl", "a.txt"], tmp_path).rows
    undefined = {name for name, value in row.items() if value is None}
    assert {"label", "onset", "peak_word", "peak_char", "peak_line", "verdict"} < undefined
    assert {"trip_word", "trip_char", "trip_channel"} < undefined
    table = run(["a.txt"], tmp_path).stdout
    assert table.count("n/a") == 6  # positions, words, and where it would have tripped
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "a.txt").write_text("some words\n")
    table = run(["clean"], tmp_path).stdout
    assert "recall n/a %" in table
    assert "median delay n/a" in table


def test_standard_input_is_a_transcript(tmp_path: Path) -> None:
    found = run(["--format", "jsonl", "-"], tmp_path, stdin=(VOID * 2000).encode())
    assert [(row["id"], row["trip_word"]) for row in found.rows] == [("<stdin>#1", 3065)]
    assert found.status == 0


def test_odd_bytes_of_a_path_are_spelled_alike_everywhere(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/odd-\xff"
    os.mkdir(folder)
    for name in (b"/a.txt", b"/b.json"):
        with open(folder + name, "w") as file:
            file.write(PROSE)
    for form in ("table", "json", "jsonl", "csv"):
        found = run(
            ["--format", form, "--junit", "out.xml", os.fsdecode(folder + b"/a.txt")], tmp_path
        )
        assert r"odd-\udcff/a.txt#1" in found.stdout.replace("\\\\", "\\")
    assert r"odd-\udcff/a.txt#1" in (tmp_path / "out.xml").read_text()
    found = run(["--format", "json", os.fsdecode(folder + b"/b.json")], tmp_path)
    (trouble,) = json.loads(found.stdout)["troubles"]
    assert found.stderr == f"loopcheck: {trouble}\n"
    assert r"odd-\udcff/b.json: " in trouble


def test_one_is_singular(tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "a.txt").write_text("word ")
    (tmp_path / "clean" / "b.json").symlink_to("nowhere")
    found = run(
        ["clean", "--max-response-chars", "1", "--check", "--rules", "saturation"], tmp_path
    )
    assert "\n1 transcript (1 clean, 0 loop, 0 unlabelled); 1 word, 5 characters; " in found.stdout
    assert "; 1 trouble; 1 gate failure\n" in found.stdout


# --- Gates ---------------------------------------------------------------------------------------


def test_the_baseline_catches_a_changed_default(corpus: Path) -> None:
    first = run(["runs", "--baseline", "base.json", "--update-baseline"], corpus)
    assert first.status == 0
    assert run(["runs", "--baseline", "base.json"], corpus).status == 0
    program = (
        "import sys\nfrom loopcli.rules.saturation import config as saturation\n"
        "from loopcli.cli import main\n"
        "new = saturation.SaturationConfig.__new__\n"
        "new.__defaults__ = (*new.__defaults__[:3], 1200, new.__defaults__[4])\n"
        "sys.exit(main(['analyze', 'runs', '--baseline', 'base.json']))\n"
    )
    changed = subprocess.run(
        [sys.executable, "-c", program],
        cwd=corpus,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert changed.returncode == 3
    assert "min-saturated-run: 3000 -> 1200" in changed.stderr
    assert "tiles.txt#1: the verdict of saturation changed: no trip -> repetition" in changed.stderr


def test_a_baseline_tells_what_rose_fell_came_and_went(corpus: Path) -> None:
    run(["runs", "--baseline", "b", "--update-baseline"], corpus)
    (corpus / "runs/loop/short.txt").write_text(VOID * 300)
    (corpus / "runs/loop/void.txt").write_text(VOID * 1900)
    (corpus / "runs/clean/prose.txt").unlink()
    (corpus / "runs/clean/new.txt").write_text(PROSE)
    found = run(["runs", "--baseline", "b"], corpus)
    assert found.status == 3
    assert found.stderr.splitlines() == [
        "loopcheck: baseline: 1 of the transcripts are not in the baseline",
        "loopcheck: baseline: 1 of the baseline's transcripts are missing",
        "loopcheck: baseline: 1 of the peaks fell",
        "loopcheck: baseline: runs/loop/short.txt#1: the peak of saturation rose: 335 -> 535",
    ]


def test_a_check_of_nothing_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PROSE)
    found = run(["a.txt", "--check"], tmp_path)
    assert (found.status, "nothing to check" in found.stderr) == (1, True)


def test_a_check_that_holds(corpus: Path) -> None:
    assert run(["--check", "runs/clean", "runs/loop/void.txt"], corpus).status == 0
    assert run(["--max-peak", "saturation=1409", "runs"], corpus).status == 0


def test_a_trip_before_the_onset_has_not_found_the_loop(corpus: Path) -> None:
    (corpus / "labels.csv").write_text("id,label,onset\nruns/loop/void.txt,loop,15000\n")
    found = run(["--check", "--labels", "labels.csv", "runs/loop/void.txt"], corpus)
    assert (found.status, "before its onset" in found.stderr) == (3, True)


def test_labels_that_nothing_bears_are_told(corpus: Path) -> None:
    lines = "".join(f"nowhere/{n}.txt,clean\n" for n in range(7))
    (corpus / "labels.csv").write_text(lines)
    found = run(["--labels", "labels.csv", "runs"], corpus)
    assert found.stderr.count("no reply has the id nowhere/") == 5
    assert "2 more labels belong to no reply" in found.stderr
    assert found.status == 0


def test_junit_counts_failures_and_errors(corpus: Path) -> None:
    (corpus / "runs/broken.txt.gz").write_bytes(gzip.compress(PROSE.encode())[:-9])
    (corpus / 'runs/clean/bad\x01<&".txt').write_text(VOID * 2000)
    found = run(["--check", "--junit", "out.xml", "runs"], corpus)
    assert found.status == 1
    suite = ET.parse(corpus / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("7", "2", "1")
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {"runs/loop/short.txt#1", 'runs/clean/bad\\u0001<&".txt#1'}


def test_what_no_single_rule_is_at_fault_for_has_none(corpus: Path) -> None:
    args = ["--check", "--format", "json", "--max-peak", "1408", "runs"]
    failures = json.loads(run(args, corpus).stdout)["failures"]
    assert [list(failure) for failure in failures] == [["id", "gate", "rule", "message"]] * 2
    assert {failure["gate"]: failure["rule"] for failure in failures} == {
        "check": None,
        "max-peak": "saturation",
    }


# --- Trace ---------------------------------------------------------------------------------------


def test_a_trace_of_what_is_not_there(corpus: Path) -> None:
    found = run(["--trace", "runs/nothing#1", "runs"], corpus)
    assert (found.status, "no transcript has the id runs/nothing#1" in found.stderr) == (1, True)


def test_a_trace_draws_the_ceiling_and_names_the_words(corpus: Path) -> None:
    found = run(["--trace", "runs/loop/void.txt", "runs"], corpus)
    lines = found.stdout.splitlines()
    assert lines[0].startswith("runs/loop/void.txt#1: saturation, content: peak 3935 of 3000")
    assert any(line.startswith("3000 ┤") and "█" in line for line in lines)
    assert 'repeating: "0;" "void"' in lines
    assert "trip: repetition at word 3065, character 12261" in lines
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("rule", ["period", "novelty"])
def test_a_trace_leaves_out_what_a_rule_does_not_count(rule: str, corpus: Path) -> None:
    found = run(["--trace", "runs/loop/void.txt", "--rules", rule, "runs"], corpus)
    assert "\npeak: began after character " in found.stdout
    assert "None" not in found.stdout
