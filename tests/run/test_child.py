"""Commands that misbehave: each ends in the right status, in time, and leaves no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import PATIENCE, environ, until

from loopcli.run import child

RUN = [sys.executable, "-m", "loopcli", "run", "--rules", "saturation"]
QUICK = ["--kill-after", "0.3", "--backoff-base", "0"]


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Nursery:
    """A directory in which every process of a test leaves its pid."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def script(self, text: str) -> list[str]:
        """A shell command; ``born`` in it notes the shell, ``bear CMD`` starts and notes one."""
        note = f'"{self.path}"/'
        return [
            "bash",
            "-c",
            f'born() {{ : > {note}$BASHPID; }}\nbear() {{ "$@" & : > {note}$!; }}\nborn\n{text}',
        ]

    def pids(self) -> list[int]:
        return [int(path.name) for path in self.path.iterdir()]

    def survivors(self) -> list[int]:
        return [pid for pid in self.pids() if alive(pid)]


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    path = tmp_path / "pids"
    path.mkdir()
    nursery = Nursery(path)
    yield nursery
    assert nursery.pids(), "the command never ran"
    left = nursery.survivors()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


class Case(NamedTuple):
    script: str
    options: list[str]
    status: int
    printed: str = ""
    told: str = ""


STALLS = ["--idle-timeout", "1", "--retries", "1"]
CASES = {
    "answers": Case("echo hello", [], 0, "hello\n"),
    "fails": Case("echo half; exit 9", [], 9, "", "ended with status 9; not printed: half"),
    "ignores SIGTERM while it loops": Case(
        "trap '' TERM; while :; do echo 'void 0;'; done", ["--retries", "0"], 123, "", "looped"
    ),
    "ignores SIGTERM in silence": Case("trap '' TERM; while :; do sleep 0.1; done", STALLS, 124),
    "has a child that ignores SIGTERM": Case(
        "bear bash -c 'trap \"\" TERM; while :; do sleep 0.1; done'; wait", STALLS, 124
    ),
    "is stopped": Case("kill -STOP $$", STALLS, 124),
    "dies by a signal": Case("echo half; kill -SEGV $$", [], 139, "", "(SIGSEGV)"),
    "kills itself with SIGTERM": Case("kill -TERM $$", [], 143, "", "(SIGTERM)"),
    "closes stdout early and fails": Case("echo hello; exec >&-; sleep 0.2; exit 5", [], 5),
    "closes stdout early and answers": Case("echo hello; exec >&-; sleep 0.2", [], 0, "hello\n"),
    "closes stdout early and stays": Case("echo hello; exec >&-; sleep 3600", STALLS, 124),
    "writes only to stderr": Case("echo oops >&2", [], 0, "", "oops"),
    "writes only to stderr and fails": Case("echo oops >&2; exit 3", [], 3, "", "oops"),
    "prints nothing for ever": Case("bear sleep 3600; wait", STALLS, 124, "", "all 2 attempts"),
    "prints for ever, slowly": Case(
        "while :; do echo x; sleep 0.05; done", ["--timeout", "0.4"], 124, "", "no end after 0.4 s"
    ),
    "leaves a child that holds the pipe": Case(
        "bear sleep 3600; echo hello", [], 0, "hello\n", "held its output open"
    ),
    "leaves a child that writes on": Case(
        "bear bash -c 'for i in 1 2 3; do sleep 0.15; echo $i; done'; exit 0",
        ["--kill-after", "5"],
        0,
        "1\n2\n3\n",
    ),
    "leaves a child in silence": Case("bear sleep 3600 >/dev/null; echo hello", [], 0, "hello\n"),
    "leaves a child that loops": Case(
        "bear yes 'void 0;'; exit 0", ["--retries", "0"], 123, "", "12261 characters"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_ends_and_leaves_nothing(name: str, nursery: Nursery) -> None:
    case = CASES[name]
    done = subprocess.run(
        [*RUN, *QUICK, *case.options, "--", *nursery.script(case.script)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ(),
        timeout=PATIENCE,  # and not the hour that they sleep
    )
    assert done.returncode == case.status, done.stderr
    assert done.stdout == case.printed
    assert case.told in done.stderr
    assert "bug" not in done.stderr


def test_a_command_that_cannot_run(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("echo hello\n")
    for command, status in ((plain, 126), (tmp_path, 126), (tmp_path / "none", 127)):
        done = subprocess.run([*RUN, command], capture_output=True, text=True, env=environ())
        assert done.returncode == status
        assert f"cannot run `{command}`: " in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize(
    "script", ["bear sleep 3600; wait", "trap '' TERM; bear sleep 3600; wait; wait"]
)
def test_a_signal_ends_child_and_parent(
    number: signal.Signals, script: str, nursery: Nursery, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    process = subprocess.Popen(
        [*RUN, *QUICK, "--journal", journal, "--", *nursery.script(script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environ(),
        preexec_fn=lambda: __import__("resource").setrlimit(4, (0, 0)),  # no core for SIGQUIT
    )
    until(lambda: len(nursery.pids()) == 2, "both processes run")
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    # As a shell shows it: 128 + n.
    assert process.returncode == -number
    assert out == b""
    assert b'"outcome":"fatal","errorType":"interrupted"' in journal.read_bytes()


def test_a_signal_during_the_wait(nursery: Nursery) -> None:
    process = subprocess.Popen(
        [*RUN, "--backoff-base", "50", "--retry-on", "1", "--", *nursery.script("exit 1")],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environ(),
    )
    assert process.stderr is not None
    assert b"retrying in 50.0s" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("options", [[], ["--stream"]])
def test_nobody_reads_any_more(options: list[str], nursery: Nursery) -> None:
    script = "while :; do echo $((i++)) is a number; sleep 0.01; done"
    process = subprocess.Popen(
        [*RUN, *QUICK, *options, "--", *nursery.script(script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environ(),
    )
    until(nursery.pids, "the command runs")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(PATIENCE) == -signal.SIGPIPE


def test_an_ignored_signal_stays_ignored(nursery: Nursery) -> None:
    process = subprocess.Popen(
        [*RUN, "--", *nursery.script("sleep 0.5; echo hello")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environ(),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    until(nursery.pids, "the command runs")
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, b"hello\n")


def test_a_parent_that_ignores_the_end_of_children() -> None:
    done = subprocess.run(
        [*RUN, "--", "sh", "-c", "exit 7"],
        stdin=subprocess.DEVNULL,
        env=environ(),
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert done.returncode == 7


def test_standard_descriptors_that_are_closed(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.write_text('{"type":"turn_outcome","turns":41}\n')
    shell = f'"$@" --journal {journal} --'
    cases = (("cat <&-", 0), ("cat <&- 2>&-", 0), ("echo hello >&-", 125))
    for command, status in cases:
        done = subprocess.run(
            ["sh", "-c", f"{shell} {command}", "sh", *RUN],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environ(),
        )
        assert (done.returncode, done.stdout) == (status, b"")
    assert b'"turns":44' in journal.read_bytes()


def test_what_is_dead_already_is_not_waited_for() -> None:
    """Where nobody reaps orphans, as in many containers, a group never seems to be gone.

    Only /proc tells the dead from the living; without it all seem to live.
    """
    told = Path("/proc/self/stat").exists()
    with subprocess.Popen(["true"], process_group=0) as dead:
        if told:
            until(lambda: child._only_zombies(dead.pid), "the dead are told apart")
        else:
            assert not child._only_zombies(dead.pid)
    assert not child._only_zombies(dead.pid)
    with subprocess.Popen(["sleep", "3600"], process_group=0) as living:
        assert not child._only_zombies(living.pid)
        living.kill()


def test_a_full_disk_is_ours() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*RUN, "--", "echo", "hello"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environ(),
        )
    assert done.returncode == 125
    assert b"<stdout>: No space left" in done.stderr
