"""Deferred signals, so that a child process is never left behind.

A handler that raises may raise anywhere, even between the start of a child and
the assignment that remembers it. Here a signal only wakes a poll on ``fd``, and
``check`` raises where that is safe.
"""

from __future__ import annotations

import os
import select
import signal
import time
from types import FrameType, TracebackType
from typing import Any, Self

from loopcli.system.limits import poll_time

# The signals that ask a process to end.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class SignalledError(Exception):
    """Signal ``number`` asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


def signal_name(number: int) -> str:
    """Return the name of a signal, or nothing for a number that is none.

    >>> signal_name(15), signal_name(99)
    ('SIGTERM', '')
    """
    return next((known.name for known in signal.Signals if known == number), "")


class Signals:
    """While entered, signals wake a poll on ``fd``. Main thread only."""

    def __init__(self) -> None:
        self._pending = 0
        self._before: dict[int, Any] = {}
        self.fd = -1
        self._write_end = -1

    def __enter__(self) -> Self:
        self.fd, self._write_end = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write_end, False)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for number in _ENDING:
            # A parent that started us with a signal ignored (nohup) wants it ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._take)
        # Also undoes an inherited SIG_IGN, under which a child's status is lost.
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        os.close(self.fd)
        os.close(self._write_end)
        if kind is None:
            self.check()

    def _take(self, number: int, _: FrameType | None) -> None:
        self._pending = number

    @property
    def pending(self) -> int:
        """The signal that arrived and has not been raised yet; 0 if there is none."""
        return self._pending

    def drain(self) -> None:
        """Discard the wake-ups, so that the next poll waits again."""
        try:
            while os.read(self.fd, 4096):
                pass
        except BlockingIOError:
            pass

    def check(self) -> None:
        """Raise ``SignalledError`` if a signal arrived; each signal raises once."""
        number, self._pending = self._pending, 0
        if number:
            raise SignalledError(number)

    def sleep(self, seconds: float) -> None:
        """Sleep for ``seconds``. Raises ``SignalledError`` as soon as a signal arrives."""
        self.wait(-1, seconds)

    def wait(self, fd: int, seconds: float) -> None:
        """Wait until ``fd`` can be read, for at most ``seconds``; -1 is no descriptor.

        Raises ``SignalledError`` as soon as a signal arrives.
        """
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        if fd >= 0:
            poll.register(fd, select.POLLIN)
        until = time.monotonic() + seconds
        while True:
            self.check()
            left = until - time.monotonic()
            if left <= 0:
                return
            ready = dict(poll.poll(poll_time(left)))
            if self.fd in ready:
                self.drain()
            if fd in ready:
                return


def _wake(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the wake-up descriptor has done it."""
