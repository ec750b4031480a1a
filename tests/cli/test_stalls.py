"""The filter where nobody reads on: every signal and every time limit ends it all the same."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest
from processes import PATIENCE, environ

FILTER = [sys.executable, "-m", "loopcli", "--rules", "saturation", "--max-response-chars", "0"]
# Far more than a pipe or a terminal takes, and never the same twice.
LONG = b"".join(b"line %d\n" % number for number in range(30_000))
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
LIMITS = ["--timeout", "--idle-timeout"]


def pipe() -> tuple[int, int]:
    return os.pipe()


@pytest.fixture(params=[pipe, pty.openpty], ids=["pipe", "terminal"])
def stalled(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """Both ends of something that nobody reads."""
    ends: Callable[[], tuple[int, int]] = request.param
    ours, theirs = ends()
    yield ours, theirs
    os.close(ours)


class Stalled:
    """A filter whose input goes on, and whose output nobody reads."""

    def __init__(self, *args: str, stdout: int, held: bool) -> None:
        self.process = subprocess.Popen(
            [*FILTER, *args],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environ(),
        )
        os.close(stdout)
        assert self.process.stdin is not None
        self._stdin: IO[bytes] = self.process.stdin
        self._close = held  # what is held is printed at the end of the input
        self._feeding = threading.Thread(target=self._feed)
        self._feeding.start()

    def _feed(self) -> None:
        with suppress(OSError):
            self._stdin.write(LONG)
            self._stdin.flush()
            if self._close:
                self._stdin.close()

    def end(self) -> tuple[int, str]:
        assert self.process.stderr is not None
        status = self.process.wait(PATIENCE)
        self._feeding.join()
        with suppress(OSError):
            self._stdin.close()
        with self.process.stderr as stderr:
            return status, stderr.read().decode()


@pytest.mark.parametrize("hold", [[], ["--hold"]], ids=["passing", "held"])
@pytest.mark.parametrize("flag", LIMITS)
def test_a_time_limit_ends_it(flag: str, hold: list[str], stalled: tuple[int, int]) -> None:
    run = Stalled(*hold, flag, "1", stdout=stalled[1], held=bool(hold))
    status, told = run.end()
    assert status == 7
    if not hold:  # on a slow machine the limit passes before all is held
        assert "the reader of standard output has stalled: " in told
    assert f"({flag})" in told


@pytest.mark.parametrize("hold", [[], ["--hold"]], ids=["passing", "held"])
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("limit", [[], ["--timeout", "3600"]], ids=["", "limited"])
def test_a_signal_ends_it(number: signal.Signals, hold: list[str], limit: list[str]) -> None:
    ours, theirs = os.pipe()
    run = Stalled(*hold, *limit, stdout=theirs, held=bool(hold))
    assert os.read(ours, 1) == LONG[:1]  # it has begun to write, and comes to a stop
    run.process.send_signal(number)
    status, told = run.end()
    os.close(ours)
    assert status == -number
    assert "Traceback" not in told


def test_a_slow_reader_is_no_stalled_reader() -> None:
    """It takes longer than the idle limit in all, but never so long over one piece."""
    ours, theirs = os.pipe()
    run = Stalled("--idle-timeout", "30", stdout=theirs, held=True)
    taken = b""
    while data := os.read(ours, 4096):
        taken += data
    os.close(ours)
    assert run.end()[0] == 0
    assert taken == LONG


def test_the_report_says_so(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    report = tmp_path / "report"
    run = Stalled("--timeout", "1", "--report", str(report), stdout=theirs, held=False)
    assert run.end()[0] == 7
    os.close(ours)
    records = [json.loads(line) for line in report.read_text().splitlines()]
    assert (records[-1]["status"], records[-1]["end"]) == (7, "timed-out")
    assert records[-2]["kind"] == "time-limit"
