"""Measure `loopcheck analyze` against references in the same run, and print a table of ratios.

    python -m tests.benchmarks.analyze [--quick] [--replies FILE.jsonl]

CPU seconds, user and system, but for the two processes, whose point is the
clock; the best of several rounds of each side, taken in turn. The text is the
standard library's own sources, or replies (JSON Lines with a field `text`)
drawn at random. Nothing here is a test: figures depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

ROOT = Path(__file__).parents[2]
ANALYZE = [sys.executable, "-m", "loopcli", "analyze"]
SATURATION = [*ANALYZE, "--rules", "saturation"]
GRID = [
    "window-words=128,256,512",
    "repeat-threshold=8:256:8",
    "min-offenders=1:4:1",
    "min-saturated-run=750,1500,3000,6000,12000",
]
COMBINATIONS = 1920
# An installed package is compiled; so must this one be, wherever it runs from.
ENVIRON = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
# The filter's detector over files under every 96th combination of the grid.
ONE_BY_ONE = """
import sys, time
from loopcli.analyze.replay import NO_MARKS
from loopcli.analyze.sweep.grid import Grid
from loopcli.events import Lane, Text
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
grid = Grid.from_items("saturation", sys.argv[1].split(), SaturationConfig())
texts = [open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[2:]]
started, runs = time.process_time(), 0
for knobs in list(grid)[::96]:
    config = SaturationConfig(*knobs)
    for text in texts:
        SaturationRule(config, past_trip=True).update(Text(Lane(), text, NO_MARKS))
        runs += 1
print((time.process_time() - started) / runs)
"""


class Cost(NamedTuple):
    """What a command took, in seconds."""

    cpu: float
    wall: float


def run(command: Sequence[str], environ: dict[str, str] | None = None) -> Cost:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    env = ENVIRON | {"PYTHONPATH": str(ROOT)} | (environ or {})
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, ended - started)


def best(commands: Sequence[Sequence[str]], rounds: int) -> list[Cost]:
    """The least that each command took, in turns; a command that begins with wc gets its locale."""
    costs = [
        [
            run(command, {"LC_ALL": "C.UTF-8"} if command[0] == "wc" else None)
            for command in commands
        ]
        for _ in range(rounds)
    ]
    return [Cost(*map(min, zip(*column, strict=True))) for column in zip(*costs, strict=True)]


def text(size: int, replies: Path | None) -> bytes:
    """So much ordinary text."""
    if replies is None:
        folder = Path(sysconfig.get_paths()["stdlib"])
        data = b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
        return (data * (size // len(data) + 1))[:size]
    draw, parts, length = random.Random(4), [], 0
    texts = [json.loads(line)["text"].encode() for line in replies.read_bytes().splitlines()]
    while length < size:
        parts.append(draw.choice(texts))
        length += len(parts[-1]) + 2
    return b"\n\n".join(parts)[:size]


def files(data: bytes, size: int, folder: Path) -> list[str]:
    """The text in files of a size, in 20 folders."""
    paths = []
    for number, at in enumerate(range(0, len(data), size)):
        path = folder / f"{number % 20:03}" / f"{number:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[at : at + size])
        paths.append(str(path))
    return paths


def told(held: bool) -> str:
    return "ok" if held else "MISSED"


def row(name: str, reference: str, ours: float, theirs: float, target: float) -> list[str]:
    ratio = ours / theirs
    return [
        name,
        reference,
        f"{ours:.2f}",
        f"{theirs:.2f}",
        f"{ratio:.2f}x",
        f"{target:.3g}x",
        told(ratio <= target),
    ]


def reports(data: bytes, size: int, target: float, rounds: int) -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = files(data, size, Path(folder))
        name = f"{len(paths)} files of {size:,} bytes"
        commands = [[*command, "--jobs", "1", folder] for command in (ANALYZE, SATURATION)]
        theirs, ours, alone = best([["wc", "-w", *paths], *commands], rounds)
        yield row(name, "wc -w", ours.cpu, theirs.cpu, target)
        yield row(f"{name}, saturation alone", "wc -w", alone.cpu, theirs.cpu, target)


def processes(data: bytes, rounds: int) -> Iterator[list[str]]:
    """Four times the text: a start that cannot be shared is a sixth of a shorter run."""
    with tempfile.TemporaryDirectory() as folder:
        paths = files(data * 4, 1_000_000, Path(folder))
        one, two = ([*ANALYZE, "--jobs", jobs, folder] for jobs in "12")
        # What the machine gives to two processes that share nothing: where others
        # use its cores, too, that is less than twice as much.
        parents = sorted({str(Path(path).parent) for path in paths})
        apart = ["sh", "-c", '"$@" --jobs 1 $A & "$@" --jobs 1 $B; wait', "sh", *ANALYZE]
        ENVIRON.update({"A": " ".join(parents[::2]), "B": " ".join(parents[1::2])})
        ours, both, free = best([one, two, apart], rounds)
        name = f"{len(paths)} files of 1,000,000 bytes"
        gain = ours.wall / both.wall
        times = [f"{ours.wall:.2f}", f"{both.wall:.2f}"]
        yield [f"{name}, one job", "two jobs", *times, f"{gain:.2f}x", "1.8x", told(gain >= 1.8)]
        yield row(f"{name}, two jobs", "two processes", both.wall, free.wall, 2 / 1.8)


def sweeps(data: bytes, rounds: int) -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = files(data, 20_000, Path(folder))
        name = f"sweep of {COMBINATIONS:,} over {len(data) / 1e6:.0f} MB"
        asked = [part for item in GRID for part in ("--sweep", item)]
        command = [*SATURATION, "--jobs", "1", folder]
        report, swept = best([command, [*command, *asked]], rounds)
        yield row(name, "one report", swept.cpu, report.cpu, 2.5)
        part = [
            sys.executable,
            "-c",
            ONE_BY_ONE,
            " ".join(GRID),
            *paths[:: max(1, len(paths) // 40)],
        ]
        env = ENVIRON | {"PYTHONPATH": str(ROOT)}
        each = float(subprocess.run(part, env=env, capture_output=True, check=True).stdout)
        naive = each * len(paths) * COMBINATIONS
        gain = naive / swept.cpu
        times = [f"{swept.cpu:.2f}", f"{naive:.0f}"]
        held = told(gain >= 300)
        yield [name, "a run each, from a part", *times, f"1/{gain:.0f}", "1/300", held]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less text, fewer rounds")
    parser.add_argument("--replies", type=Path)
    asked = parser.parse_args()
    rounds, size = (2, 10_000_000) if asked.quick else (4, 100_000_000)
    data = text(size, asked.replies)
    rows = [
        *reports(data, 1_000_000, 6.0, rounds),
        *reports(data[: size // 2], 4_000, 9.0, rounds),
        *processes(data, rounds),
        *sweeps(data, rounds),
    ]
    headers = ["what", "reference", "ours, s", "reference, s", "ratio", "target", ""]
    print(tabulate(rows, headers))


if __name__ == "__main__":
    main()
