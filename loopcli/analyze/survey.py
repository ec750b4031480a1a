"""Reads a corpus with one process or several, and keeps a small row for each reply.

The result does not depend on the number of processes, nor does its order, which is that of
the files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.tasks import (
    Lost,
    Plan,
    Seen,
    Task,
    TaskExecutor,
    TaskResult,
    ThisProcess,
    empty_rows,
    numpy_works,
    performer,
)
from loopcli.recordings.corpus import File, Trouble
from loopcli.recordings.opening import STDIN
from loopcli.status import Status

if TYPE_CHECKING:
    from loopcli.analyze.sweep.rows import Rows

# The size of a task: large enough that passing it on costs nothing, small enough that the
# workers end at about the same time.
_TASK_BYTES = 1 << 20
_TASK_FILES = 128
# Below this, one process is done before several have started.
_WORTH_PROCESSES = 8 << 20
# Below this, importing numpy costs more than it saves.
_WORTH_NUMPY = 4 << 20


class Survey:
    """One pass over a corpus. Its attributes hold what has been read so far, at any time.

    ``rows`` (of a replay) and ``seen`` (of a sweep) are in the order of the corpus; ``tally`` has
    the figures of a sweep, and ``statuses`` those of ``troubles``. ``executor`` makes what runs
    the tasks, from the plan and the number of processes.
    """

    def __init__(
        self,
        plan: Plan,
        jobs: int | None = None,
        executor: Callable[[Plan, int], TaskExecutor] | None = None,
    ) -> None:
        self._plan = plan
        self._jobs = jobs
        self._executor = executor or _executor
        self.rows: list[ReplayRow] = []
        self.seen: list[Seen] = []
        self.tally: Rows | None = None if plan.grid is None else empty_rows(plan)
        self.statuses: list[Status] = []
        self.troubles: list[Trouble] = []
        self.interrupted = False
        self.files = 0
        self.total = 0
        self._early: dict[int, list[TaskResult]] = {}

    @property
    def interruption(self) -> str:
        """How far the pass had come when a Ctrl-C ended it."""
        return f"interrupted: {self.files} of {self.total} files have been analysed"

    def run(
        self,
        items: Iterable[File | Trouble],
        on_trouble: Callable[[Trouble], None],
        on_progress: Callable[[int, int], None],
    ) -> None:
        """Read every file. ``on_progress`` gets the numbers of files done and of all files.

        A Ctrl-C ends the pass early, and keeps what is there by then.
        """
        try:
            self._run(list(items), on_trouble, on_progress)
        except KeyboardInterrupt:
            self.interrupted = True
            for _, results in sorted(self._early.items()):
                self._take(results, on_trouble)

    def _run(
        self,
        items: Sequence[File | Trouble],
        on_trouble: Callable[[Trouble], None],
        on_progress: Callable[[int, int], None],
    ) -> None:
        self.total = sum(isinstance(item, File) for item in items)
        tasks, size = _tasks(items)
        plan = self._plan
        if plan.grid is None and size > _WORTH_NUMPY and numpy_works():
            plan = plan._replace(bulk=True)
        jobs = self._jobs or (_cores() if size > _WORTH_PROCESSES else 1)
        jobs = min(jobs, sum(not isinstance(task, Trouble) for task in tasks))
        on_progress(0, self.total)
        with self._executor(plan, jobs) as executor:
            for files, results in self._in_order(tasks, executor, performer(plan)):
                self._take(results, on_trouble)
                self.files += files
                on_progress(self.files, self.total)

    def _in_order(
        self,
        tasks: Sequence[Task | Trouble],
        executor: TaskExecutor,
        perform: Callable[[Task], TaskResult],
    ) -> Iterator[tuple[int, list[TaskResult]]]:
        """Yield how many files each task has, and its results, in the order of the corpus."""
        # Standard input belongs to this process.
        others = {
            number: task
            for number, task in enumerate(tasks)
            if not isinstance(task, Trouble) and task[0].path != STDIN
        }
        completed = _run(others, executor)
        self._early.update(islice(completed, 1))  # the executor starts before this process does
        for number, task in enumerate(tasks):
            if isinstance(task, Trouble):
                yield 0, [TaskResult([task])]
            elif number not in others:
                yield len(task), [perform(task)]
            else:
                while number not in self._early:
                    self._early.update([next(completed)])
                yield len(task), self._early.pop(number)

    def _take(self, results: Iterable[TaskResult], on_trouble: Callable[[Trouble], None]) -> None:
        for result in results:
            for item in result.items:
                if isinstance(item, ReplayRow):
                    self.rows.append(item)
                elif isinstance(item, Seen):
                    self.seen.append(item)
                else:
                    self.troubles.append(item)
                    self.statuses.append(item.status)
                    on_trouble(item)
            if self.tally is not None and result.rows is not None:
                self.tally.merge(result.rows)


def _executor(plan: Plan, jobs: int) -> TaskExecutor:
    """Return what runs tasks by default: worker processes, if there are to be several."""
    if jobs <= 1:
        return ThisProcess(plan)
    from loopcli.analyze.pool import WorkerPool  # slow to import

    return WorkerPool(plan, jobs)


def _run(
    tasks: Mapping[int, Task], executor: TaskExecutor
) -> Iterator[tuple[int, list[TaskResult]]]:
    """Yield the number of each task with its results; a task that is lost runs file by file."""
    numbers = list(tasks)
    lost: list[int] = []
    for at, result in executor.run(tasks.values()):
        number = numbers[at]
        if isinstance(result, Lost) and len(tasks[number]) > 1:
            lost.append(number)
        else:
            yield number, [_unless_lost(result, tasks[number][0])]
    for number in lost:
        files = tasks[number]
        results = sorted(executor.run([file] for file in files), key=lambda pair: pair[0])
        yield number, [_unless_lost(result, files[at]) for at, result in results]


def _unless_lost(result: TaskResult | Lost, file: File) -> TaskResult:
    """Return the result of a task; of one that is lost, whose only file is ``file``, a trouble."""
    if isinstance(result, TaskResult):
        return result
    message = f"not analysed: the process that read it ended {result.reason}"
    return TaskResult([Trouble(file.path, "", message)])


def _tasks(items: Sequence[File | Trouble]) -> tuple[list[Task | Trouble], int]:
    """Bundle files into tasks, in order; return them and the bytes in the files.

    An interruption loses what has been done of a task. So a file that is large, or that may
    keep its reader waiting, is a task by itself.
    """
    tasks: list[Task | Trouble] = []
    bundle: list[File] = []
    total = held = 0
    for item in items:
        size = 0 if isinstance(item, Trouble) else _size(item.path)
        if isinstance(item, Trouble) or size is None or size >= _TASK_BYTES:
            tasks += [bundle] if bundle else []
            tasks.append(item if isinstance(item, Trouble) else [item])
            bundle, held = [], 0
            total += size or 0
            continue
        total += size
        held += size
        bundle.append(item)
        if held >= _TASK_BYTES or len(bundle) >= _TASK_FILES:
            tasks.append(bundle)
            bundle, held = [], 0
    tasks += [bundle] if bundle else []
    return tasks, total


def _size(path: str) -> int | None:
    """Return the bytes of a file; ``None`` if it is not a regular file, which may block."""
    if path == STDIN:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return 0  # reading the file will report the error
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
