"""The descriptors: reading with time limits, writing without waiting, dying politely."""

from __future__ import annotations

import errno
import os
import re
import select
import stat
import time
from collections.abc import Callable, Iterator
from typing import IO

# POSIX fixes these two; the module that names them is slow to import.
SIGINT, SIGPIPE = 2, 13

# The bytes that one read asks for: as many as a pipe holds. Python allocates that much
# for each read, and the system maps and unmaps an allocation of 128 KiB or more. With
# 256 KiB an event that arrives alone took 31 us, with 64 KiB it takes 17.
READ_SIZE = 64 * 1024

# poll() takes milliseconds as a C int; a longer wait polls again.
_LONGEST_POLL = 2**31 - 1

_HUNG_UP = select.POLLERR | select.POLLHUP | select.POLLNVAL


# Few replies are longer; a longer one goes to a temporary file.
_HELD_IN_MEMORY = 8 * 1024 * 1024
_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")


class TimeLimitError(Exception):
    """An idle or total time limit passed. The message is for the user."""


class IdleError(TimeLimitError):
    """The idle limit passed, and the total limit had not."""


class ReaderGoneError(Exception):
    """Nobody reads our standard output any more."""


class OutputError(Exception):
    """Standard output cannot be written. The message gives the reason."""


class Limits:
    """Two time limits: ``idle`` counts from the last ``touch``, ``total`` from the start.

    Both are in seconds; 0 means no limit.
    """

    def __init__(
        self, *, idle: float = 0, total: float = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._idle = idle
        self._total = total
        self._clock = clock
        self._started = self._touched = clock()

    def touch(self) -> None:
        """Restart the idle clock."""
        self._touched = self._clock()

    def wait(self) -> float | None:
        """Return how many milliseconds poll() may wait; ``None`` means without limit."""
        now = self._clock()
        left = []
        if self._total:
            left.append(self._started + self._total - now)
        if self._idle:
            left.append(self._touched + self._idle - now)
        return poll_time(min(left)) if left else None

    def check(self) -> None:
        """Raise ``TimeLimitError`` once a limit has passed."""
        now = self._clock()
        # If both passed, report the total limit.
        if self._total and now >= self._started + self._total:
            raise TimeLimitError(f"no end after {self._total:g} s (--timeout)")
        if self._idle and now >= self._touched + self._idle:
            raise IdleError(f"no delta from the model for {self._idle:g} s (--idle-timeout)")


def poll_time(seconds: float) -> float:
    """Return seconds in poll()'s milliseconds, rounded up so that it never returns early."""
    return min(max(0.0, seconds) * 1000 + 1, _LONGEST_POLL)


class Source:
    """Yields what arrives on a descriptor, as it arrives, within time limits.

    While it waits it also watches ``output``: if that pipe's reader has gone,
    there is nobody left to wait for.
    """

    def __init__(self, fd: int, output: int, limits: Limits) -> None:
        self._fd = fd
        self._output = output
        self._limits = limits

    def __iter__(self) -> Iterator[bytes]:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        watch_reader(poll, self._output)
        while True:
            ready = dict(poll.poll(self._limits.wait()))
            if self._fd in ready:
                data = os.read(self._fd, READ_SIZE)
                if not data:
                    return
                yield data
                # A stream of nothing but keep-alives is never quiet, yet idle.
                self._limits.check()
            elif reader_gone(ready, self._output):
                raise ReaderGoneError
            else:
                self._limits.check()


def watch_reader(poll: select.poll, output: int) -> None:
    """Have ``poll`` report when the reader of ``output`` has gone, if that is a pipe."""
    if _is_pipe(output):
        poll.register(output, 0)


def reader_gone(ready: dict[int, int], output: int) -> bool:
    """Return whether poll() reported that the reader of ``output`` has gone."""
    return bool(ready.get(output, 0) & _HUNG_UP)


def _is_pipe(fd: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False


def descriptor(path: str) -> int | None:
    """Return the descriptor that ``path`` names (``/dev/fd/3``), or ``None`` for other paths.

    >>> descriptor("/dev/fd/3"), descriptor("/dev/stderr"), descriptor("/dev/null")
    (3, 2, None)
    """
    match = re.fullmatch(r"(?:/dev|/proc/self)/fd/(\d{1,9})|/dev/(stdout)|/dev/(stderr)", path)
    if not match:
        return None
    return int(match[1]) if match[1] else 1 if match[2] else 2


def refuse_standard(path: str) -> None:
    """Raise ``OSError`` if ``path`` is the file behind standard input or output."""
    for fd, name in ((0, "input"), (1, "output")):
        if os.path.isfile(path) and os.path.samestat(os.stat(path), os.fstat(fd)):
            raise OSError(errno.EINVAL, f"it is standard {name}", path)


def open_report(path: str) -> IO[bytes]:
    """Open a report for writing. Raises ``OSError``.

    A path that names an open descriptor (``/dev/fd/3``) is not opened again:
    that would truncate the file behind it.
    """
    fd = descriptor(path)
    if fd is not None:
        return os.fdopen(os.dup(fd), "wb", buffering=0)
    refuse_standard(path)
    return open(path, "wb", buffering=0)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte now.

    Raises ``ReaderGoneError`` if the other end was closed, ``OutputError`` for
    any other failure.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            # Another process that shares the descriptor made it non-blocking.
            select.select([], [fd], [])
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        except OSError as error:
            raise OutputError(error.strerror) from error


class Output:
    """Standard output: written at once, or held until the reply has ended clean."""

    def __init__(self, fd: int, *, hold: bool) -> None:
        self._fd = fd
        self._held = _spool() if hold else None
        self._last = b""
        self.written = 0

    def write(self, data: bytes) -> None:
        """Write, or hold."""
        if not data:
            return
        if self._held is not None:
            try:
                self._held.write(data)
            except OSError as error:
                raise OutputError(f"cannot hold the reply: {error.strerror}") from error
            return
        write_all(self._fd, data)
        self.written += len(data)
        self._last = (self._last + data)[-4:] if len(data) < 4 else data[-4:]

    @property
    def at_blank_line(self) -> bool:
        """Whether an SSE event may begin here."""
        return not self.written or self._last.endswith(_BLANK_LINES)

    def release(self) -> None:
        """Write what is held."""
        held, self._held = self._held, None
        if held is not None:
            held.seek(0)
            while data := held.read(1 << 20):
                self.write(data)

    def drop(self) -> None:
        """Discard what is held."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def close(self) -> None:
        """Discard what is held and close; some file systems report failed writes only here."""
        self.drop()
        os.close(self._fd)


def _spool() -> IO[bytes]:
    # Imported here because only --hold and `run` need it.
    from tempfile import SpooledTemporaryFile

    return SpooledTemporaryFile(_HELD_IN_MEMORY)


def keep_input(fd: int) -> IO[bytes]:
    """Copy a descriptor to its end into a file that can be read several times.

    A terminal is not read: it has no end, and a process in the background must
    not read it. Raises ``OSError``.
    """
    from tempfile import TemporaryFile

    try:
        if os.isatty(fd):
            return open(os.devnull, "rb")
        kept = TemporaryFile()  # noqa: SIM115
        while data := os.read(fd, READ_SIZE):
            kept.write(data)
    except OSError as error:
        if error.errno == errno.EBADF:  # closed: treat it as empty
            return open(os.devnull, "rb")
        raise OSError(error.errno, error.strerror, "standard input") from error
    kept.flush()
    return kept


def die_by(number: int) -> int:
    """End this process the way signal ``number`` ends one; the shell sees 128 + number."""
    import signal  # slow to import and seldom needed

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number  # not reached unless the signal is blocked
