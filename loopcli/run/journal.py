"""The journal: one JSON object a line, appended by any number of processes.

Rules of this file:

- A writer holds the file's lock (flock) from the check that no turn has been
  added since it read the file to its last byte; a reader holds it shared. So turn
  numbers are never used twice, and no reader sees half a line.
- A line is one write. A line that could not be written whole is removed.
- A last line without its line end is torn (a power cut): the next append
  begins a new line, and readers skip every line that is not a JSON object.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from loopcli.lenient_json import count, dump_line, parse

Record = Mapping[str, Any]

_BLOCK = 64 * 1024
# The longest line that is read, in bytes. A record of this program has a few KB, one with
# the provider's price records at most some MB; a longer line is damage.
_LONGEST = 16 * 1024 * 1024
# In seconds: how often to try whether the lock is free. The system cannot report that
# and a signal together.
_LOCK_EVERY = 0.02
# A larger count is damage: a float, which other readers use, may not hold it.
LARGEST = 2**53


class Previous(NamedTuple):
    """The figures of a session's last turn; the defaults mean that there was no turn."""

    turns: int = 0
    consecutive_errors: int = 0


class LockWait(NamedTuple):
    """How long to wait for the journal's lock, in seconds, and how to pass the time."""

    seconds: float = 10.0
    sleep: Callable[[float], None] = time.sleep


class Journal:
    """A journal to append to; ``mask`` is applied to each line.

    Raises ``OSError`` at once if it cannot be opened for that.
    """

    def __init__(self, path: str, mask: Callable[[str], str] | None = None) -> None:
        self.path = path
        self._mask = mask
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        # A pipe or a device can be written, but previous turns cannot be read from it.
        self._regular = stat.S_ISREG(os.fstat(self._fd).st_mode)

    def append(
        self,
        session: str,
        make: Callable[[Previous], list[Record]],
        wait: LockWait | None = None,
    ) -> bool:
        """Append the records that ``make`` returns, given the session's previous turn.

        Returns whether the last line was torn and had to be ended first. Raises
        ``OSError``, also if the lock is not to be had in time.
        """
        wait = wait or LockWait()
        if not self._regular:
            self._write_pipe(make(Previous()), wait)
            return False
        # Most of a long journal is read before the lock is taken; what is left is short.
        seen = self._end_of_lines()
        previous = self._previous(session, 0, seen)
        self._lock(wait)
        try:
            size = os.fstat(self._fd).st_size
            if size < seen:  # another process took a line back
                previous = self._previous(session, 0, size)
            else:
                previous = self._previous(session, seen, size) or previous
            torn = size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"
            records = make(previous or Previous())
            try:
                self._write(records, torn=torn)
            except OSError:
                os.ftruncate(self._fd, size)
                raise
            return torn
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _lock(self, wait: LockWait) -> None:
        until = time.monotonic() + wait.seconds
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    why = "another process holds its lock"
                    raise OSError(error.errno, why, self.path) from error
            else:
                return
            wait.sleep(_LOCK_EVERY)

    def _write_pipe(self, records: list[Record], wait: LockWait) -> None:
        """Write to a pipe or a device; whoever reads it may have stalled."""
        until = time.monotonic() + wait.seconds
        for line in self._lines(records, torn=False):
            view = memoryview(line)
            while view:
                while not select.select([], [self._fd], [], 0)[1]:
                    if time.monotonic() >= until:
                        raise OSError(errno.EAGAIN, "nobody reads it", self.path)
                    wait.sleep(_LOCK_EVERY)
                view = view[os.write(self._fd, view[: select.PIPE_BUF]) :]

    def _write(self, records: list[Record], *, torn: bool) -> None:
        for line in self._lines(records, torn=torn):
            written = os.write(self._fd, line)
            while written < len(line):  # the next write raises the reason
                written += os.write(self._fd, line[written:])

    def _lines(self, records: list[Record], *, torn: bool) -> Iterator[bytes]:
        """Yield the line of each record; the first ends a torn line before it."""
        for number, record in enumerate(records):
            line = dump_line(record)
            if self._mask is not None:
                line = self._mask(line.decode("utf-8")).encode("utf-8")
            yield (b"\n" if torn and number == 0 else b"") + line + b"\n"

    def _previous(self, session: str, start: int, end: int) -> Previous | None:
        """Return a session's last turn in a part of the file that begins with a line."""
        for line in self._lines_backwards(start, end):
            if b"turn_outcome" not in line:
                continue
            record = loads(line)
            if (
                record
                and record.get("type") == "turn_outcome"
                and record.get("session", "") == session
            ):
                turns, errors = record.get("turns"), record.get("consecutiveErrors")
                return Previous(count(turns, LARGEST), count(errors, LARGEST))
        return None

    def _lines_backwards(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the lines from the last to the first, without those of more than ``_LONGEST``."""
        pieces: list[bytes] = []  # of one line, the last first
        length = 0
        while end > start:
            at = max(start, end - _BLOCK)
            first, *lines = os.pread(self._fd, end - at, at).split(b"\n")
            end = at
            if lines:
                last = lines.pop()
                if length + len(last) <= _LONGEST:
                    yield b"".join([last, *reversed(pieces)])
                yield from reversed(lines)
                pieces, length = [], 0
            length += len(first)
            if length <= _LONGEST:
                pieces.append(first)
            else:
                pieces = []
        if length <= _LONGEST:
            yield b"".join(reversed(pieces))

    def _end_of_lines(self) -> int:
        """Return where the last line that has its end ends."""
        end = os.fstat(self._fd).st_size
        while end > 0:
            start = max(0, end - _BLOCK)
            place = os.pread(self._fd, end - start, start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
        return 0

    def close(self) -> None:
        """Close."""
        os.close(self._fd)


class Damage(NamedTuple):
    """A line that is not a record; ``torn`` if it is the last and has no line end."""

    line: int
    torn: bool


def read(path: str) -> Iterator[Record | Damage]:
    """Yield a journal's records in order. Raises ``OSError`` if it cannot be read."""
    with open(path, "rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            fcntl.flock(file, fcntl.LOCK_SH)
        number = 0
        while line := file.readline(_LONGEST + 1):
            number += 1
            whole_line = line
            while len(line) > _LONGEST and not line.endswith(b"\n"):  # skip the rest of it
                line = file.readline(_LONGEST + 1)
                whole_line = b""
            if whole_line and not whole_line.strip():
                continue
            record = loads(whole_line)
            yield Damage(number, torn=not line.endswith(b"\n")) if record is None else record


def loads(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object on a line, or ``None`` if it holds something else."""
    try:
        record = parse(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
