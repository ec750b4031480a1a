"""The descriptors: reading with time limits, writing without waiting, dying politely."""

from __future__ import annotations

import errno
import os
import re
import select
import stat
import time
from collections.abc import Iterator
from typing import IO

# POSIX fixes these two; the module that names them is slow to import.
SIGINT, SIGPIPE = 2, 13

# What one read asks for. A pipe gives 64 KiB at most; a file gives all of it,
# and larger pieces make the batch path's fixed costs vanish.
READ_SIZE = 256 * 1024

# poll() takes milliseconds as a C int; whoever waits longer asks again.
_LONGEST_POLL = 2**31 - 1

_HUNG_UP = select.POLLERR | select.POLLHUP | select.POLLNVAL


class TimeLimitError(Exception):
    """An idle or total limit passed; the message is for the user."""


class ReaderGoneError(Exception):
    """Nobody reads our standard output any more."""


class OutputError(Exception):
    """Standard output cannot be written; the message says why."""


class Source:
    """Yields what arrives on a descriptor, as it arrives, within time limits.

    ``idle`` counts from the last call of ``touch``, ``total`` from the start,
    both in seconds, 0 for none. While it waits it also watches ``output``: if
    that pipe's reader has gone, there is nobody left to wait for.
    """

    def __init__(self, fd: int, output: int, *, idle: float = 0, total: float = 0) -> None:
        self._fd = fd
        self._output = output
        self._idle = idle
        self._total = total
        self._started = self._touched = time.monotonic()

    def touch(self) -> None:
        """Start the idle clock anew."""
        self._touched = time.monotonic()

    def __iter__(self) -> Iterator[bytes]:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if _is_pipe(self._output):
            poll.register(self._output, 0)
        while True:
            ready = dict(poll.poll(self._wait()))
            if self._fd in ready:
                data = os.read(self._fd, READ_SIZE)
                if not data:
                    return
                yield data
                # A stream of nothing but keep-alives is never quiet, yet idle.
                self._check()
            elif ready.get(self._output, 0) & _HUNG_UP:
                raise ReaderGoneError
            else:
                self._check()

    def _left(self) -> list[float]:
        now = time.monotonic()
        left = []
        if self._total:
            left.append(self._started + self._total - now)
        if self._idle:
            left.append(self._touched + self._idle - now)
        return left

    def _wait(self) -> float | None:
        left = self._left()
        return min(max(0.0, min(left)) * 1000 + 1, _LONGEST_POLL) if left else None

    def _check(self) -> None:
        now = time.monotonic()
        # Both at once: the total limit is the one to name.
        if self._total and now >= self._started + self._total:
            raise TimeLimitError(f"no end after {self._total:g} s (--timeout)")
        if self._idle and now >= self._touched + self._idle:
            raise TimeLimitError(f"no delta from the model for {self._idle:g} s (--idle-timeout)")


def _is_pipe(fd: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False


def open_report(path: str) -> IO[bytes]:
    """Open a report for writing. Raises ``OSError``.

    A descriptor that is open already (``/dev/fd/3``) is used as it is, for
    opening it again would truncate the file behind it.
    """
    found = re.fullmatch(r"/dev/(?:fd/(\d+)|(stdout)|(stderr))", path)
    if found:
        fd = int(found[1]) if found[1] else 1 if found[2] else 2
        return os.fdopen(os.dup(fd), "wb", buffering=0)
    for fd, name in ((0, "input"), (1, "output")):
        if os.path.isfile(path) and os.path.samestat(os.stat(path), os.fstat(fd)):
            raise OSError(errno.EINVAL, f"it is standard {name}", path)
    return open(path, "wb", buffering=0)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte now.

    Raises ``ReaderGoneError`` if the other end was closed, ``OutputError`` for
    any other trouble.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            # Somebody who shares the descriptor made it non-blocking.
            select.select([], [fd], [])
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        except OSError as error:
            raise OutputError(error.strerror) from error


def die_by(number: int) -> int:
    """End this process the way signal ``number`` ends one; the shell sees 128 + number."""
    import signal  # slow to import and seldom needed

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number  # not reached unless the signal is blocked
