"""The store is safe under many processes, whatever has happened to its file."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hooks import asked, plain, started
from processes import PATIENCE, environ

from loopcli.guard.database import StoreError
from loopcli.guard.hook import answer
from loopcli.guard.store import MAX_ANSWERS, MAX_LOG, MAX_SESSIONS, CallStore
from loopcli.rules.calls.config import CallsConfig
from loopcli.rules.calls.rule import MAX_CALLS, CallRecord, CallVerdict


def test_of_many_processes_at_once_exactly_two_pass(tmp_path: Path) -> None:
    """Twenty equal calls in each of three sessions, all started before any has ended."""
    store = tmp_path / "db"
    processes = []
    for number in range(60):
        args = {"command": "ls", "description": f"attempt {number}"}
        process = started(store)
        assert process.stdin
        process.stdin.write(plain(number, f"s{number % 3}", args=args))
        process.stdin.close()
        process.stdin = None
        processes.append(process)
    passed: Counter[int] = Counter()
    for number, process in enumerate(processes):
        output, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
        passed[number % 3] += "allow" in output
    assert passed == {0: 2, 1: 2, 2: 2}


def test_killed_processes_leave_a_store_that_works(tmp_path: Path) -> None:
    store = tmp_path / "db"
    program = (
        "import sys; from loopcli.guard.store import CallStore\n"
        "from loopcli.rules.calls.rule import CallRecord\n"
        "for number in range(10**9):\n"
        "    with CallStore(sys.argv[1]).calls('s', '', 1.0) as calls:\n"
        "        calls.put(str(number), CallRecord((1.0,)))\n"
        "    print(number, flush=True)\n"
    )
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(store)], stdout=subprocess.PIPE, env=environ()
        )
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    answers = [asked(store, plain(number)) for number in range(3)]
    assert ["deny" in output for output, _ in answers] == [False, False, True]


@pytest.mark.parametrize(
    "damage",
    [
        b"no database at all",
        b"SQLite format 3\x00" + b"\xff" * 5000,
        b"\x00" * 100_000,
    ],
)
def test_a_damaged_store_is_replaced(damage: bytes, tmp_path: Path) -> None:
    store = tmp_path / "db"
    store.write_bytes(damage)
    output, errors = asked(store, plain())
    assert output == ""
    assert "it was renamed to" in errors
    assert len(errors.splitlines()) == 1
    assert (tmp_path / "db.damaged").read_bytes() == damage
    answers = [asked(store, plain(number)) for number in range(3)]
    assert ["deny" in output for output, _ in answers] == [False, False, True]


def test_another_database_is_replaced_too(tmp_path: Path) -> None:
    store = tmp_path / "db"
    for statement in ("PRAGMA user_version = 1", "PRAGMA user_version = 9"):
        database = sqlite3.connect(store)
        database.execute("CREATE TABLE IF NOT EXISTS calls (other)")
        database.execute(statement)
        database.commit()
        database.close()
        assert "it was renamed to" in asked(store, plain())[1]
        assert asked(store, plain())[1] == ""


def test_hostile_rows_count_as_nothing(tmp_path: Path) -> None:
    store = tmp_path / "db"
    for number in range(3):
        asked(store, plain(number))
    database = sqlite3.connect(store)
    database.execute("UPDATE calls SET times = 'nan x', blocked = 0, authorised = NULL")
    database.execute("UPDATE sessions SET last_blocked = x'ff'")
    database.commit()
    database.close()
    answers = [asked(store, plain(number)) for number in range(10, 13)]
    assert [errors for _, errors in answers] == [""] * 3
    assert ["deny" in output for output, _ in answers] == [False, False, True]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(0o500)
    output, errors = asked(folder / "db", plain())
    assert (output, len(errors.splitlines())) == ("", 1)


@pytest.mark.parametrize("path", ["/dev/null", "/dev/full", "/proc/self/guard.db", "."])
def test_a_store_that_cannot_be_a_file(path: str) -> None:
    output, errors = asked(Path(path), plain())
    assert (output, len(errors.splitlines())) == ("", 1)


@pytest.mark.parametrize("limit", [0, 1000, 5000, 20_000])
def test_a_full_disk(limit: int, tmp_path: Path) -> None:
    store = tmp_path / "db"
    process = subprocess.run(
        [sys.executable, "-m", "loopcli", "guard", "hook", "--store", str(store)],
        input=plain(),
        capture_output=True,
        text=True,
        env=environ(PYTHONDONTWRITEBYTECODE="1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        timeout=PATIENCE,
    )
    assert (process.returncode, process.stdout) == (0, "")
    assert len(process.stderr.splitlines()) == 1
    answers = [asked(store, plain(number)) for number in range(1, 4)]
    assert ["deny" in output for output, _ in answers] == [False, False, True]


def test_a_store_that_is_busy_for_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "db"
    asked(store, plain())
    database = sqlite3.connect(store, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("loopcli.guard.database.BUSY_SECONDS", 0.01)
    with pytest.raises(StoreError, match="locked"):
        answer(plain(1).encode(), CallStore(str(store)), CallsConfig())
    database.close()
    assert asked(store, plain(1))[1] == ""


def size(store: Path) -> Counter[str]:
    database = sqlite3.connect(store)
    tables = ("sessions", "calls", "answers", "log")
    counts = Counter(
        {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
    )
    database.close()
    return counts


def test_sessions_are_bounded(tmp_path: Path) -> None:
    store = CallStore(str(tmp_path / "db"))
    for number in range(MAX_SESSIONS + 100):
        with store.calls(f"s{number}", "", number) as calls:
            calls.put("key", CallRecord((1.0,)))
    counts = size(tmp_path / "db")
    assert (counts["sessions"], counts["calls"]) == (MAX_SESSIONS, MAX_SESSIONS)
    assert store.sessions()[0].session == f"s{MAX_SESSIONS + 99}"


def test_what_is_kept_of_a_session_is_bounded(tmp_path: Path) -> None:
    store = CallStore(str(tmp_path / "db"))
    with store.calls("s", "", 1.0) as calls:
        calls.put("refused", CallRecord((1.0,), blocked=True))
        for number in range(MAX_CALLS + 50):
            calls.put(str(number), CallRecord((1.0,)))
            calls.log("refused", "x" * 10_000)
        for number in range(MAX_ANSWERS + 50):
            calls.remember(str(number), CallVerdict(True, 1))
        assert calls.get("refused").blocked
    counts = size(tmp_path / "db")
    assert (counts["calls"], counts["answers"]) == (MAX_CALLS, MAX_ANSWERS)
    assert len(store.log_lines()[0].tool) == 200
    assert counts["log"] <= MAX_LOG
