"""The journal: one JSON object a line, appended by any number of processes.

Rules of this file:

- A writer holds the file's lock (flock) from the read of the previous turn to
  its last byte; a reader holds it shared. So turn numbers are never used twice,
  and no reader sees half a line.
- A line is one write. A line that could not be written whole is removed.
- A last line without its line end is torn (a power cut): the next append
  begins a new line, and readers skip every line that is not a JSON object.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from loopcli.lenient_json import parse

Record = Mapping[str, Any]

_BLOCK = 64 * 1024
# A larger count is damage: a float, which other readers use, may not hold it.
_MOST = 2**53


class Previous(NamedTuple):
    """The figures of a session's last turn; the defaults mean that there was no turn."""

    turns: int = 0
    consecutive_errors: int = 0


class Journal:
    """A journal to append to. Raises ``OSError`` at once if it cannot be opened for that."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        # A pipe or a device can be written, but previous turns cannot be read from it.
        self._regular = stat.S_ISREG(os.fstat(self._fd).st_mode)

    def append(self, session: str, make: Callable[[Previous], list[Record]]) -> bool:
        """Append the records that ``make`` returns, given the session's previous turn.

        Returns whether the last line was torn and had to be ended first.
        """
        if not self._regular:
            self._write(make(Previous()))
            return False
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            size = os.fstat(self._fd).st_size
            torn = size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"
            records = make(self._previous(session, size))
            try:
                self._write(records, torn=torn)
            except OSError:
                os.ftruncate(self._fd, size)
                raise
            return torn
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _write(self, records: list[Record], *, torn: bool = False) -> None:
        for record in records:
            line = (b"\n" if torn else b"") + dumps(record) + b"\n"
            torn = False
            written = os.write(self._fd, line)
            while written < len(line):  # the next write raises the reason
                written += os.write(self._fd, line[written:])

    def _previous(self, session: str, size: int) -> Previous:
        for line in self._lines_backwards(size):
            if b"turn_outcome" not in line:
                continue
            record = loads(line)
            if (
                record
                and record.get("type") == "turn_outcome"
                and record.get("session", "") == session
            ):
                return Previous(whole(record.get("turns")), whole(record.get("consecutiveErrors")))
        return Previous()

    def _lines_backwards(self, at: int) -> Iterator[bytes]:
        rest = b""
        while at > 0:
            start = max(0, at - _BLOCK)
            first, *lines = (os.pread(self._fd, at - start, start) + rest).split(b"\n")
            yield from reversed(lines)
            rest, at = first, start
        yield rest

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
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            record = loads(line)
            yield Damage(number, torn=not line.endswith(b"\n")) if record is None else record


def loads(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object on a line, or ``None`` if it holds something else."""
    try:
        record = parse(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def dumps(record: Record) -> bytes:
    """Return a record as a line without its line end; accepts whatever a provider sent."""
    try:
        return orjson.dumps(record)
    except TypeError:  # an integer beyond 64 bits, a lone surrogate
        import json

        return json.dumps(record).encode("ascii")


def whole(value: object) -> int:
    """Return a count from foreign data, or 0 if it is not one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST:
        return value
    return 0
