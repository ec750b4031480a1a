"""Worker processes of this machine, which run the tasks of a survey.

Theory of operation. The standard process pool starts the workers, hands out
tasks and collects results. It does not give three guarantees that we need:

- A dead worker costs its own task and no other. The standard pool breaks as a
  whole: it ends the other workers, and cannot name the task at fault. So there
  are never more tasks in the pool than workers. When it breaks, each of these
  tasks is run again, alone, in a pool of one worker. If that worker dies too, the
  task is ``Lost``, and the reason is how this worker ended. A new pool then
  runs the tasks that are left.
- Ctrl-C belongs to the parent. A terminal sends SIGINT to every process, so
  workers start with the signal blocked, and ignore it before they unblock it.
- No worker survives. Leaving the context kills workers that are in the middle
  of a task, since reading a FIFO may take for ever. If the parent was killed, a
  thread in each worker notices it.

One death goes unnoticed by the standard pool: that of a worker which is killed
while it writes a result. The pool then waits for the rest of the result. So
``_Pool.wait`` looks at the processes itself every few seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.process import BaseProcess
from typing import ParamSpec, TypeVar

from loopcli.analyze.tasks import Lost, Plan, Task, TaskResult, performer

P = ParamSpec("P")
R = TypeVar("R")

# Seconds between two looks at the workers while no result comes. Nearly every death is
# noticed at once without them, so they may be rare.
_LOOK_EVERY = 5.0
# Forking is by far the cheapest way to start, and Linux is where it is safe.
_METHOD = "fork" if sys.platform == "linux" else "spawn"


class WorkerPool:
    """A ``TaskExecutor`` with ``size`` worker processes."""

    def __init__(self, plan: Plan, size: int) -> None:
        self._plan = plan
        self._size = size
        self._pool: _Pool | None = None

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[int, TaskResult | Lost]]:
        """Yield the number of each task with its result, in the order of completion."""
        queue = enumerate(tasks)
        running: dict[Future[TaskResult], tuple[int, Task]] = {}
        while True:
            for number, task in islice(queue, self._size - len(running)):
                running[self._started().submit(_perform, task)] = number, task
            if not running:
                return
            broken = self._started().wait(running)
            completed = [future for future in running if future.done() or broken]
            lost = []
            for future in completed:
                number, task = running.pop(future)
                result = _result(future)
                if result is None:
                    lost.append((number, task))
                else:
                    yield number, result
            if broken:
                self._close()
            for number, task in lost:
                yield number, self._run_alone(task)

    def _run_alone(self, task: Task) -> TaskResult | Lost:
        pool = _Pool(1, self._plan)
        try:
            pool.start()
            future = pool.submit(_perform, task)
            pool.wait([future])
            result = _result(future)
        finally:
            pool.close()
        return Lost(pool.ending()) if result is None else result

    def _started(self) -> _Pool:
        if self._pool is None:
            self._pool = _Pool(self._size, self._plan)
            self._pool.start()
        return self._pool

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()


def _result(future: Future[TaskResult]) -> TaskResult | None:
    """Return the result of a task, or ``None`` if the pool broke before it was there."""
    if not future.done() or isinstance(future.exception(), BrokenProcessPool):
        return None
    return future.result()


class _Pool:
    """One standard pool and its processes."""

    def __init__(self, size: int, plan: Plan) -> None:
        context = multiprocessing.get_context(_METHOD)
        self._standard = ProcessPoolExecutor(size, context, _prepare_worker, (plan,))
        self._others = frozenset(multiprocessing.active_children())
        self._processes: set[BaseProcess] = set()
        self._stuck = False

    def start(self) -> None:
        """Start the processes: with an empty task, so that none dies before it is known."""
        self.submit(_do_nothing).result()

    def submit(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have a worker call ``function``; if the pool is broken, the future says so."""
        # This starts processes and threads. SIGINT must not end the former, nor reach the
        # latter: it interrupts a wait only if it comes to the main thread.
        with _interrupts_blocked():
            try:
                future = self._standard.submit(function, *args, **kwargs)
            except BrokenProcessPool as error:  # a worker died between two tasks
                future = Future()
                future.set_exception(error)
        self._processes |= set(multiprocessing.active_children()) - self._others
        return future

    def wait(self, futures: Collection[Future[TaskResult]]) -> bool:
        """Wait until a future is done; return whether the pool is broken."""
        died = False
        while not (done := wait(futures, _LOOK_EVERY, FIRST_COMPLETED).done):
            # At the second look the standard pool has had the time to notice it.
            self._stuck = died
            if self._stuck:
                return True
            died = any(process.exitcode is not None for process in self._processes)
        return any(isinstance(future.exception(), BrokenProcessPool) for future in done)

    def ending(self) -> str:
        """Return, as a clause, how the worker of a closed pool of one ended."""
        # Until it is closed, the standard pool may have taken the code and not yet noted it.
        (process,) = self._processes
        code = process.exitcode or 0
        return f"by signal {-code}" if code < 0 else f"with status {code}"

    def close(self) -> None:
        """End the workers at once. A standard pool that waits for a dead one is left behind."""
        for process in self._processes:
            process.kill()
        self._standard.shutdown(wait=not self._stuck, cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- In a worker ---------------------------------------------------------------------------------

# A worker does one kind of work in its life. The standard pool has no other place for it.
_work: Callable[[Task], TaskResult]


def _prepare_worker(plan: Plan) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # A broken pool ends its workers with this one, and waits for them.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work = performer(plan)


def _end_with_parent() -> None:
    """End this process when its parent has ended, even in the middle of a task."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _perform(task: Task) -> TaskResult:
    return _work(task)


def _do_nothing() -> None:
    """Only a worker that runs can do it."""
