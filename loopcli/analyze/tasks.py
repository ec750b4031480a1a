"""The tasks of a survey: read files, and replay their replies or sweep a grid over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

from loopcli.analyze.replay import ReplayRow, replay
from loopcli.events import Channel
from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Transcript, Trouble
from loopcli.rules.base import Armed
from loopcli.verdicts import Label

if TYPE_CHECKING:
    from loopcli.analyze.screening.batch import Batch  # numpy is slow to import
    from loopcli.analyze.sweep.grid import Grid, RuleGrid
    from loopcli.analyze.sweep.rows import Rows

# A sweep holds a reply as a whole, and several columns of numbers with it.
MAX_SWEPT_CHARS = 64 << 20


class Plan(NamedTuple):
    """What to do with each reply: replay it through ``armed``, or sweep ``grid``.

    A sweep judges the lanes of ``channels``. With ``screened``, a replay first looks with
    numpy for replies that no rule can trip on. That changes no result, only the time.
    """

    armed: Sequence[Armed]
    settings: CorpusSettings
    channels: frozenset[Channel] = frozenset()
    grid: Grid | RuleGrid | None = None
    screened: bool = False


class Seen(NamedTuple):
    """A reply that a sweep has counted."""

    id: str
    label: Label | None


Item = ReplayRow | Seen | Trouble
Task = Sequence[File]
"""Files to read, in this order. A task depends on no other task."""


class TaskResult(NamedTuple):
    """What the files of a task gave, in their order, and a sweep's figures over their replies."""

    items: list[Item]
    rows: Rows | None = None


class Lost(NamedTuple):
    """In place of a result: whoever ran the task died; ``reason`` is a clause that says how."""

    reason: str


class TaskExecutor(Protocol):
    """Where tasks run: the seam behind which other executors can stand.

    An executor is made for one ``Plan``. ``ThisProcess`` and ``WorkerPool`` are two; one that
    sends tasks to other machines needs the same three methods, and has to pickle plans, tasks
    and results.

    ``Survey`` puts results in order, and runs a lost task again file by file. Leaving the
    context ends at once all that still runs, also after an exception such as
    ``KeyboardInterrupt``.
    """

    def run(self, tasks: Iterable[Task], /) -> Iterator[tuple[int, TaskResult | Lost]]:
        """Yield, for each task, its number in ``tasks`` and its result, in any order.

        An exception that a task raises is a bug in loopcheck. It is raised here.
        """

    def __enter__(self) -> TaskExecutor:
        """Return the executor itself."""

    def __exit__(self, *_: object) -> None:
        """End all that still runs."""


class ThisProcess:
    """A ``TaskExecutor`` without other processes: runs one task after another."""

    def __init__(self, plan: Plan) -> None:
        self._perform = performer(plan)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[int, TaskResult]]:
        """Yield the number of each task with its result."""
        for number, task in enumerate(tasks):
            yield number, self._perform(task)

    def __enter__(self) -> ThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing runs any more."""


class Replayer:
    """Turns replies into rows."""

    def __init__(self, plan: Plan) -> None:
        self._settings, self._armed = plan.settings, plan.armed
        self._batch: Batch | None = None
        if plan.screened:
            from loopcli.analyze.screening.batch import Batch  # numpy is slow to import

            self._batch = Batch(plan.armed)

    def __call__(self, task: Task) -> TaskResult:
        """Return a row for each reply and rule, and the troubles between them."""
        items: list[Item] = []
        for file in task:
            for reply in corpus.read(file, self._settings):
                if isinstance(reply, Trouble):
                    items.append(reply)
                elif self._batch is not None:
                    items += self._batch.take(*reply)
                else:
                    items += replay(reply.id, reply.lanes, self._armed, reply.label, reply.onset)
        return TaskResult(items if self._batch is None else [*items, *self._batch.flush()])


class Sweeper:
    """Sweeps a grid over replies."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, task: Task) -> TaskResult:
        """Return the replies that were swept, the troubles between them, and the figures."""
        assert self._plan.grid is not None
        rows = empty_rows(self._plan.grid)
        items: list[Item] = []
        for file in task:
            for reply in corpus.read(file, self._plan.settings):
                items.append(reply if isinstance(reply, Trouble) else self._sweep(reply, rows))
        rows.flush()
        return TaskResult(items, rows)

    def _sweep(self, reply: Transcript, rows: Rows) -> Seen | Trouble:
        lanes = []
        for lane, pieces in reply.lanes:
            if lane.channel in self._plan.channels:
                text = _joined(pieces)
                if text is None:
                    message = f"more than {MAX_SWEPT_CHARS} characters are too many for a sweep"
                    return Trouble(reply.id, "", message)
                lanes.append(text)
        rows.add(lanes, reply.label, reply.onset)
        return Seen(reply.id, reply.label)


def empty_rows(grid: Grid | RuleGrid) -> Rows:
    """Return what collects the figures of a grid."""
    from loopcli.analyze.sweep.grid import Grid

    if isinstance(grid, Grid):
        from loopcli.analyze.sweep.tally import Tally  # the one that needs numpy

        return Tally(grid)
    from loopcli.analyze.sweep.reruns import Reruns

    return Reruns(grid)


def _joined(pieces: Iterable[str]) -> str | None:
    held, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_SWEPT_CHARS:
            return None
        held.append(piece)
    return "".join(held)


def numpy_works() -> bool:
    """Tell whether numpy can be imported; one that is broken is as good as none."""
    # What it multiplies matrices with would start a thread for each core, and keep
    # all of them busy with waiting for a tenth of a second. None is multiplied.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import_module("numpy")
    except ImportError:
        return False
    return True


def performer(plan: Plan) -> Callable[[Task], TaskResult]:
    """Return the function that performs the tasks of ``plan``."""
    return Replayer(plan) if plan.grid is None else Sweeper(plan)
