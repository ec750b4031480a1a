"""Files as arguments: judged and printed in order, as jq and ripgrep do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, environ, loopcheck

LOOP = "round and round, " * 60


def chat(*texts: str, end: bool = True) -> str:
    """A chat stream of these deltas."""
    deltas = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    events = [f"data: {json.dumps(delta)}\n\n" for delta in deltas]
    return "".join(events) + ("data: [DONE]\n\n" if end else "")


CLEAN, CUT = chat("All ", "is well."), chat("Half a", end=False)
ERROR = f"data: {json.dumps({'error': {'message': 'overloaded'}})}\n\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of each kind, which is the current one."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "clean.sse": CLEAN,
        "clean.txt": "a note\n",
        "loop.txt": LOOP,
        "long.txt": "".join(map(str, range(400))),
        "error.sse": ERROR,
        "bad.sse": CLEAN + "data: {nope\n\n",
        "cut.sse": CUT,
        "run": "a note in a file named as a command is\n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    return tmp_path


def test_files_are_printed_in_order(folder: Path) -> None:
    done = loopcheck("clean.sse", "clean.txt", "clean.sse")
    assert (done.returncode, done.stdout, done.stderr) == (0, CLEAN + "a note\n" + CLEAN, "")


def test_a_loop_is_cut_and_the_next_file_follows(folder: Path) -> None:
    done = loopcheck("loop.txt", "clean.txt")
    looped = done.stdout.removesuffix("a note\n")
    assert done.returncode == 3
    assert LOOP.startswith(looped)
    assert len(looped) < len(LOOP)
    assert done.stderr.startswith("loopcheck: loop.txt: stopped a loop (period, letters): ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["clean.txt", "clean.sse"], 0),
        (["long.txt", "clean.txt"], 4),
        (["loop.txt", "long.txt"], 3),
        (["error.sse", "loop.txt"], 6),
        (["bad.sse", "error.sse"], 5),
        (["bad.sse", "nope.txt", "clean.txt"], 1),
        (["folder", "clean.txt"], 1),
        (["clean.txt", "folder"], 1),
    ],
    ids=str,
)
def test_the_worst_status_of_all_files(names: list[str], status: int, folder: Path) -> None:
    done = loopcheck("--max-response-chars", "1000", *names)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    # Each message names its file, and none is for one that is clean.
    named = {line.split(": ")[1] for line in done.stderr.splitlines()}
    assert named == {name for name in names if not name.startswith("clean")}


def test_what_cannot_be_read_does_not_keep_the_others_from_being_printed(folder: Path) -> None:
    done = loopcheck("nope.txt", "folder", "clean.txt")
    assert (done.returncode, done.stdout) == (1, "a note\n")
    assert done.stderr.splitlines() == [
        "loopcheck: nope.txt: cannot read: No such file or directory",
        "loopcheck: folder: cannot read: Is a directory",
    ]


def test_a_dash_is_standard_input(folder: Path) -> None:
    done = loopcheck("clean.txt", "-", "clean.txt", stdin="from the pipe\n")
    assert (done.returncode, done.stdout) == (0, "a note\nfrom the pipe\na note\n")


def test_options_may_stand_behind_a_file(folder: Path) -> None:
    assert loopcheck("loop.txt", "--dry-run").stdout == LOOP
    assert loopcheck("--rules", "period", "loop.txt", "--dry-run").stdout == LOOP
    assert loopcheck("loop.txt", "--nope").returncode == 2


def test_a_file_with_the_name_of_a_command(folder: Path) -> None:
    done = loopcheck("./run")
    assert (done.returncode, done.stdout[:6]) == (0, "a note")
    assert loopcheck("clean.txt", "run").stdout == "a note\n" + (folder / "run").read_text()


def test_a_file_with_a_name_that_is_like_a_command(folder: Path) -> None:
    (folder / "analyse").write_text("a note\n")
    assert loopcheck("analyse").stdout == "a note\n"
    assert loopcheck("analyse", "jurnal").returncode == 1


def test_a_missing_file_is_not_taken_for_a_mistyped_command(folder: Path) -> None:
    done = loopcheck("jurnal.txt")
    assert done.returncode == 1
    assert done.stderr == "loopcheck: jurnal.txt: cannot read: No such file or directory\n"


def test_names_are_shown_escaped(folder: Path) -> None:
    (folder / "a\x1b[2J.txt").write_text(LOOP)
    done = loopcheck("a\x1b[2J.txt")
    assert done.returncode == 3
    assert "\x1b" not in done.stderr


def test_each_text_ends_a_line(folder: Path) -> None:
    done = loopcheck("--emit", "text", "clean.sse", "clean.txt", "clean.sse")
    assert done.stdout == "All is well.\na note\nAll is well.\n"
    # One alone is left as it is, as from standard input.
    assert loopcheck("--emit", "text", "clean.sse").stdout == "All is well."


def test_each_file_is_held_by_itself(folder: Path) -> None:
    done = loopcheck("--hold", "clean.txt", "loop.txt", "clean.txt")
    assert (done.returncode, done.stdout) == (3, "a note\na note\n")


def test_each_file_is_judged_by_itself(folder: Path) -> None:
    half = LOOP[: len(LOOP) // 2]
    (folder / "half.txt").write_text(half)
    assert loopcheck("half.txt", "half.txt").returncode == 0


def test_a_report_covers_all_files(folder: Path) -> None:
    loopcheck("--report", "report", "clean.txt", "loop.txt", "nope.txt")
    records = [json.loads(line) for line in (folder / "report").read_text().splitlines()]
    assert [record["type"] for record in records] == (
        ["begin", "end", "begin", "verdict", "end", "begin", "problem", "end"]
    )
    begins = [record for record in records if record["type"] == "begin"]
    assert [record["file"] for record in begins] == ["clean.txt", "loop.txt", "nope.txt"]
    ends = [record for record in records if record["type"] == "end"]
    assert [record["status"] for record in ends] == [0, 3, 1]
    assert [record["bytes_out"] for record in ends][::2] == [7, 0]
    loopcheck("--report", "report", stdin="a note")
    assert "file" not in json.loads((folder / "report").read_text().splitlines()[0])


def test_the_armed_rules_are_named_once(folder: Path) -> None:
    done = loopcheck("--preset", "gg", "-v", "clean.txt", "clean.sse")
    assert done.stderr.count("armed") == 1
    assert done.stderr.count(": done (") == 2


def test_a_warning_about_a_setting_comes_once(folder: Path) -> None:
    done = loopcheck("--rules", "period", "--window-words", "9", "clean.txt", "clean.sse")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("loopcheck: warning: --window-words")


def test_a_full_disk_ends_the_work(folder: Path) -> None:
    command = [sys.executable, "-m", "loopcli", "clean.txt", "clean.sse"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environ(), timeout=PATIENCE
        )
    assert done.returncode == 1
    assert done.stderr.count(b"No space left on device") == 1


def test_the_output_is_not_read(folder: Path) -> None:
    command = [sys.executable, "-m", "loopcli", "clean.txt"]
    with open("clean.txt", "ab") as file:
        done = subprocess.run(
            command, stdout=file, stderr=subprocess.PIPE, env=environ(), timeout=PATIENCE
        )
    assert done.returncode == 1
    assert b"it is standard output" in done.stderr
    assert (folder / "clean.txt").read_text() == "a note\n"


@pytest.mark.parametrize("option", ["--report", "--state"])
def test_a_file_that_is_read_is_not_overwritten(option: str, folder: Path) -> None:
    os.link("clean.txt", "same.txt")
    done = loopcheck(option, "same.txt", "clean.txt")
    assert done.returncode == 2
    assert (folder / "clean.txt").read_text() == "a note\n"


def test_a_session_goes_on_in_the_next_file(folder: Path) -> None:
    turn = json.dumps({"calls": [{"name": "ls", "args": {"path": "."}}]}) + "\n"
    for name in ("one", "two"):
        (folder / name).write_text(turn * 3)
    options = ["--input", "turns", "--block", "0", "--stop", "5"]
    assert loopcheck(*options, "./one", "./two").returncode == 0
    assert loopcheck(*options, "--state", "state", "./one", "./two").returncode == 3
