"""``run`` in states in which something waits: signals and time limits end it, the journal is whole.

A row is a state: how it is brought about, and how it can be seen that it has been.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import PATIENCE, environ, until

RUN = [sys.executable, "-m", "loopcli", "run", "--rules", "saturation", "--kill-after", "0.3"]
RUN += ["--max-response-chars", "0"]
ONCE = ["--retries", "0"]
# More than a pipe takes.
LONG = "seq 1 100000"
LOOP = """printf 'data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":"%s"}}]}\\n\\n' \
"$(yes 'void 0;' | head -n 2000 | tr '\\n' ' ')" """
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
LIMITS = ["--timeout", "--idle-timeout"]


class Dripping(threading.Thread):
    """A server that sends a byte now and then, and never comes to an end."""

    def __init__(self, start: bytes, piece: bytes) -> None:
        super().__init__()
        self._start, self._piece = start, piece
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/"
        self.asked = threading.Event()
        self.start()

    def run(self) -> None:
        with self._server, suppress(OSError):
            client, _ = self._server.accept()
            with client:
                client.recv(4096)
                client.sendall(self._start)
                self.asked.set()
                while True:  # until the client has gone
                    client.sendall(self._piece)
                    time.sleep(0.05)


class Waiting:
    """``run`` in a state in which it waits for something."""

    def __init__(self, path: Path, args: list[str], child: str, **environment: str) -> None:
        self.journal = path / "journal"
        self.ours, theirs = os.pipe()
        self.process = subprocess.Popen(
            [*RUN, "--journal", self.journal, *args, "--", "bash", "-c", child],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=environ(**environment),
        )
        os.close(theirs)

    def end(self) -> str:
        """Wait for its end; return its messages."""
        assert self.process.stderr is not None
        self.process.wait(PATIENCE)
        os.close(self.ours)
        with self.process.stderr as stderr:
            return stderr.read().decode()

    def records(self) -> list[dict[str, object]]:
        text = self.journal.read_text()
        assert text == "" or text.endswith("\n")
        return [json.loads(line) for line in text.splitlines()]


class State(NamedTuple):
    """How a state is brought about, and how to wait until it has been."""

    args: list[str]
    child: str
    reached: Callable[[Waiting], object]


def begun(waiting: Waiting) -> None:
    """Wait until it has begun to print; nobody reads the rest."""
    assert os.read(waiting.ours, 1)


def child_is(states: str) -> Callable[[Waiting], None]:
    """Return what waits until the command is in one of some states of /proc."""

    def reached(waiting: Waiting) -> None:
        until(lambda: state_of_child(waiting) in set(states), f"the command is in {states}")

    return reached


def state_of_child(waiting: Waiting) -> str:
    pid = waiting.process.pid
    with suppress(OSError, ValueError, IndexError):
        child = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


STATES = {
    "a held reply is printed": State(ONCE, LONG, begun),
    "a reply is passed on": State(["--stream"], LONG + "; sleep 3600", begun),
    "the command is silent": State(ONCE, "sleep 3600", child_is("S")),
    "the command is stopped": State(ONCE, "kill -STOP $$", child_is("T")),
}


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs /proc to see what a process does"
)


@needs_proc
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("name", STATES)
def test_a_signal_ends_every_state(name: str, number: signal.Signals, tmp_path: Path) -> None:
    state = STATES[name]
    waiting = Waiting(tmp_path, state.args, state.child)
    state.reached(waiting)
    waiting.process.send_signal(number)
    told = waiting.end()
    assert waiting.process.returncode == -number
    assert "Traceback" not in told
    (record,) = waiting.records()
    assert (record["outcome"], record["errorType"]) == ("fatal", "interrupted")


@pytest.mark.parametrize("flag", LIMITS)
@pytest.mark.parametrize("name", STATES)
def test_a_time_limit_ends_every_state(name: str, flag: str, tmp_path: Path) -> None:
    state = STATES[name]
    waiting = Waiting(tmp_path, [*state.args, flag, "1"], state.child)
    told = waiting.end()
    assert waiting.process.returncode == 124
    assert f"({flag})" in told or "the stream stalled" in told
    (record,) = waiting.records()
    assert record["outcome"] == ("error" if "command" in name else "fatal")


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[None]:
    with (tmp_path / "journal").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize("number", [*SIGNALS, None])
def test_a_lock_that_is_held_is_not_waited_for_without_end(
    number: signal.Signals | None, tmp_path: Path
) -> None:
    limit = ["--timeout", "1"] if number is None else []
    waiting = Waiting(tmp_path, [*ONCE, *limit], "echo hello")
    assert os.read(waiting.ours, 6) == b"hello\n"
    if number is not None:
        waiting.process.send_signal(number)
    told = waiting.end()
    assert waiting.process.returncode == (125 if number is None else -number)
    assert "journal: cannot record this turn: another process holds its lock" in told
    assert waiting.records() == []


DRIPS = {
    "head": (b"HTTP/1.1 200 OK\r\n", b"X"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


ENDS: list[tuple[str, signal.Signals | str]] = [(drip, signal.SIGTERM) for drip in DRIPS]
ENDS += [("body", "--timeout"), ("continue", "--idle-timeout")]


@pytest.mark.parametrize(("drip", "end"), ENDS)
def test_a_price_that_never_comes(drip: str, end: signal.Signals | str, tmp_path: Path) -> None:
    dripping = Dripping(*DRIPS[drip])
    args = [*ONCE, "--price", "--generation-url", dripping.url]
    if isinstance(end, str):
        args += [end, "3"]
    waiting = Waiting(tmp_path, args, LOOP, OPENROUTER_API_KEY="sk-0123456789")
    if isinstance(end, signal.Signals):
        assert dripping.asked.wait(PATIENCE)
        waiting.process.send_signal(end)
    told = waiting.end()
    dripping.join()
    records = waiting.records()
    assert records[0]["errorType"] == "model_response_loop"
    if isinstance(end, str):
        assert waiting.process.returncode == 123
        assert "1 discarded response could not be priced" in told
        assert records[-1]["loopAbortUnpriced"] == 1
    else:
        assert waiting.process.returncode == -end
        assert [record["type"] for record in records] == ["turn_outcome", "model_error"]
