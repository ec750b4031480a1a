"""loopcheck as a process, away from the settings of whoever runs the tests.

Rules for time: a test waits for something that it can see (`until`), never for a number of
seconds. `PATIENCE` only ends a test that would hang; no test passes because of it. A limit of
loopcheck's own that is not to pass in a test is seconds long.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Seconds. Far more than anything here takes, on a loaded machine, too.
PATIENCE = 120.0


def environ(**more: str) -> dict[str, str]:
    """An environment without settings of loopcheck and without proxies."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LOOPCHECK") and not name.lower().endswith("_proxy")
    }
    return kept | {"PYTHONUTF8": "1"} | more


def loopcheck(
    *arguments: str | Path, stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "loopcli", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        env=environ(**more),
        timeout=PATIENCE,
    )


def until(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition holds; fail if it never does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)


def closed_pipe() -> int:
    """The end to write to of a pipe that nobody reads."""
    ours, theirs = os.pipe()
    os.close(ours)
    return theirs


def asleep(group: int) -> bool:
    """Whether every process of a group waits for something, as far as the system tells."""
    states = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, member = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it has just ended
        if int(member) == group:
            states.append(state)
    return bool(states) and set(states) <= set("SZ")


def until_asleep(group: int) -> None:
    """Wait until a process group has done all that it can do, and waits: seen so three times."""
    for _ in range(3):
        until(lambda: asleep(group), "all processes of the group wait")
        time.sleep(0.05)
