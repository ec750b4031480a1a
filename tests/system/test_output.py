"""Standard output that is held: in memory, on disk, and where neither has room."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from processes import PATIENCE, environ

from loopcli.system.output import Output, Spool
from loopcli.system.stdio import keep_input

# The command where no temporary file can be written.
FULL = [
    sys.executable,
    "-c",
    "import tempfile\n"
    "tempfile.TemporaryFile = lambda *_, **__: open('/dev/full', 'r+b', buffering=0)\n"
    "from loopcli.__main__ import entry; entry()",
]
TEN = b"0123456789"


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> IO[bytes]:
        return open("/dev/full", "r+b", buffering=0)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[Path]:
    return tmp_path / "sink"


def output(sink: Path, warnings: list[str], in_memory: int) -> Output:
    opened = os.open(sink, os.O_WRONLY | os.O_CREAT)
    held = Output(opened, hold=True, warn=warnings.append)
    held._held = Spool(in_memory)
    return held


@pytest.mark.parametrize("in_memory", [0, 10, 25, 10_000])
def test_what_is_held_comes_out_whole(in_memory: int, sink: Path) -> None:
    warnings: list[str] = []
    held = output(sink, warnings, in_memory)
    for _ in range(100):
        held.write(TEN)
    assert sink.read_bytes() == b""
    held.release()
    held.write(b"more")
    held.close()
    assert (sink.read_bytes(), held.written, warnings) == (TEN * 100 + b"more", 1004, [])


def test_what_is_dropped_does_not(sink: Path) -> None:
    held = output(sink, [], 15)
    held.write(TEN * 3)
    held.drop()
    held.close()
    assert sink.read_bytes() == b""


@pytest.mark.usefixtures("full_disk")
def test_what_cannot_be_held_is_passed_on(sink: Path) -> None:
    warnings: list[str] = []
    held = output(sink, warnings, 25)
    for _ in range(5):
        held.write(TEN)
    assert sink.read_bytes() == TEN * 5
    held.close()
    (warning,) = warnings
    assert warning == "cannot hold the reply, so it is passed on: No space left on device"


@pytest.mark.usefixtures("full_disk")
def test_standard_input_is_kept_in_memory_then() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, TEN * 5)
    os.close(theirs)
    with keep_input(ours) as kept:
        kept.seek(0)
        assert kept.read() == TEN * 5
    os.close(ours)


LINES = b"".join(b"line %d\n" % number for number in range(1_000_000))  # over 8 MiB
BARE = ["--rules", "saturation", "--max-response-chars", "0"]


def test_the_filter_passes_a_reply_on_that_it_cannot_hold() -> None:
    done = subprocess.run(
        [*FULL, "--hold", *BARE],
        input=LINES,
        capture_output=True,
        env=environ(),
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout == LINES) == (0, True)
    assert done.stderr.decode().splitlines() == [
        "loopcheck: <stdin>: warning: cannot hold the reply, so it is passed on: "
        "No space left on device"
    ]


def test_run_passes_it_on_and_records_the_turn(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    child = ["bash", "-c", "seq -f 'line %g' 0 999999; exit 7"]
    done = subprocess.run(
        [*FULL, "run", *BARE, "--retry-on", "7", "--journal", journal, "--", *child],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environ(),
        timeout=PATIENCE,
        check=False,
    )
    # What is printed cannot be taken back, so the command is not run again.
    assert (done.returncode, len(done.stdout)) == (7, len(LINES))
    assert done.stderr.count(b"cannot hold the reply") == 1
    assert b'"outcome":"error"' in journal.read_bytes()
