"""The cost of an event: the filter against the bare loop, each as a process of its own.

Two measurements, in CPU time, which a busy machine disturbs less than elapsed time:

- *64 KiB a read*: both read the same file. The start-up of either is measured on a
  stream of a few events and subtracted.
- *one event a write*: both stand between two pipes in lock-step, as in front of a live
  model: an event is written, and the same bytes are read back before the next one. The
  CPU time is the scheduler's account of the process (``/proc/PID/schedstat``), so the
  process's own reads and writes count, and its start-up does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.delta_streams import WIRES, Wire

PYTHON = [sys.executable, "-c"]
# Targets: ratio to the bare loop.
LOCK_STEP = dict.fromkeys(("chat", "OpenRouter", "Anthropic", "Gemini", "Responses"), 2.5)
BULK = {wire.name: 2.5 for wire in WIRES} | {"chat": 1.4, "OpenRouter": 1.4}
del BULK["chat, 8 choices in turn"]  # each change of lane ends a text; no target
_SHORT = 20  # events; a stream this short measures the start-up


def rows(
    ours: Sequence[str], environ: dict[str, str], events: int, rounds: int, only: str
) -> Iterator[list[str]]:
    """Yield two lines of the table for each wire whose name holds ``only``."""
    text = _text()
    for wire in WIRES:
        if only in wire.name:
            spent = _bulk(ours, wire, text, environ, events, rounds)
            yield _cells(f"{wire.name}, 64 KiB a read", BULK.get(wire.name), spent)
            spent = _lock_step(ours, wire, text, environ, min(events, 4000), rounds)
            yield _cells(f"{wire.name}, one event a write", LOCK_STEP.get(wire.name), spent)


def _text() -> str:
    """Return 2 MB of the standard library's sources."""
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return "".join(path.read_text("utf-8", "replace") for path in paths)[: 2 << 20]


def _cells(name: str, target: float | None, spent: tuple[float, float]) -> list[str]:
    ratio = spent[0] / spent[1]
    verdict = "" if target is None else ("ok" if ratio <= target else "MISSED")
    times = [f"{seconds * 1e6:.2f} us" for seconds in spent]
    return [name, "bare loop", *times, f"{ratio:.2f}x", f"{target:g}x" if target else "", verdict]


def _bulk(
    ours: Sequence[str],
    wire: Wire,
    text: str,
    environ: dict[str, str],
    events: int,
    rounds: int,
) -> tuple[float, float]:
    """Return the CPU seconds an event of the filter and of the bare loop, from a file."""
    long, short = (b"".join(wire.events(text, size)) for size in (events, _SHORT))
    bare = [*PYTHON, wire.bare_loop]
    with _file(long) as long_path, _file(short) as short_path:
        best = [float("inf")] * 4
        runs = [(ours, long_path), (ours, short_path), (bare, long_path), (bare, short_path)]
        for _ in range(rounds):
            spent = [_cpu_seconds(command, path, environ) for command, path in runs]
            best = list(map(min, best, spent))
    return (best[0] - best[1]) / (events - _SHORT), (best[2] - best[3]) / (events - _SHORT)


@contextmanager
def _file(data: bytes) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        yield Path(file.name)


def _cpu_seconds(command: Sequence[str], path: Path, environ: dict[str, str]) -> float:
    with open(path, "rb") as source:
        quiet = subprocess.DEVNULL
        child = subprocess.Popen(command, stdin=source, stdout=quiet, stderr=quiet, env=environ)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0  # it has been waited for
    return usage.ru_utime + usage.ru_stime


def _lock_step(
    ours: Sequence[str],
    wire: Wire,
    text: str,
    environ: dict[str, str],
    events: int,
    rounds: int,
) -> tuple[float, float]:
    """Return the CPU seconds an event of the filter and of the bare loop, between pipes."""
    bare = [*PYTHON, wire.bare_loop, "copy"]
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        stream = list(wire.events(text, events))
        best = list(map(min, best, (_paced(c, stream, environ) for c in (ours, bare))))
    return best[0], best[1]


def _paced(command: Sequence[str], stream: Sequence[bytes], environ: dict[str, str]) -> float:
    warm = 200  # events until everything is imported and learned
    pipe = subprocess.PIPE
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, bufsize=0, env=environ)
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        before = 0
        for number, event in enumerate(stream):
            if number == warm:
                before = _scheduled(child.pid)
            child.stdin.write(event)
            left = len(event)
            while left:
                left -= len(child.stdout.read(left) or b"")
        spent = _scheduled(child.pid) - before
        child.stdin.close()
    return spent / 1e9 / (len(stream) - warm)


def _scheduled(pid: int) -> int:
    """Return the nanoseconds that a process has been on a CPU."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
