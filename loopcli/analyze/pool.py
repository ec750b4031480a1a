"""Several processes that do one kind of work, task by task.

Rules of this file:

- Whoever works is made in its own process and may keep something to itself
  until the end (``finish``); tasks and results are pickled.
- A worker ignores Ctrl-C: the terminal sends it to all, and it is the parent
  that decides. A worker whose parent has died ends, too.
- A worker that dies takes its task with it and nothing else: the parent hears
  which task that was, and another worker takes its place.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

TaskT = TypeVar("TaskT", contravariant=True)
ResultT = TypeVar("ResultT", covariant=True)
T = TypeVar("T")
R = TypeVar("R")

# How long a worker may take to hand over what it kept, in seconds.
_PATIENCE = 5.0


class Work(Protocol[TaskT, ResultT]):
    """What a worker does."""

    def __call__(self, task: TaskT, /) -> ResultT:
        """Do one task."""

    def finish(self) -> Any:
        """Return what was kept until the end."""


class Lost(NamedTuple):
    """A task that took its worker with it; ``reason`` says how that one ended."""

    reason: str


class WorkError(Exception):
    """A bug in a worker; the message is its traceback."""


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection


class WorkerPool(Generic[T, R]):
    """Processes at work; a context manager that leaves none behind."""

    def __init__(self, make: Callable[[], Work[T, R]], size: int) -> None:
        self._make = make
        # Forking is by far the cheapest way to begin, and Linux is where it is safe.
        self._context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
        self._workers: list[_Worker] = []
        for _ in range(size):
            self._hire()

    def _hire(self) -> None:
        ours, theirs = self._context.Pipe()
        # Forked processes inherit the other ends, too, and would keep them open.
        inherited = [ours, *(worker.pipe for worker in self._workers)]
        others = inherited if self._context.get_start_method() == "fork" else []
        process: BaseProcess = self._context.Process(
            target=_serve, args=(self._make, theirs, others), daemon=True
        )
        # A Ctrl-C before the worker ignores it would have it print a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._workers.append(_Worker(process, ours))

    def run(self, tasks: Iterable[T]) -> Iterator[tuple[int, R | Lost]]:
        """Yield the number of each task and its result, in the order they get done."""
        queue = enumerate(tasks)
        busy: dict[Connection, int] = {}
        for worker in list(self._workers):
            self._give(worker.pipe, queue, busy)
        while busy:
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                number = busy.pop(pipe)
                try:
                    kind, answer = pipe.recv()
                except (EOFError, ConnectionResetError):
                    yield number, Lost(self._bury(pipe))
                    self._hire()
                    pipe = self._workers[-1].pipe
                else:
                    if kind == "error":
                        raise WorkError(answer)
                    yield number, answer
                self._give(pipe, queue, busy)

    def _give(
        self, pipe: Connection, queue: Iterator[tuple[int, T]], busy: dict[Connection, int]
    ) -> None:
        task = next(queue, None)
        if task is None:
            return
        busy[pipe] = task[0]
        with suppress(BrokenPipeError, ConnectionResetError):  # reading from it will tell
            pipe.send(task[1])

    def _bury(self, pipe: Connection) -> str:
        (dead,) = [worker for worker in self._workers if worker.pipe is pipe]
        self._workers.remove(dead)
        pipe.close()
        dead.process.join(_PATIENCE)
        code = dead.process.exitcode
        return f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"

    def finish(self) -> list[Any]:
        """Return what each worker kept, in any order; one that is still busy is waited for a while.

        A worker that does not answer in time is left out.
        """
        kept = []
        for worker in self._workers:
            try:
                worker.pipe.send(None)
                while worker.pipe.poll(_PATIENCE):
                    kind, answer = worker.pipe.recv()  # perhaps the result of a task first
                    if kind == "kept":
                        kept.append(answer)
                        break
            except (EOFError, OSError):
                continue
        return kept

    def __enter__(self) -> WorkerPool[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()


def _end_with_parent() -> None:
    """End this process when its parent has, in the middle of a task and with its output closed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _serve(make: Callable[[], Work[T, R]], pipe: Connection, others: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for other in others:
        other.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work = make()
    try:
        while (task := pipe.recv()) is not None:
            try:
                answer = "done", work(task)
            except Exception:
                import traceback

                answer = "error", traceback.format_exc()  # type: ignore[assignment]
            pipe.send(answer)
        pipe.send(("kept", work.finish()))
    except (EOFError, OSError):
        return  # the parent has gone
