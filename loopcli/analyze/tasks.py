"""What is done with the files of a corpus: replay their replies, or sweep a grid over them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
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
    from loopcli.analyze.sweep.reruns import Reruns
    from loopcli.analyze.sweep.rows import Rows
    from loopcli.analyze.sweep.tally import Tally  # the one that needs numpy

# A sweep holds a reply as a whole, and several columns of numbers with it.
MAX_SWEPT_CHARS = 64 << 20


class Plan(NamedTuple):
    """What to do with each reply: replay it through ``armed``, or sweep ``grid``.

    A sweep judges the lanes of ``channels``.
    ``screened`` has replays pass quickly over what cannot matter, which needs
    numpy and changes nothing but the time.
    """

    armed: Sequence[Armed]
    settings: CorpusSettings
    channels: frozenset[Channel] = frozenset()
    grid: Grid | RuleGrid | None = None
    screened: bool = False


class Seen(NamedTuple):
    """A reply that went into a tally."""

    id: str
    label: Label | None


Item = ReplayRow | Seen | Trouble
Task = Sequence[File]


class Worker(Protocol):
    """Measures files; ``finish`` returns the tally, if there is one."""

    def __call__(self, task: Task, /) -> list[Item]:
        """Return what is in files, in order."""

    def finish(self) -> Rows | None:
        """Return what was kept."""


class Replayer:
    """Turns replies into rows."""

    def __init__(self, plan: Plan) -> None:
        self._settings, self._armed = plan.settings, plan.armed
        self._batch: Batch | None = None
        if plan.screened:
            from loopcli.analyze.screening.batch import Batch  # numpy is slow to import

            self._batch = Batch(plan.armed)

    def __call__(self, task: Task, /) -> list[Item]:
        """Return a row for each reply and rule, and the troubles between them."""
        items: list[Item] = []
        for file in task:
            for found in corpus.read(file, self._settings):
                if isinstance(found, Trouble):
                    items.append(found)
                elif self._batch is not None:
                    items += self._batch.take(*found)
                else:
                    items += replay(found.id, found.lanes, self._armed, found.label, found.onset)
        return items if self._batch is None else [*items, *self._batch.flush()]

    def finish(self) -> None:
        """Nothing was kept."""


class Sweeper:
    """Sweeps a grid over replies, and keeps the tally."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rows = _rows(plan.grid)

    def __call__(self, task: Task, /) -> list[Item]:
        """Return the replies that went into the tally, and the troubles between them."""
        items: list[Item] = []
        for file in task:
            for found in corpus.read(file, self._plan.settings):
                items.append(found if isinstance(found, Trouble) else self._sweep(found))
        return items

    def _sweep(self, found: Transcript) -> Seen | Trouble:
        lanes = []
        for lane, pieces in found.lanes:
            if lane.channel in self._plan.channels:
                text = _joined(pieces)
                if text is None:
                    message = f"more than {MAX_SWEPT_CHARS} characters are too many for a sweep"
                    return Trouble(found.id, "", message)
                lanes.append(text)
        self._rows.add(lanes, found.label, found.onset)
        return Seen(found.id, found.label)

    def finish(self) -> Rows:
        """Return what was kept, ready to be sent."""
        self._rows.flush()
        return self._rows


def _rows(grid: Grid | RuleGrid | None) -> Tally | Reruns:
    """Return what collects the figures of a grid."""
    from loopcli.analyze.sweep.grid import Grid

    if isinstance(grid, Grid):
        from loopcli.analyze.sweep.tally import Tally  # the one that needs numpy

        return Tally(grid)
    from loopcli.analyze.sweep.reruns import Reruns

    assert grid is not None
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


def worker(plan: Plan) -> Worker:
    """Return what does the work of ``plan``."""
    return Replayer(plan) if plan.grid is None else Sweeper(plan)
