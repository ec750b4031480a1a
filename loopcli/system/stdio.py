"""The descriptors: reading with time limits, opening reports, dying by a signal."""

from __future__ import annotations

import errno
import os
import re
import select
import stat
from collections.abc import Iterator
from typing import IO

from loopcli.system.limits import Limits
from loopcli.system.output import ReaderGoneError

# POSIX fixes these two; the module that names them is slow to import.
SIGINT, SIGPIPE = 2, 13

# The bytes that one read asks for: as many as a pipe holds. Python allocates that much
# for each read, and the system maps and unmaps an allocation of 128 KiB or more. With
# 256 KiB an event that arrives alone took 31 us, with 64 KiB it takes 17.
READ_SIZE = 64 * 1024

_HUNG_UP = select.POLLERR | select.POLLHUP | select.POLLNVAL


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
    if is_pipe(output):
        poll.register(output, 0)


def reader_gone(ready: dict[int, int], output: int) -> bool:
    """Return whether poll() reported that the reader of ``output`` has gone."""
    return bool(ready.get(output, 0) & _HUNG_UP)


def is_pipe(fd: int) -> bool:
    """Return whether a descriptor is an end of a pipe; a closed one is not."""
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


def open_input(path: str, output: int) -> int:
    """Open a file for reading and return its descriptor. Raises ``OSError``.

    A file that ``output`` appends to would never end, so it is refused, as cat(1) does.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        ours = os.fstat(fd)
        same = stat.S_ISREG(ours.st_mode) and os.path.samestat(ours, os.fstat(output))
    except OSError:
        same = False  # a closed output is reported when it is written
    if same:
        os.close(fd)
        raise OSError(errno.EINVAL, "it is standard output", path)
    return fd


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


def keep_input(fd: int) -> IO[bytes]:
    """Copy a descriptor to its end into a file that can be read several times.

    The file is in the temporary folder, or in memory if that is full. A terminal is not
    read: it has no end, and a process in the background must not read it. Raises
    ``OSError``.
    """
    try:
        if os.isatty(fd):
            return open(os.devnull, "rb")
        kept = _temporary()
        while data := os.read(fd, READ_SIZE):
            kept = _append(kept, data)
    except OSError as error:
        if error.errno == errno.EBADF:  # closed: treat it as empty
            return open(os.devnull, "rb")
        raise OSError(error.errno, error.strerror, "standard input") from error
    return kept


def _temporary() -> IO[bytes]:
    from tempfile import TemporaryFile

    try:
        return TemporaryFile(buffering=0)
    except OSError:
        return _in_memory()


def _append(kept: IO[bytes], data: bytes) -> IO[bytes]:
    """Append ``data`` to a file; return the file in memory to go on with if the disk is full."""
    size = kept.tell()
    try:
        _write(kept, data)
    except OSError:
        moved = _in_memory()
        kept.seek(0)
        while size > 0:
            piece = kept.read(min(READ_SIZE, size))
            _write(moved, piece)
            size -= len(piece)
        _write(moved, data)
        kept.close()
        return moved
    return kept


def _write(file: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _in_memory() -> IO[bytes]:
    """Return a file that is not on any disk; raises ``OSError`` where the system has none."""
    if not hasattr(os, "memfd_create"):  # not Linux
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return os.fdopen(os.memfd_create("stdin"), "w+b", buffering=0)


def die_by(number: int) -> int:
    """End this process the way signal ``number`` ends one; the shell sees 128 + number."""
    import signal  # slow to import and seldom needed

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number  # not reached unless the signal is blocked
