"""Standard output: written at once or held, and never written without end.

A write to a pipe whose reader has stalled blocks until the reader goes on, and neither
a time limit nor a signal that is only remembered ends it. Where one of them has to, a
``Waiter`` polls before each write, and each write is so small that it cannot block:

- POSIX lets poll() report a pipe as writable only if PIPE_BUF bytes fit.
- A terminal may take less. It is opened again for ourselves, non-blocking: on the
  descriptor that we share with others the flag would be theirs, too.

A held reply stays in memory up to 8 MiB; the rest goes to a temporary file. If that
cannot be written (a full TMPDIR), the reply is passed on: a reply that cannot be held
must not be lost.
"""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from loopcli.system.limits import Limits, TimeLimitError

if TYPE_CHECKING:
    from loopcli.system.signals import Signals

# Few replies are longer; the rest of a longer one goes to a temporary file.
_HELD_IN_MEMORY = 8 * 1024 * 1024
_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")
_PIPE_BUF = select.PIPE_BUF
# Seconds before another try where poll() says that a write fits, and it does not.
_RETRY = 0.01


class ReaderGoneError(Exception):
    """Nobody reads our standard output any more."""


class OutputError(Exception):
    """Standard output cannot be written. The message gives the reason."""


class StalledError(Exception):
    """A time limit passed while the reader of standard output took nothing."""


class Waiter:
    """Waits until a descriptor can be written, within ``limits`` and until a signal arrives.

    The time that it takes is not the model's: the idle clock stands still meanwhile, but
    for a single wait that is longer than the idle limit.
    """

    def __init__(self, limits: Limits, signals: Signals | None = None) -> None:
        self._limits = limits
        self._signals = signals

    def __call__(self, fd: int) -> None:
        """Wait. Raises ``StalledError`` and, with signals, ``SignalledError``."""
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        if self._signals is not None:
            poll.register(self._signals.fd, select.POLLIN)
        idle = self._limits.pause()
        while True:
            ready = dict(poll.poll(self._limits.wait()))
            if self._signals is not None:
                self._signals.drain()
                self._signals.check()
            if fd in ready:
                break
            try:
                self._limits.check()
            except TimeLimitError as limit:
                why = f"the reader of standard output has stalled: {limit}"
                raise StalledError(why) from limit
        self._limits.resume(idle)


def write_all(fd: int, data: bytes, wait: Callable[[int], None] | None = None) -> None:
    """Write every byte, and with ``wait`` never more at once than fits.

    Raises ``ReaderGoneError`` if the other end was closed, ``OutputError`` for any other
    failure, and whatever ``wait`` raises.
    """
    view = memoryview(data)
    most = len(data) if wait is None or not _may_block(fd) else _PIPE_BUF
    while view:
        if wait is not None:
            wait(fd)
        try:
            view = view[os.write(fd, view[:most]) :]
        except BlockingIOError:
            # Another process that shares the descriptor made it non-blocking, or it is a
            # terminal of our own that has less room than the next character takes.
            if wait is None:
                select.select([], [fd], [])
            else:
                time.sleep(_RETRY)
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        except OSError as error:
            raise OutputError(error.strerror) from error


def _may_block(fd: int) -> bool:
    try:
        return os.get_blocking(fd) and not stat.S_ISREG(os.fstat(fd).st_mode)
    except OSError:
        return True


class Spool:
    """Keeps bytes: the first in memory, the rest in a temporary file."""

    def __init__(self, in_memory: int = _HELD_IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._size = 0  # of what the file holds

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return len(self._memory) + self._size

    def write(self, data: bytes) -> None:
        """Keep ``data``. Raises ``OSError``; ``size`` says how much was kept by then."""
        if self._file is None and self.size + len(data) <= self._in_memory:
            self._memory += data
            return
        if self._file is None:
            # Imported here because only a long held reply needs it.
            from tempfile import TemporaryFile

            self._file = TemporaryFile(buffering=0)  # noqa: SIM115
        view = memoryview(data)
        while view:
            written = os.write(self._file.fileno(), view)
            self._size += written
            view = view[written:]

    def read(self) -> Iterator[bytes]:
        """Yield what was kept, in pieces."""
        yield bytes(self._memory)
        at = 0
        while self._file is not None and at < self._size:
            data = os.pread(self._file.fileno(), min(1 << 20, self._size - at), at)
            if not data:
                return
            yield data
            at += len(data)

    def close(self) -> None:
        """Discard what was kept."""
        self._memory = bytearray()
        if self._file is not None:
            self._file.close()


class Output:
    """Standard output: written at once, or held until the reply has ended clean.

    ``wait`` is a ``Waiter``, if a time limit or a remembered signal has to end a write.
    ``warn`` is told when the reply can no longer be held.
    """

    def __init__(
        self,
        fd: int,
        *,
        hold: bool = False,
        wait: Callable[[int], None] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._fd = fd
        self._own: int | None = None
        self._held = Spool() if hold else None
        self._wait = wait
        self._warn = warn
        self._last = b""
        self.written = 0
        self._ended_line_at = 0  # bytes written when a line was last ended by another writer

    @property
    def fd(self) -> int:
        """The descriptor that is written to."""
        return self._fd

    def begin(
        self, *, hold: bool, wait: Callable[[int], None] | None, warn: Callable[[str], None]
    ) -> None:
        """Go on with another input, under settings of its own."""
        self.drop()
        self._held = Spool() if hold else None
        self._wait, self._warn = wait, warn

    @property
    def holding(self) -> bool:
        """Whether what is written is held."""
        return self._held is not None

    def write(self, data: bytes) -> None:
        """Write, or hold; if it cannot be held, pass on what is held and write."""
        if self._held is not None:
            before = self._held.size
            try:
                self._held.write(data)
            except OSError as error:
                if self._warn is not None:
                    why = error.strerror or error
                    self._warn(f"cannot hold the reply, so it is passed on: {why}")
                data = data[self._held.size - before :]
                self.release()
            else:
                return
        if not data:
            return
        write_all(self._target(), data, self._wait)
        self.written += len(data)
        self._last = (self._last + data)[-4:] if len(data) < 4 else data[-4:]

    def _target(self) -> int:
        """Return the descriptor to write to: of a terminal one of our own, non-blocking."""
        if self._wait is None:
            return self._fd
        if self._own is None:
            self._own = self._fd
            with suppress(OSError):
                if os.isatty(self._fd):
                    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                    self._own = os.open(os.ttyname(self._fd), flags)
        return self._own

    @property
    def at_blank_line(self) -> bool:
        """Whether an SSE event may begin here."""
        return not self.written or self._last.endswith(_BLANK_LINES)

    @property
    def in_line(self) -> bool:
        """Whether what was written last ends within a line."""
        return bool(self._last) and not self._last.endswith(b"\n")

    def ends_line(self) -> bool:
        """Return whether the last line is unfinished; the caller is to end it."""
        unfinished = self.in_line and self.written != self._ended_line_at
        self._ended_line_at = self.written
        return unfinished

    def release(
        self, size: int | None = None, *, wait: Callable[[int], None] | None = None
    ) -> None:
        """Write what is held, or its first bytes; ``wait`` replaces the one that is set."""
        self._wait = wait or self._wait
        held, self._held = self._held, None
        if held is not None:
            left = held.size if size is None else size
            for data in held.read():
                self.write(data[:left])
                left = max(0, left - len(data))
            held.close()

    def drop(self) -> None:
        """Discard what is held."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def close(self) -> None:
        """Discard what is held and close; some file systems report failed writes only here."""
        self.drop()
        if self._own not in (None, self._fd):
            os.close(self._own)
        os.close(self._fd)
