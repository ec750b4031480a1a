"""Where the tasks of a survey run: in this process, in worker processes that may die, elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from analyzing import VOID, Run, environment
from processes import PATIENCE

from loopcli.analyze.survey import Survey
from loopcli.analyze.tasks import Lost, Plan, Task, TaskResult, ThisProcess
from loopcli.events import Channel
from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, Trouble
from loopcli.rules.base import Armed
from loopcli.rules.saturation.rule import SaturationRule

# A worker that meets a file of this name is killed: while it reads the file, or while it
# writes its result.
KILLED_READING = """
from loopcli.recordings import corpus
read = corpus.read
def deadly(file, settings):
    if file.path.endswith("/deadly.txt"):
        os.kill(os.getpid(), signal.SIGKILL)
    return read(file, settings)
corpus.read = deadly
"""
KILLED_WRITING = """
import struct
from multiprocessing.connection import Connection
from loopcli.analyze import pool
pool._LOOK_EVERY = 0.2
parent, send = os.getpid(), Connection._send_bytes
def deadly(self, data):
    if os.getpid() != parent and b"/deadly.txt" in bytes(data):
        os.write(self.fileno(), struct.pack("!i", len(data)) + bytes(data[:9]))
        os.kill(os.getpid(), signal.SIGKILL)
    send(self, data)
Connection._send_bytes = deadly
"""
FAILING = """
from loopcli.recordings import corpus
def failing(file, settings):
    raise KeyError(file.path)
corpus.read = failing
"""
MAIN = """
from loopcli.cli import main
status = main(["analyze", "--rules", "saturation", *sys.argv[1:]])
sys.stdout.flush()
os._exit(status)
"""


def patched(patch: str, args: list[str], cwd: Path) -> Run:
    """Run `analyze` in a process that has been patched."""
    done = subprocess.run(
        [sys.executable, "-c", f"import os, signal, sys\n{patch}{MAIN}", *args],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Several tasks; two files among them are deadly, and one of these is a task by itself."""
    for number in range(300):
        folder = tmp_path / ("loop" if number % 7 == 0 else "clean")
        folder.mkdir(exist_ok=True)
        text = (VOID if number % 7 == 0 else f"file {number} has words ") * (number * 5)
        (folder / f"{number}.txt").write_text(text)
    (tmp_path / "loop" / "deadly.txt").write_text(VOID)
    (tmp_path / "clean" / "deadly.txt").write_text("words " * 200_000)
    return tmp_path


DEADLY = [
    f"loopcheck: ./{folder}/deadly.txt: not analysed: the process that read it ended by signal 9"
    for folder in ("clean", "loop")
]
SWEEP = ["--sweep", "min-saturated-run=300,600", "--format", "json"]


@pytest.mark.parametrize("patch", [KILLED_READING, KILLED_WRITING], ids=["reading", "writing"])
@pytest.mark.parametrize("args", [["--format", "json"], SWEEP], ids=["report", "sweep"])
def test_a_worker_that_dies_costs_its_file_only(args: list[str], patch: str, files: Path) -> None:
    several = patched(patch, [*args, "--jobs", "3", "."], files)
    assert (several.status, sorted(several.stderr.splitlines())) == (1, DEADLY)
    for folder in ("clean", "loop"):
        (files / folder / "deadly.txt").unlink()
    alone = patched("", [*args, "--jobs", "1", "."], files)
    assert alone.status == 0
    assert several.stdout.partition('"troubles"')[0] == alone.stdout.partition('"troubles"')[0]


def test_a_bug_reads_alike_from_a_worker(files: Path) -> None:
    alone, several = (patched(FAILING, ["--jobs", jobs, "loop"], files) for jobs in "12")
    assert alone == several
    assert alone.stderr.startswith("loopcheck: this is a bug in loopcheck: KeyError('loop/")


class Backwards:
    """An executor as it may stand on other machines: the last task comes first, and one is lost."""

    def __init__(self, plan: Plan, jobs: int) -> None:
        self._here = ThisProcess(plan)
        self.jobs = jobs
        self.left = False

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[int, TaskResult | Lost]]:
        tasks = list(tasks)
        for number in reversed(range(len(tasks))):
            if any(file.path.endswith("/7.txt") for file in tasks[number]):
                yield number, Lost("without a trace")
            else:
                yield from ((number, result) for _, result in self._here.run([tasks[number]]))

    def __enter__(self) -> Backwards:
        return self

    def __exit__(self, *_: object) -> None:
        self.left = True


def test_another_executor_gives_the_same(files: Path) -> None:
    plan = Plan([Armed(SaturationRule, frozenset(Channel))], CorpusSettings())
    made: list[Backwards] = []

    def make(plan: Plan, jobs: int) -> Backwards:
        made.append(Backwards(plan, jobs))
        return made[0]

    def ids(survey: Survey) -> list[str]:
        ticks: list[int] = []
        troubles: list[Trouble] = []
        survey.run(corpus.find([str(files)]), troubles.append, lambda done, _: ticks.append(done))
        assert ticks == sorted(ticks)
        assert (ticks[-1], troubles) == (302, survey.troubles)
        return [row.id for row in survey.rows]

    alone, other = Survey(plan), Survey(plan, 2, make)
    wanted = [ident for ident in ids(alone) if not ident.endswith("/7.txt#1")]
    assert ids(other) == wanted
    assert (made[0].jobs, made[0].left) == (2, True)
    (trouble,) = other.troubles
    assert trouble.message == "not analysed: the process that read it ended without a trace"
