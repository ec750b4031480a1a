"""Measure the filter against references in the same run, and print a table of ratios.

    python tests/benchmarks [--quick]

Each row is the best of several runs of each side, taken in turn, so that a
busy machine slows both. Nothing here is a test: figures depend on the machine,
the targets are the project's own.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import sessions
from tabulate import tabulate

ENTRY = "from loopcli.__main__ import entry; entry()"
BARE = [sys.executable, "-c", ENTRY]
DEFAULT = [*BARE, "--max-response-chars", "0"]
SATURATION = [*DEFAULT, "--rules", "saturation"]
NOVELTY = [*BARE, "--rules", "novelty"]
# For texts that trip: what is measured is the work, not an early end.
ON_AND_ON = [*DEFAULT, "--dry-run"]
WORDS = ["wc", "-w"]
BARE_LOOP = """
import os, sys, orjson
size, rest, chars = int(sys.argv[1]), b"", 0
while data := os.read(0, size):
    *lines, rest = (rest + data).split(b"\\n")
    for line in lines:
        if line.startswith(b"data: {"):
            text = orjson.loads(line[6:])["choices"][0]["delta"].get("content")
            if text:
                chars += len(text)
print(chars)
"""
# One event a read, as a live stream arrives: both sides see the same pieces.
ONE_EVENT_LOOP = """
import sys, orjson
source, chars = sys.stdin.buffer, 0
while data := source.readline() + source.readline():
    for line in data.split(b"\\n"):
        if line.startswith(b"data: {"):
            text = orjson.loads(line[6:])["choices"][0]["delta"].get("content")
            if text:
                chars += len(text)
print(chars)
"""
ONE_EVENT_FILTER = """
import sys
from loopcli.settings.arming import DEFAULT_RULES, Settings
from loopcli.detector import Detector
from loopcli.readers.detection.auto import reader
from loopcli.rules.table import configs
from loopcli.watch import Watch
knobs = configs({"max_response_chars": ("", "0")})
watch = Watch(reader("sse"), Detector(Settings(DEFAULT_RULES, knobs, None).rules()))
source = sys.stdin.buffer
while data := source.readline() + source.readline():
    for _ in watch.feed(data):
        pass
print(*watch.detector.totals())
"""


# An installed package is compiled; so must this one be, wherever it runs from.
ENVIRON = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
# The largest resident size of a child counts what it inherited when it was
# forked; a parent this small hides nothing.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@dataclass(frozen=True)
class Row:
    """One comparison: the ratio of ``ours`` to ``reference``, both in seconds."""

    name: str
    reference: str
    ours: float
    theirs: float
    target: float | None

    def cells(self) -> list[str]:
        ratio = self.ours / self.theirs
        verdict = "" if self.target is None else ("ok" if ratio <= self.target else "MISSED")
        target = "" if self.target is None else f"{self.target:g}x"
        times = [f"{self.ours:.3f}", f"{self.theirs:.3f}"]
        return [self.name, self.reference, *times, f"{ratio:.2f}x", target, verdict]


def seconds(
    command: Sequence[str], path: Path | None, environ: dict[str, str], piped: bool
) -> float:
    """Return how long a command takes with a file, or a pipe from one, as its standard input."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open(path or os.devnull, "rb"))
        started = time.perf_counter()
        if piped:
            cat = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
            source = stack.enter_context(cat).stdout
        subprocess.run(
            command,
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**ENVIRON, **environ},
            check=False,
        )
        return time.perf_counter() - started


def versus(
    ours: Sequence[str],
    theirs: Sequence[str],
    path: Path | None = None,
    environ: dict[str, str] | None = None,
    rounds: int = 7,
    piped: bool = False,
) -> tuple[float, float]:
    """Return the best time of each of two commands, run in turn."""
    pairs = [
        (seconds(ours, path, {}, piped), seconds(theirs, path, environ or {}, piped))
        for _ in range(rounds)
    ]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def library_text() -> bytes:
    """Return the standard library's top-level modules, eight times over: about 37 MB."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.py"))) * 8


def events(text: str, size: int) -> Iterator[bytes]:
    """Yield chat.completion.chunk events whose deltas are about a token long."""
    for at in range(0, len(text), size):
        chunk = {
            "id": "chatcmpl-benchmark",
            "object": "chat.completion.chunk",
            "created": 1700000000,
            "model": "benchmark",
            "system_fingerprint": "fp_0",
            "choices": [
                {
                    "index": 0,
                    "delta": {"content": text[at : at + size]},
                    "logprobs": None,
                    "finish_reason": None,
                }
            ],
        }
        yield b"data: " + orjson.dumps(chunk) + b"\n\n"


@contextlib.contextmanager
def written(data: bytes) -> Iterator[Path]:
    """Yield the path of a temporary file that holds ``data``."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        yield Path(file.name)


def start_up(rounds: int) -> Row:
    ours, theirs = versus(BARE, [sys.executable, "-c", "import click"], rounds=rounds * 3)
    return Row("start-up", "import click", ours, theirs, 1.5)


def bulk(
    name: str,
    data: bytes,
    target: float | None,
    rounds: int,
    command: Sequence[str] = tuple(DEFAULT),
) -> list[str]:
    with written(data) as path:
        ours, theirs = versus(command, WORDS, path, {"LC_ALL": "C.UTF-8"}, rounds)
    return Row(name, "wc -w", ours, theirs, target).cells()


def streams(data: bytes, rounds: int) -> Iterator[Row]:
    python = [sys.executable, "-c"]
    with written(data) as path:
        # From a pipe: 64 KiB a read, whatever either side asks for.
        ours, theirs = versus(
            DEFAULT, [*python, BARE_LOOP, str(64 * 1024)], path, rounds=rounds, piped=True
        )
        yield Row("SSE, 64 KiB a read", "bare loop", ours, theirs, 2.0)
        one = [*python, ONE_EVENT_FILTER]
        ours, theirs = versus(one, [*python, ONE_EVENT_LOOP], path, rounds=rounds)
        yield Row("SSE, one event a read", "bare loop", ours, theirs, None)


def session_file(rounds: int) -> Row:
    """Read a session against parsing its lines: at no less than 40 % of that speed."""
    python = [sys.executable, "-c"]
    with written(sessions.session(40_000_000)) as path:
        ours, theirs = versus(
            [*python, sessions.READER], [*python, sessions.LINES], path, rounds=rounds
        )
    return Row("a session file", "orjson.loads a line", ours, theirs, 2.5)


def peak_memory(megabytes: int) -> int:
    """Return the filter's largest resident size in KiB over a stream of prose."""
    prose = b"The quick brown fox number %d jumps over the lazy dog once more. "
    block = b"".join(prose % n for n in range(15_000))[: 1 << 20]
    command = [sys.executable, "-c", MEASURE, *ON_AND_ON]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(megabytes):
            child.stdin.write(block)
        child.stdin.close()
        return int(child.stdout.read())


def memory(megabytes: int) -> list[str]:
    small, large = peak_memory(1), peak_memory(megabytes)
    grown = (large - small) / 1024
    figures = [f"{large / 1024:.1f} MiB", f"{small / 1024:.1f} MiB", f"+{grown:.1f} MiB"]
    verdict = "ok" if grown <= 8 else "MISSED"
    return [f"memory, {megabytes} MB of text", "1 MB of text", *figures, "+8 MiB", verdict]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, less memory traffic")
    quick = parser.parse_args().quick
    rounds = 3 if quick else 7
    library = library_text()
    prose = Path(__file__).parents[2].joinpath("fixtures/replies/clean/prose.txt").read_bytes()
    sse = b"".join(events(library[: 2 << 20].decode("utf-8", "replace"), 5))
    prose *= 20_000_000 // len(prose)
    steps: list[Callable[[], Iterator[list[str]]]] = [
        lambda: iter([start_up(rounds).cells()]),
        lambda: iter([bulk("library sources", library, 7.0, rounds)]),
        lambda: iter([bulk("  saturation alone", library, 5.0, rounds, SATURATION)]),
        lambda: iter([bulk("  novelty alone", library, None, 3, NOVELTY)]),
        lambda: iter([bulk("prose, again and again", prose, None, 3, ON_AND_ON)]),
        lambda: iter([bulk("tiles, saturated", b"0, 0, 1, " * 2_000_000, None, 3, ON_AND_ON)]),
        lambda: (row.cells() for row in streams(sse, rounds)),
        lambda: iter([session_file(rounds).cells()]),
        lambda: iter([memory(64 if quick else 1024)]),
    ]
    headers = ["what", "reference", "ours, s", "reference, s", "ratio", "target", ""]
    print(tabulate([row for step in steps for row in step()], headers))


if __name__ == "__main__":
    main()
