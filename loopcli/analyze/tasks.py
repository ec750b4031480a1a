"""The tasks of a survey: read files, and replay their replies or sweep a grid over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from loopcli.analyze.replay import ReplayRow, replay
from loopcli.events import Channel
from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Transcript, Trouble
from loopcli.recordings.opening import STDIN, keep_stdin
from loopcli.rules.base import Armed
from loopcli.session_setup import SessionSetup
from loopcli.verdicts import Label

if TYPE_CHECKING:
    from loopcli.analyze.bulk import Bulk  # numpy is slow to import
    from loopcli.analyze.sweep.grid import Grid, RuleGrid
    from loopcli.analyze.sweep.rows import ReplyRows, Rows
    from loopcli.session_judge import SessionJudge

# A sweep holds a reply as a whole, and several columns of numbers with it.
MAX_SWEPT_CHARS = 64 << 20


class SessionPlan(NamedTuple):
    """How sessions are judged: by which rules, their configurations, and what the user wants.

    ``lists`` says that a list of messages is a session, too, not only what an agent wrote.
    """

    names: tuple[str, ...]
    configs: Mapping[str, Any]
    setup: SessionSetup
    lists: bool

    def judge(self) -> SessionJudge:
        """Return a fresh judge."""
        from loopcli.session_judge import armed_judge  # only a session pays for the import

        made = armed_judge(self.names, self.configs, self.setup)
        assert made is not None
        return made


class Plan(NamedTuple):
    """What to do with each reply: replay it through ``armed``, or sweep ``grid``.

    A sweep judges the lanes of ``channels``. With ``bulk``, a replay judges many replies
    together, with numpy. That changes no result, only the time.
    ``sessions`` judges the sessions in the files; without ``armed`` nothing else is judged.
    """

    armed: Sequence[Armed]
    settings: CorpusSettings
    channels: frozenset[Channel] = frozenset()
    grid: Grid | RuleGrid | None = None
    bulk: bool = False
    sessions: SessionPlan | None = None


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
        self._sessions = plan.sessions
        self._bulk: Bulk | None = None
        if plan.bulk and plan.armed:
            from loopcli.analyze.bulk import Bulk  # numpy is slow to import

            self._bulk = Bulk(plan.armed)

    def __call__(self, task: Task) -> TaskResult:
        """Return a row for each reply, session and rule, and the troubles between them."""
        items: list[Item] = []
        for file in task:
            again = keep_stdin() if file.path == STDIN and self._sessions else None
            if self._armed:
                items += self._replies(file)
            if again is not None:
                again()
            if self._sessions is not None:
                from loopcli.analyze import session_tasks  # only sessions pay for the import

                troubles = not self._armed  # else the replies have reported them
                items += session_tasks.rows(file, self._sessions, self._settings, troubles)
        return TaskResult(items if self._bulk is None else [*items, *self._bulk.flush()])

    def _replies(self, file: File) -> Iterator[Item]:
        for reply in corpus.read(file, self._settings):
            if isinstance(reply, Trouble):
                yield reply
            elif self._bulk is not None:
                yield from self._bulk.take(*reply)
            else:
                yield from replay(reply.id, reply.lanes, self._armed, reply.label, reply.onset)


class Sweeper:
    """Sweeps a grid over replies."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, task: Task) -> TaskResult:
        """Return the replies that were swept, the troubles between them, and the figures."""
        assert self._plan.grid is not None
        rows = _reply_rows(self._plan)
        items: list[Item] = []
        for file in task:
            for reply in corpus.read(file, self._plan.settings):
                items.append(reply if isinstance(reply, Trouble) else self._sweep(reply, rows))
        rows.flush()
        return TaskResult(items, rows)

    def _sweep(self, reply: Transcript, rows: ReplyRows) -> Seen | Trouble:
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


def empty_rows(plan: Plan) -> Rows:
    """Return what collects the figures of a plan's grid."""
    if sweeps_sessions(plan):
        from loopcli.analyze import session_tasks

        return session_tasks.runs(plan)
    return _reply_rows(plan)


def _reply_rows(plan: Plan) -> ReplyRows:
    from loopcli.analyze.sweep.grid import Grid

    assert plan.grid is not None
    if isinstance(plan.grid, Grid):
        from loopcli.analyze.sweep.tally import Tally  # the one that needs numpy

        return Tally(plan.grid)
    from loopcli.analyze.sweep.reruns import Reruns

    return Reruns(plan.grid)


def sweeps_sessions(plan: Plan) -> bool:
    """Return whether the grid is of a rule for sessions."""
    return plan.sessions is not None and getattr(plan.grid, "rule", "") in plan.sessions.names


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
    if plan.grid is None:
        return Replayer(plan)
    if sweeps_sessions(plan):
        from loopcli.analyze.session_tasks import SessionSweeper

        return SessionSweeper(plan)
    return Sweeper(plan)
