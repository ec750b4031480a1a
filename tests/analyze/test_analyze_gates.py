"""The gates of `loopcheck analyze`: their files, and what they say when they cannot judge."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from analyzing import COMMAND, ROOT, VOID, Run, environment, run
from processes import PATIENCE

PROSE = (ROOT / "fixtures" / "replies" / "clean" / "prose.txt").read_text("utf-8")
ERROR = b'data: {"error": {"message": "no more", "code": 500}}\n\n'
UPDATE = ["--baseline", "base.json", "--update-baseline"]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "runs" / "loop").mkdir(parents=True)
    (tmp_path / "runs" / "loop" / "void.txt").write_text(VOID * 2000)
    (tmp_path / "runs" / "prose.txt").write_text(PROSE)
    return tmp_path


def junit(path: Path) -> tuple[list[str], list[str]]:
    """The messages of the failures and of the errors in a report."""
    suite = ET.parse(path).getroot()[0]
    failures, errors = (
        [found.get("message") or "" for case in suite for found in case.findall(kind)]
        for kind in ("failure", "error")
    )
    assert (suite.get("failures"), suite.get("errors")) == (str(len(failures)), str(len(errors)))
    assert suite.get("tests") == str(len(suite))
    return failures, errors


# --- Writing a baseline --------------------------------------------------------------------------


@pytest.mark.parametrize("content", [PROSE, '{"name": "a-package"}', "[" * 100_000, "[]"])
def test_a_file_that_is_no_baseline_is_never_overwritten(content: str, here: Path) -> None:
    (here / "base.json").write_text(content)
    # Told before all the work: what cannot be read has not been met.
    found = run(["runs", "nowhere", *UPDATE], here)
    told = "loopcheck: base.json: not a baseline of loopcheck, so it is not overwritten\n"
    assert found == Run(2, "", told)
    assert (here / "base.json").read_text() == content


@pytest.mark.parametrize(
    "content", ["", '{"format": 0, "settings": [], "transcripts": {}}'], ids=["empty", "another"]
)
def test_an_empty_file_and_a_baseline_of_another_version_are_overwritten(
    content: str, here: Path
) -> None:
    (here / "base.json").write_text(content)
    assert run(["runs", *UPDATE], here).status == 0
    assert run(["runs", "--baseline", "base.json"], here).status == 0
    assert run(["runs", *UPDATE], here).status == 0


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        (["runs", "nowhere"], "not all could be read"),
        (["none"], "no transcript was read"),
    ],
)
def test_a_baseline_of_half_a_corpus_is_not_written(paths: list[str], why: str, here: Path) -> None:
    (here / "none").mkdir()
    (here / "none" / "package.json").write_text('{"name": "a"}')
    for old in (None, b""):
        if old is not None:
            (here / "base.json").write_bytes(old)
        found = run([*paths, *UPDATE, "--junit", "junit.xml"], here)
        told = f"baseline: base.json is not written: {why}"
        assert (found.status, told in found.stderr) == (1, True)
        assert told in junit(here / "junit.xml")[1]
        assert (here / "base.json").exists() is (old is not None)


def test_what_the_provider_did_keeps_no_baseline_from_being_written(here: Path) -> None:
    (here / "runs" / "error.sse").write_bytes(ERROR)
    (here / "runs" / "lines.jsonl").write_text('{"text": "one two"}\n{"text":\n')
    assert run(["runs", *UPDATE], here).status == 5
    assert set(json.loads((here / "base.json").read_text())["transcripts"]) >= {
        "runs/prose.txt#1",
        "runs/lines.jsonl#1",
    }


def limited(args: list[str], cwd: Path) -> Run:
    """Run with files of 100 bytes at most."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = subprocess.run(
        [*COMMAND, "--rules", "saturation", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=environment({"PYTHONDONTWRITEBYTECODE": "1"}),
        preexec_fn=limit,
        timeout=PATIENCE,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("args", [["--junit", "out"], ["--baseline", "out", "--update-baseline"]])
def test_what_cannot_be_written_is_named_and_the_table_printed(args: list[str], here: Path) -> None:
    assert run(["runs", *args], here).status == 0
    before = (here / "out").read_bytes()
    found = limited(["runs", *args], here)
    assert (found.status, found.stderr) == (1, "loopcheck: out: cannot write: File too large\n")
    assert "runs/prose.txt#1" in found.stdout
    assert (here / "out").read_bytes() == before
    assert sorted(os.listdir(here)) == ["out", "runs"]


# --- Nothing to judge ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["runs/prose.txt", "--check"], "check: no transcript is labelled"),
        (["runs/loop", "--max-peak", "9"], "max-peak: saturation judged no reply"),
        (
            ["runs/prose.txt", "--watch", "reasoning", "--max-peak", "9"],
            "max-peak: saturation judged no reply",
        ),
        (["more", "--baseline", "base.json"], "baseline: it has no transcript in common"),
    ],
)
def test_a_gate_with_nothing_to_judge_does_not_pass(args: list[str], told: str, here: Path) -> None:
    (here / "more").mkdir()
    (here / "more" / "prose.txt").write_text(PROSE)
    run(["runs", *UPDATE], here)
    found = run([*args, "--junit", "junit.xml"], here)
    assert (found.status, told in found.stderr) == (1, True)
    failures, (error,) = junit(here / "junit.xml")
    assert (failures, error.startswith(told)) == ([], True)
    document = json.loads(run([*args, "--format", "json"], here).stdout)
    assert document["troubles"] == [error]


def test_gates_that_judge_something_pass(here: Path) -> None:
    run(["runs", *UPDATE], here)
    (here / "runs" / "new.txt").write_text(PROSE)
    args = ["--check", "--max-peak", "9", "--baseline", "base.json", "--junit", "junit.xml"]
    assert run(["runs", *args], here).status == 0
    assert junit(here / "junit.xml") == ([], [])


@pytest.mark.parametrize(
    "flag", ["baseline", "junit", "labels", "trace", "config", "files0-from", "text-field"]
)
def test_an_empty_name_is_a_usage_error(flag: str, here: Path) -> None:
    found = run(["runs", f"--{flag}", ""], here)
    assert (found.status, found.stdout) == (2, "")
    assert f"--{flag}" in found.stderr


@pytest.mark.parametrize("args", [["--junit", "-"], ["--baseline", "-", "--update-baseline"]])
def test_a_dash_is_no_file_to_write(args: list[str], here: Path) -> None:
    found = run(["runs", *args], here)
    assert (found.status, "/dev/stdout is standard output" in found.stderr) == (2, True)
    assert not (here / "-").exists()


def test_an_interrupted_analysis_is_an_error_of_the_report(here: Path) -> None:
    program = (
        "import sys\nfrom loopcli.analyze import survey\nfrom loopcli.cli import main\n"
        "def interrupted(*_):\n    raise KeyboardInterrupt\n"
        "survey.Survey._run = interrupted\nmain(sys.argv[1:])\n"
    )
    args = ["analyze", "runs", "--junit", "junit.xml", "--max-peak", "9", *UPDATE]
    done = subprocess.run(
        [sys.executable, "-c", program, *args],
        cwd=here,
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == -2
    assert "interrupted: 0 of 0 files have been analysed" in junit(here / "junit.xml")[1]
    assert not (here / "base.json").exists()


# --- Reading a baseline --------------------------------------------------------------------------

WHOLE: dict[str, Any] = {
    "format": 1,
    "settings": {"saturation": {"watch": ["content"], "window_words": 256}},
    "transcripts": {"a#1": {"saturation": {"peak": 1, "verdict": None}}},
}
DAMAGED = {
    "deep": "[" * 100_000,
    "digits": json.dumps(WHOLE).replace('"peak": 1', '"peak": ' + "9" * 5000),
    "infinite": json.dumps(WHOLE).replace('"peak": 1', '"peak": 1e999'),
    "text": json.dumps(WHOLE).replace('"peak": 1', '"peak": "1"'),
    "verdict": json.dumps(WHOLE).replace("null", "[1]"),
    "deep settings": json.dumps(WHOLE).replace("256", "[" * 500 + "]" * 500),
    "settings": json.dumps(WHOLE | {"settings": {"saturation": [1]}}),
    "not UTF-8": json.dumps(WHOLE).replace("a#1", "\udcff"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_baseline_is_a_usage_error(damage: str, here: Path) -> None:
    text = DAMAGED[damage].replace("\\udcff", "\udcff")
    (here / "base.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    found = run(["runs", "--baseline", "base.json"], here)
    assert found == Run(2, "", "loopcheck: base.json: not a baseline of loopcheck\n")


@pytest.mark.parametrize("flag", ["--baseline", "--labels", "--config"])
def test_a_file_that_cannot_be_read_is_trouble(flag: str, here: Path) -> None:
    for name in ("nowhere", "runs"):
        found = run(["runs", flag, name], here)
        assert (found.status, found.stdout) == (1, "")
        assert found.stderr.startswith(f"loopcheck: {name}: ")


def test_settings_that_changed_are_told_in_plain_words(here: Path) -> None:
    run(["runs", *UPDATE], here)
    args = ["runs", "--baseline", "base.json", "--rules"]
    more = run([*args, "saturation,novelty", "--watch", "all"], here)
    told = [line for line in more.stderr.splitlines() if "settings" in line]
    assert told == [
        "loopcheck: baseline: settings: novelty is armed, and was not",
        "loopcheck: baseline: settings: saturation: watch: content -> content,reasoning,tool-args",
    ]
    less = run([*args, "novelty"], here)
    assert "settings: saturation was armed, and is not\n" in less.stderr
    for found in (more, less):
        assert not {"<", "{", "["} & set(found.stderr)
