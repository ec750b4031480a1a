"""The journal under many hands, after power cuts and on full disks; and its sums."""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE, environ, loopcheck

from loopcli.errors import ConfigError
from loopcli.lenient_json import dump_line
from loopcli.run import journal
from loopcli.run.journal import Damage, Journal, LockWait, Previous
from loopcli.run.rollup import Rollup, fields


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def turn(turns: int, **more: Any) -> dict[str, Any]:
    return {"type": "turn_outcome", "consecutiveErrors": 0, "turns": turns} | more


def records(path: Path) -> list[Any]:
    return list(journal.read(str(path)))


# Appending


def test_what_was_before_is_the_sessions_last_turn(path: Path) -> None:
    book = Journal(str(path))
    seen = []

    def note(previous: Previous) -> list[journal.Record]:
        seen.append(previous)
        return []

    for session, record in (
        ("a", turn(1, session="a")),
        ("b", turn(7, session="b", consecutiveErrors=2)),
        ("a", {"type": "model_error", "turn": 99, "session": "a", "note": "turn_outcome"}),
        ("", turn(3)),
    ):
        book.append(session, lambda _, record=record: [record])
    for session in ("a", "b", "", "c"):
        book.append(session, note)
    assert seen == [Previous(1, 0), Previous(7, 2), Previous(3, 0), Previous()]
    book.close()


@pytest.mark.parametrize("size", [10, 63_000, 64 * 1024, 200_000])
def test_the_last_turn_may_be_far_back(size: int, path: Path) -> None:
    old = json.dumps(turn(5, session="a", note="x" * size))
    rest = "".join(json.dumps(turn(i, session="b")) + "\n" for i in range(5000))
    path.write_text(old + "\n" + rest)
    book = Journal(str(path))
    seen = []
    book.append("a", lambda previous: seen.append(previous) or [])  # type: ignore[func-returns-value]
    book.close()
    assert seen == [Previous(5, 0)]


def wait_for(processes: list[subprocess.Popen[bytes]]) -> list[int]:
    return [process.wait(PATIENCE) for process in processes]


# A line longer than a pipe or a page is still one write.
APPEND = """
import sys
from loopcli.run.journal import Journal
path, session = sys.argv[1:]
book = Journal(path)
for _ in range(50):
    book.append(session, lambda previous: [
        {"type": "turn_outcome", "turns": previous.turns + 1, "session": session},
        {"type": "filler", "text": "x" * 9000},
    ])
"""


def test_ten_processes_lose_and_tear_nothing(path: Path) -> None:
    wait = [
        subprocess.Popen([sys.executable, "-c", APPEND, path, session], env=environ())
        for session in ["shared"] * 5 + ["a", "b", "c", "d", "e"]
    ]
    assert wait_for(wait) == [0] * 10
    found = records(path)
    assert not any(isinstance(record, Damage) for record in found)
    assert Counter(record["type"] for record in found) == {"turn_outcome": 500, "filler": 500}
    turns: dict[str, list[int]] = {}
    for record in found:
        if record["type"] == "turn_outcome":
            turns.setdefault(record["session"], []).append(record["turns"])
    assert turns.pop("shared") == list(range(1, 251))
    assert list(turns.values()) == [list(range(1, 51))] * 5


def test_ten_runs_write_one_journal(path: Path) -> None:
    command = [sys.executable, "-m", "loopcli", "run", "-q", "--retries", "0", "--rules=saturation"]
    command += ["--journal", path]
    children = [["echo", "hello"], ["yes", "void 0;"]] * 5
    wait = [
        subprocess.Popen([*command, *child], env=environ(), stdout=subprocess.DEVNULL)
        for child in children
    ]
    assert wait_for(wait) == [0, 123] * 5
    found = records(path)
    outcomes = [record for record in found if record["type"] == "turn_outcome"]
    assert [record["turns"] for record in outcomes] == list(range(1, 11))
    assert sum(record.get("loopAbortChars", 0) for record in outcomes) == 5 * 12_261
    assert sum(record["type"] == "model_error" for record in found) == 5
    errors = 0
    for record in outcomes:
        errors = errors + 1 if record["outcome"] == "error" else 0
        assert record["consecutiveErrors"] == errors


def test_consecutive_errors_follow_from_the_journal(path: Path) -> None:
    for command in ("true", "false", "false", "true", "false"):
        loopcheck("run", "--journal", path, "--session", "s", "--", command)
    assert [r["consecutiveErrors"] for r in records(path)] == [0, 1, 2, 0, 1]
    assert [r["turns"] for r in records(path)] == [1, 2, 3, 4, 5]
    loopcheck("run", "--journal", path, "--session", "s", "--turn", "40", "--", "false")
    loopcheck("run", "--journal", path, "--session", "s", "--", "true")
    assert [r["turns"] for r in records(path)][5:] == [40, 41]
    assert records(path)[5]["consecutiveErrors"] == 2


def test_a_torn_last_line_is_reported_and_skipped(path: Path) -> None:
    whole = json.dumps(turn(4, session="s")) + "\n"
    path.write_text(whole + '{"type":"turn_outcome","turns":5,"sess')
    read = loopcheck("journal", "--json", path)
    assert read.returncode == 0
    assert read.stderr == f"loopcheck: warning: {path}: line 2 is torn; it is skipped\n"
    assert json.loads(read.stdout)["errors"]["turns"] == 1
    run = loopcheck("run", "--journal", path, "--session", "s", "--", "echo", "hello")
    assert (run.returncode, run.stdout) == (0, "hello\n")
    assert f"warning: {path}: the last line was torn; it does not count" in run.stderr
    first, second, third = records(path)
    assert (first["turns"], second, third["turns"]) == (4, Damage(2, torn=False), 5)
    read = loopcheck("journal", "--json", path)
    assert read.stderr == f"loopcheck: warning: {path}: line 2 is not a record; it is skipped\n"
    assert json.loads(read.stdout)["errors"]["turns"] == 2


def test_a_last_line_that_only_lacks_its_end_counts(path: Path) -> None:
    path.write_text(json.dumps(turn(4)))
    loopcheck("run", "--journal", path, "--", "true")
    assert [record["turns"] for record in records(path)] == [4, 5]


def test_what_does_not_fit_is_taken_back(path: Path) -> None:
    path.write_text(json.dumps(turn(4)) + "\n")
    before = path.read_bytes()
    book = Journal(str(path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            book.append("", lambda _: [turn(5), turn(6)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
        book.close()
    assert path.read_bytes() == before


def test_a_reply_is_printed_even_if_the_journal_is_full() -> None:
    done = loopcheck("run", "--journal", "/dev/full", "--", "echo", "hello")
    assert (done.returncode, done.stdout) == (125, "hello\n")
    assert "/dev/full: cannot record this turn: No space left" in done.stderr


def test_a_pipe_is_a_journal_without_a_past(path: Path) -> None:
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    done = loopcheck("run", "--journal", path, "--", "true")
    assert done.returncode == 0
    assert json.loads(os.read(reader, 4096))["turns"] == 1
    os.close(reader)


@pytest.mark.parametrize("end", [b"", b"\n"], ids=["torn", "whole"])
def test_a_giant_line_is_damage_and_takes_no_memory(end: bytes, path: Path) -> None:
    """Longer than any record, it is read past, once."""
    giant = journal._LONGEST + 5
    with path.open("wb") as file:
        file.write(json.dumps(turn(5, session="a")).encode() + b"\n")
        file.write(b"turn_outcome" + bytes(giant) + end)
    book = Journal(str(path))
    seen: list[Previous] = []
    tracemalloc.start()
    torn = book.append("a", lambda previous: seen.append(previous) or [turn(6)])  # type: ignore[func-returns-value]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    book.close()
    assert (seen, torn) == ([Previous(5, 0)], end == b"")
    assert most < giant + 5_000_000
    kinds = [record if isinstance(record, Damage) else record["turns"] for record in records(path)]
    assert kinds == [5, Damage(2, torn=False), 6]


def test_what_was_appended_meanwhile_counts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the file and its lock others may write, or take a line back."""
    path.write_text(json.dumps(turn(1)) + "\n")
    book, other = Journal(str(path)), Journal(str(path))
    lock = Journal._lock
    for change, expected in (
        (lambda: other.append("", lambda _: [turn(7)]), 7),
        (lambda: os.truncate(path, 0), 0),
    ):

        def changed(self: Journal, wait: LockWait, change: Callable[[], object] = change) -> None:
            if self is book:
                change()
            lock(self, wait)

        monkeypatch.setattr(Journal, "_lock", changed)
        seen: list[int] = []
        book.append("", lambda previous, seen=seen: seen.append(previous.turns) or [])  # type: ignore[func-returns-value,misc]
        assert seen == [expected]
    book.close()
    other.close()


def test_a_lock_is_waited_for_and_given_up(path: Path) -> None:
    book, other = Journal(str(path)), Journal(str(path))
    fcntl.flock(other._fd, fcntl.LOCK_EX)
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            fcntl.flock(other._fd, fcntl.LOCK_UN)

    book.append("", lambda _: [turn(1)], LockWait(3600, sleep))
    assert len(naps) == 3
    fcntl.flock(other._fd, fcntl.LOCK_EX)
    with pytest.raises(OSError, match="another process holds its lock"):
        book.append("", lambda _: [turn(2)], LockWait(0, pytest.fail))
    assert [record["turns"] for record in records_unlocked(path)] == [1]
    book.close()
    other.close()


def records_unlocked(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_pipe_whose_reader_has_stalled_is_given_up(path: Path) -> None:
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    book = Journal(str(path))
    big = [turn(1, note="x" * 1_000_000)]
    with pytest.raises(OSError, match="nobody reads it"):
        book.append("", lambda _: big, LockWait(0))
    book.close()
    os.close(reader)


def test_what_a_provider_sent_can_be_written() -> None:
    record = {"type": "x", "big": 2**70, "half": "\ud83d"}
    assert journal.loads(dump_line(record)) == record


def test_figures_that_are_none_count_as_nothing(path: Path) -> None:
    odd = ["true", "-3", "1.5", '"7"', "[]", "{}", "null", "NaN", "1e999", "9" * 400]
    path.write_text("".join(
        f'{{"type": "turn_outcome", "session": {value}, "model": {value}, "error": {value}, '
        f'"loopAborts": {value}, "consecutiveErrors": {value}, "workCost": {value}}}\n'
        f'{{"type": {value}}}\n'
        for value in odd
    ))  # fmt: skip
    done = loopcheck("journal", "--json", path)
    assert (done.returncode, done.stderr) == (0, "")
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(summary["errors"]["turns"] for summary in seen) == len(odd)
    assert sum(summary["errors"]["loopAborts"] for summary in seen) == 0
    assert sum(summary["workCost"] or 0 for summary in seen) == 1.5 - 3
    assert loopcheck("journal", "--sum", "summary.workCost", path).stdout.split() == ["-1.5"]


# Summing up


BOOK = [
    turn(1, session="s", model="m/a", loopAborts=2, loopAbortWords=6130, loopAbortChars=38900,
         totalCost=0.25, workCost=0.25),
    {"type": "abandoned_replies", "turn": 1, "session": "s", "model": "m/a", "totalCost": 0.5,
     "workCost": 0, "loopAbortPriced": 1, "loopAbortUnpriced": 1},
    turn(2, session="s", model="m/a", error="model_api", errorType="model_response_loop",
         consecutiveErrors=1, loopAborts=4, loopAbortWords=12260, loopAbortChars=49044),
    {"type": "model_error", "kind": "response_loop", "turn": 2, "session": "s", "discarded": 4},
    turn(3, session="s", model="m/b", error="program_fault", consecutiveErrors=2),
    turn(4, session="s", model="m/b", outcome="fatal", errorType="interrupted",
         consecutiveErrors=2),
    turn(1, session="t", model="m/b", error="transpile", consecutiveErrors=1, loopAborts=1,
         loopAbortWords=10, loopAbortChars=100),
    turn(1),
    {"type": "something else", "session": "u", "loopAborts": 9},
]  # fmt: skip


@pytest.fixture
def book(path: Path) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in BOOK))
    return path


def test_the_rollup_of_sessions(book: Path) -> None:
    done = loopcheck("journal", "--json", book)
    assert (done.returncode, done.stderr) == (0, "")
    first, *others = map(json.loads, done.stdout.splitlines())
    assert first == {
        "type": "summary",
        "session": "s",
        "models": ["m/a", "m/b"],
        "errors": {
            "turns": 4,
            "errors": 2,
            "maxConsecutive": 2,
            "modelApi": 1,
            "transpile": 0,
            "programFault": 1,
            "sandboxLimit": 0,
            "missingCompletion": 0,
            "loopAborts": 6,
            "loopAbortWords": 18390,
            "loopAbortChars": 87944,
        },
        "totalCost": 0.75,
        "workCost": 0.25,
        "loopAbortUnpriced": 5,
    }
    assert [(o["session"], o["errors"]["turns"]) for o in others] == [("t", 1), ("-", 1)]


SUMS = [
    (["summary.errors.loopAbortChars"], "       88044\n"),
    (["summary.errors.loopAbortChars", "--by", "model"],
     "       87944  m/a\n         100  m/b\n           0  -\n"),
    (["summary.errors.loopAbortChars", "--by", "session"],
     "       87944  s\n         100  t\n           0  -\n"),
    (["summary.totalCost", "--by", "model"],
     "        0.75  m/a\n         n/a  -\n         n/a  m/b\n"),
    (["summary.loopAbortUnpriced", "--by", "model"],
     "           5  m/a\n           1  m/b\n           0  -\n"),
    # A sum over sessions, not over turns.
    (["summary.errors.maxConsecutive"], "           3\n"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "printed"), SUMS)
def test_one_figure_by_group(arguments: list[str], printed: str, book: Path) -> None:
    done = loopcheck("journal", "--sum", *arguments, book)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", printed)


def test_by_file_and_as_json(book: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(json.dumps(BOOK[2]) + "\n")
    done = loopcheck(
        "journal", "--json", "--sum", "summary.errors.loopAborts", "--by", "file", book, other
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"type": "sum", "field": "summary.errors.loopAborts", "file": str(book), "sum": 7},
        {"type": "sum", "field": "summary.errors.loopAborts", "file": str(other), "sum": 4},
    ]


def test_an_unreadable_file_does_not_stop_the_others(book: Path, tmp_path: Path) -> None:
    done = loopcheck("journal", "--json", tmp_path / "nosuch", tmp_path, book)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"loopcheck: {tmp_path / 'nosuch'}: No such file or directory",
        f"loopcheck: {tmp_path}: Is a directory",
    ]
    assert len(done.stdout.splitlines()) == 3


def test_usage() -> None:
    for arguments in (["--by", "model"], ["--sum", "nosuch"], ["--sum"]):
        done = loopcheck("journal", *arguments, "/dev/null")
        assert (done.returncode, done.stdout) == (2, "")
    with pytest.raises(ConfigError, match=r"summary\.errors\.turns"):
        Rollup().sums("nosuch")
    assert "did you mean" in loopcheck("journal", "--sum", "summary.cost", "/dev/null").stderr


def test_people_get_a_table(book: Path) -> None:
    done = loopcheck("journal", book)
    assert (done.returncode, done.stderr) == (0, "")
    head, _, *rows = done.stdout.splitlines()
    assert re.split(r" {2,}", head.strip()) == (
        ["session", "models", "turns", "failed", "loops", "words lost", "characters", "cost"]
    )
    assert [re.split(r" {2,}", row.strip()) for row in rows] == [
        ["s", "m/a, m/b", "4", "2", "6", "18,390", "87,944", "0.75 + 5 unpriced"],
        ["t", "m/b", "1", "1", "1", "10", "100", "n/a"],
        ["-", "n/a", "1", "0", "0", "0", "0", "n/a"],
    ]


def test_names_in_the_table_are_escaped(path: Path) -> None:
    path.write_text(json.dumps(turn(1, session="a\x1b[2J", model="b\nc")) + "\n")
    done = loopcheck("journal", path)
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.parametrize("text", ["", "\n\n", "no JSON\nat all\n", '{"type": "other"}\n', "[1]\n{"])
@pytest.mark.parametrize("how", [[], ["--json"], ["--sum", fields()[0]]], ids=str)
def test_a_file_without_records_is_one_line(how: list[str], text: str, path: Path) -> None:
    path.write_text(text)
    done = loopcheck("journal", *how, path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"loopcheck: {path}: it has no record of a turn, as `run --journal` writes one"
    ]


def test_what_has_no_price_is_not_free(path: Path) -> None:
    lost = turn(1, loopAborts=2)
    none = {"type": "abandoned_replies", "turn": 1, "totalCost": 0, "workCost": 0,
            "loopAbortPriced": 0, "loopAbortUnpriced": 2}  # fmt: skip
    path.write_text(json.dumps(lost) + "\n" + json.dumps(none) + "\n")
    (summary,) = map(json.loads, loopcheck("journal", "--json", path).stdout.splitlines())
    assert (summary["totalCost"], summary["workCost"]) == (None, None)
    assert summary["loopAbortUnpriced"] == 2
    assert loopcheck("journal", path).stdout.split()[-1] == "n/a"
    sums = ["--json", "--sum", "summary.totalCost"]
    assert json.loads(loopcheck("journal", *sums, path).stdout)["sum"] is None


def test_standard_output_that_fails(book: Path) -> None:
    command = [sys.executable, "-m", "loopcli", "journal", book]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environ())
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    ours, theirs = os.pipe()
    os.close(ours)
    with open(theirs, "wb") as pipe:
        assert subprocess.run(command, stdout=pipe, env=environ()).returncode == -signal.SIGPIPE


def test_damage_is_skipped(path: Path) -> None:
    path.write_bytes(b'\xff\n[1]\n"x"\n\n{"type":"turn_outcome","turns":"many","loopAborts":-3}\n')
    done = loopcheck("journal", "--json", path)
    assert done.stderr.count("is not a record") == 3
    errors = json.loads(done.stdout)["errors"]
    assert (errors["turns"], errors["loopAborts"]) == (1, 0)
