"""Cuts bytes into lines at LF, CR LF and CR, and at nothing else.

``bytes.splitlines`` cuts at those three only, but it treats a CR at the end of a read
as a line end even if its LF follows in the next read, and it keeps no position.
``str.splitlines`` also cuts at U+2028 and others, which are legal in a JSON string.
"""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A line without its end. ``end`` is the byte after its line end, ``number`` counts from 1."""

    content: bytes
    end: int
    number: int


class LineSplitter:
    r"""Yields complete lines, and holds the incomplete one at the end of the last read.

    >>> splitter = LineSplitter()
    >>> [line.content for line in splitter.feed(b"a\r") + splitter.feed(b"\nb\rc")]
    [b'a', b'b']
    >>> splitter.close()
    [Line(content=b'c', end=6, number=3)]
    """

    __slots__ = ("_pieces", "_size", "at", "number")

    def __init__(self, at: int = 0, number: int = 0) -> None:
        self.at = at
        self.number = number
        # The reads that brought a long line are joined once, when it is complete.
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def partial_size(self) -> int:
        """The number of bytes that wait for their line end."""
        return self._size

    @property
    def partial_start(self) -> bytes:
        """The first byte that waits for its line end, if there is one."""
        return self._pieces[0][:1] if self._pieces else b""

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines that ``data`` completes.

        A CR at the end of ``data`` waits for the next byte, which may be the
        LF that belongs to it.
        """
        if not data:
            return []
        held_cr = bool(self._pieces) and self._pieces[-1].endswith(b"\r")
        if not held_cr and b"\n" not in data and b"\r" not in data:
            self._pieces.append(data)
            self._size += len(data)
            return []
        parts = b"".join((*self._pieces, data)).splitlines(keepends=True)
        rest = b"" if parts[-1].endswith(b"\n") else parts.pop()
        self._pieces, self._size = ([rest] if rest else []), len(rest)
        return [self._line(part) for part in parts]

    def _line(self, part: bytes) -> Line:
        self.at += len(part)
        self.number += 1
        return Line(part.rstrip(b"\r\n"), self.at, self.number)

    def close(self) -> list[Line]:
        """Return the last line, if the input did not end with a line end."""
        rest = b"".join(self._pieces)
        self._pieces, self._size = [], 0
        return [self._line(rest)] if rest else []
