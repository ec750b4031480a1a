"""Measure the filter against references in the same run, and print a table of ratios.

    python -m tests.benchmarks [--quick] [--only bulk|streams|memory]

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

from tabulate import tabulate

from tests.benchmarks import sessions, streams

ENTRY = "from loopcli.__main__ import entry; entry()"
BARE = [sys.executable, "-c", ENTRY]
DEFAULT = [*BARE, "--max-response-chars", "0"]
SATURATION = [*DEFAULT, "--rules", "saturation"]
NOVELTY = [*BARE, "--rules", "novelty"]
# For texts that trip: what is measured is the work, not an early end.
ON_AND_ON = [*DEFAULT, "--dry-run"]
WORDS = ["wc", "-w"]


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


def seconds(command: Sequence[str], path: Path | None, environ: dict[str, str]) -> float:
    """Return how long a command takes with a file as its standard input."""
    with open(path or os.devnull, "rb") as source:
        started = time.perf_counter()
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
) -> tuple[float, float]:
    """Return the best time of each of two commands, run in turn."""
    pairs = [(seconds(ours, path, {}), seconds(theirs, path, environ or {})) for _ in range(rounds)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def library_text() -> bytes:
    """Return the standard library's top-level modules, eight times over: about 37 MB."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.py"))) * 8


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


# Text that no model would write, but files have; each is repeated to 5 MB or more.
INDENTED = b"".join(b" " * 400 + b"item %d\n" % n for n in range(12_000))
JSON = b"".join(b'{"id":%d,"name":"user%d","active":true},' % (n, n * 7919) for n in range(120_000))
TABLE = b"".join(b"| %d | user%d | %d |\n" % (n, n * 7919, n * n) for n in range(150_000))


def bulks(rounds: int) -> Iterator[list[str]]:
    library = library_text()
    prose = Path(__file__).parents[2].joinpath("fixtures/replies/clean/prose.txt").read_bytes()
    prose *= 20_000_000 // len(prose)
    yield bulk("library sources", library, 7.0, rounds)
    yield bulk("  saturation alone", library, 5.0, rounds, SATURATION)
    yield bulk("  novelty alone", library, None, 3, NOVELTY)
    yield bulk("prose, again and again", prose, None, 3, ON_AND_ON)
    yield bulk("tiles, saturated", b"0, 0, 1, " * 2_000_000, None, 3, ON_AND_ON)
    yield bulk("wide indentation", INDENTED, 30.0, 3, ON_AND_ON)
    yield bulk("JSON, compact", JSON, 14.0, 3, ON_AND_ON)
    yield bulk("Markdown table", TABLE, 14.0, 3, ON_AND_ON)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, less memory traffic")
    parser.add_argument("--only", choices=["bulk", "streams", "memory"], help="one part alone")
    parser.add_argument("--wire", default="", help="of the streams, those whose name holds this")
    asked = parser.parse_args()
    rounds = 3 if asked.quick else 7
    size = 20_000 if asked.quick else 200_000
    steps: dict[str, Callable[[], Iterator[list[str]]]] = {
        "start": lambda: iter([start_up(rounds).cells(), session_file(rounds).cells()]),
        "bulk": lambda: bulks(rounds),
        "streams": lambda: streams.rows(DEFAULT, ENVIRON, size, rounds, asked.wire),
        "memory": lambda: iter([memory(64 if asked.quick else 1024)]),
    }
    if asked.only:
        steps = {asked.only: steps[asked.only]}
    headers = ["what", "reference", "ours, s", "reference, s", "ratio", "target", ""]
    print(tabulate([row for step in steps.values() for row in step()], headers))


if __name__ == "__main__":
    main()
