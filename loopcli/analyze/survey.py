"""Goes over a corpus, with one process or several, and keeps a small row for each reply.

Whatever the number of processes, what comes out is the same, in the same
order: that in which the files were found.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.tasks import Item, Plan, Seen, Task, Worker, numpy_works, worker
from loopcli.recordings.corpus import STDIN, File, Trouble
from loopcli.status import Status

if TYPE_CHECKING:
    from loopcli.analyze.pool import WorkerPool  # slow to import
    from loopcli.analyze.sweep.rows import Rows

# A task: so much that handing it over costs nothing, so little that the
# workers end together.
_TASK_BYTES = 1 << 20
_TASK_FILES = 128
# Below this one process is done before several have begun.
_WORTH_PROCESSES = 8 << 20
# Below this, importing numpy costs more than it saves.
_WORTH_NUMPY = 4 << 20


class Survey:
    """One pass over a corpus. What has been found so far is there at any time."""

    def __init__(self, plan: Plan, jobs: int | None = None) -> None:
        self._plan = plan
        self._jobs = jobs
        self.rows: list[ReplayRow] = []
        self.seen: list[Seen] = []
        self.tally: Rows | None = None
        self.statuses: list[Status] = []
        self.troubles: list[Trouble] = []
        self.interrupted = False
        self.files = 0
        self.total = 0
        self._early: dict[int, list[Item]] = {}

    @property
    def interruption(self) -> str:
        """What a Ctrl-C has left undone."""
        return f"interrupted: {self.files} of {self.total} files have been analysed"

    def run(
        self,
        items: Iterable[File | Trouble],
        told: Callable[[Trouble], None],
        tick: Callable[[int, int], None],
    ) -> None:
        """Read every file; ``told`` hears of each trouble, ``tick`` of the files done and all.

        A Ctrl-C ends it early, with what there is by then.
        """
        try:
            self._run(items, told, tick)
        except KeyboardInterrupt:
            self.interrupted = True
            for _, early in sorted(self._early.items()):
                for item in early:
                    self._take(item, told)

    def _run(
        self,
        items: Iterable[File | Trouble],
        told: Callable[[Trouble], None],
        tick: Callable[[int, int], None],
    ) -> None:
        found = list(items)
        self.total = sum(isinstance(item, File) for item in found)
        tasks, size = _tasks(found)
        jobs = self._jobs or (_cores() if size > _WORTH_PROCESSES else 1)
        if self._plan.grid is None and size > _WORTH_NUMPY and numpy_works():
            self._plan = self._plan._replace(screened=True)
        jobs = min(jobs, sum(not isinstance(task, Trouble) for task in tasks))
        tick(0, self.total)
        with ExitStack() as stack:
            results = self._several(tasks, jobs, stack) if jobs > 1 else self._alone(tasks, stack)
            for files, result in results:
                for item in result:
                    self._take(item, told)
                self.files += files
                tick(self.files, self.total)

    def _take(self, item: Item, told: Callable[[Trouble], None]) -> None:
        if isinstance(item, ReplayRow):
            self.rows.append(item)
        elif isinstance(item, Seen):
            self.seen.append(item)
        else:
            self.troubles.append(item)
            self.statuses.append(item.status)
            told(item)

    def _alone(
        self, tasks: Sequence[Task | Trouble], stack: ExitStack
    ) -> Iterator[tuple[int, list[Item]]]:
        work = worker(self._plan)
        stack.callback(lambda: self._keep([work.finish()]))
        for task in tasks:
            if isinstance(task, Trouble):
                yield 0, [task]
            else:
                yield len(task), work(task)

    def _several(
        self, tasks: Sequence[Task | Trouble], jobs: int, stack: ExitStack
    ) -> Iterator[tuple[int, list[Item]]]:
        from loopcli.analyze.pool import WorkerPool  # slow to import

        # Standard input belongs to this process.
        theirs = {
            at: task
            for at, task in enumerate(tasks)
            if not isinstance(task, Trouble) and task[0].path != STDIN
        }
        crew: WorkerPool[Task, list[Item]] = stack.enter_context(
            WorkerPool(partial(worker, self._plan), jobs)
        )
        own = worker(self._plan)
        if self._plan.grid is not None:
            stack.callback(lambda: self._keep([own.finish(), *crew.finish()]))
        at = 0
        for number, items in self._gathered(theirs, crew):
            self._early[number] = items
            while at < len(tasks) and (at in self._early or at not in theirs):
                yield self._in_turn(tasks[at], self._early.pop(at, None), own)
                at += 1
        for rest in range(at, len(tasks)):
            yield self._in_turn(tasks[rest], self._early.pop(rest, None), own)

    def _in_turn(
        self, task: Task | Trouble, result: list[Item] | None, own: Worker
    ) -> tuple[int, list[Item]]:
        if isinstance(task, Trouble):
            return 0, [task]
        return len(task), own(task) if result is None else result

    def _gathered(
        self, tasks: Mapping[int, Task], crew: WorkerPool[Task, list[Item]]
    ) -> Iterator[tuple[int, list[Item]]]:
        """Yield what each task gives; a replay that took its worker along is tried file by file."""
        numbers, again = list(tasks), []
        for at, result in crew.run(tasks.values()):
            number = numbers[at]
            if isinstance(result, list):
                yield number, result
            elif self._plan.grid is None and len(tasks[number]) > 1:
                again.append(number)
            else:
                yield number, self._lost(tasks[number], result.reason)
        for number in again:
            alone = [[file] for file in tasks[number]]
            items: list[Item] = []
            for at, result in sorted(crew.run(alone), key=lambda answer: answer[0]):
                if isinstance(result, list):
                    items += result
                else:
                    items += self._lost(alone[at], result.reason)
            yield number, items

    def _lost(self, task: Task, reason: str) -> list[Item]:
        message = f"not analysed: the process that read it ended {reason}"
        if self._plan.grid is not None:
            message += ", and all that it had swept is lost"
        return [Trouble(file.path, "", message) for file in task]

    def _keep(self, tallies: Iterable[Rows | None]) -> None:
        for tally in tallies:
            if self.tally is None:
                self.tally = tally
            elif tally is not None:
                self.tally.merge(tally)


def _tasks(items: Sequence[File | Trouble]) -> tuple[list[Task | Trouble], int]:
    """Bundle files into tasks, in order; return them and the bytes in the files.

    An interruption loses what has been done of a task, so what is large, or may have
    to be waited for, is a task by itself.
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
    """Return the bytes of a file; ``None`` for what is none, and may keep its reader waiting."""
    if path == STDIN:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return 0  # reading it will tell what is wrong
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
