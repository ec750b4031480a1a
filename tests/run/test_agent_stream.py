"""``run --agent-stream``: an agent's stream passed on live, and the agent ended for certain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE, environ, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")

# An agent that makes calls for ever, or a few; what it does about signals and a pipe that
# broke, and what it leaves behind, is in its arguments. The mark tells its processes apart.
AGENT = """
import json, os, signal, subprocess, sys, time
mark, *ways = sys.argv[1:]
if "stubborn" in ways:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
sleeper = [sys.executable, "-c", "import signal, sys, time\\n"
           "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\nprint(flush=True)\\ntime.sleep(600)"]
if "session" in ways:
    child = subprocess.Popen([*sleeper, mark], start_new_session=True, stdout=subprocess.PIPE)
    child.stdout.readline()
if "orphan" in ways:  # its parent ends at once
    program = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    subprocess.run([sys.executable, "-c", program, *sleeper, mark], stdout=subprocess.DEVNULL)
number = 0
while number < 5 or "few" not in ways:
    number += 1
    path = str(number) if "varied" in ways else "."
    try:
        print(json.dumps({"calls": [{"name": "ls", "args": {"path": path}}]}), flush=True)
    except OSError:
        pass
    time.sleep(0.01)
sys.exit(7 if "failing" in ways else 0)
"""
TURN = '{"calls": [{"name": "ls", "args": {"path": "."}}]}\n'


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """A text that only the agent's processes have among their arguments."""
    return f"mark-{tmp_path.name}-{os.getpid()}"


def alive(mark: str) -> list[int]:
    """The processes of an agent that have not ended."""
    living = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (path / "cmdline").read_bytes().split(b"\0")
            state = (path / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in arguments and b"loopcli" not in arguments and state not in b"ZX":
            living.append(int(path.name))
    return living


def command(mark: str, *ways: str, options: tuple[str, ...] = ()) -> list[str]:
    run = [sys.executable, "-m", "loopcli", "run", "--agent-stream", "--input=turns"]
    return [*run, "--kill-after=0.5", *options, "--", sys.executable, "-c", AGENT, mark, *ways]


def finished(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ(),
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("ways", [["few"], ["few", "varied"], ["few", "varied", "failing"]])
def test_an_agent_that_ends_by_itself_is_passed_on_whole(ways: list[str], mark: str) -> None:
    done = finished(command(mark, *ways))
    assert done.returncode == (7 if "failing" in ways else 0)
    assert len(done.stdout.splitlines()) == 5
    assert alive(mark) == []


@pytest.mark.parametrize(
    "ways",
    [[], ["stubborn"], ["session"], ["orphan"], ["stubborn", "session", "orphan"]],
    ids=lambda ways: "+".join(ways) or "plain",
)
def test_a_loop_ends_the_agent_and_all_that_it_started(
    ways: list[str], mark: str, tmp_path: Path
) -> None:
    journal = str(tmp_path / "journal")
    done = finished(command(mark, *ways, options=("--journal", journal)))
    assert alive(mark) == []
    assert (done.returncode, done.stdout) == (123, TURN * 6)
    assert 'stopped the session: Doom loop suspected: the tool "ls"' in done.stderr
    record = json.loads(Path(journal).read_text().splitlines()[0])
    assert record["loopAborts"] == 1


def test_a_loop_of_words_ends_it_too(mark: str) -> None:
    program = "import json\nwhile True: print(json.dumps({'text': 'void 0; ' * 20}), flush=True)"
    arguments = command(mark)
    start = arguments.index("--") + 1
    done = finished([*arguments[:start], sys.executable, "-c", program, mark])
    assert done.returncode == 123
    assert alive(mark) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_us_ends_the_agent(number: signal.Signals, mark: str) -> None:
    arguments = command(mark, "varied", "stubborn", "session", "orphan")
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environ()
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(number)
        child.stdout.read()
        child.wait(PATIENCE)
    assert child.returncode == -number
    until(lambda: alive(mark) == [], "the end of the agent")


def test_a_reader_that_goes_away_ends_the_agent(mark: str) -> None:
    arguments = command(mark, "varied", "stubborn", "session")
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environ()
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.stdout.close()
        child.wait(PATIENCE)
    assert child.returncode == -signal.SIGPIPE
    until(lambda: alive(mark) == [], "the end of the agent")


def test_a_time_limit_ends_the_agent(mark: str) -> None:
    done = finished(command(mark, "varied", "session", options=("--timeout=0.5",)))
    assert done.returncode == 124
    assert alive(mark) == []


def test_it_never_runs_twice(mark: str) -> None:
    done = finished(command(mark, options=("--retries=2",)))
    assert done.returncode == 125
    assert "--agent-stream and --retries exclude each other" in done.stderr
