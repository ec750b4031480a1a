"""Cuts the bytes of a session into records: lines, or the parts of one large document.

A session file may be far larger than memory. As JSON Lines it is read a line at
a time. As one document it is read a part at a time: the items of the array that
it is, or the members of the object that it is, and those members that are
arrays item by item. So only the largest part has to fit into memory, and one
that is larger than the cap is dropped and reported.

Where the bytes are cut between two reads never matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopcli.lenient_json import parse
from loopcli.readers.base import START, Origin

# The largest line or part: a message with pictures in it. As recordings have it.
MAX_RECORD_BYTES = 64 * 1024 * 1024


# One record: its bytes (``None`` if there are too many), the byte of the input
# at which it ends, and the number of the line that it begins on. Of a document's
# part also the member of the outermost object that it is, or is an item of
# (empty for an item of an outermost array), and whether it marks the end of that
# object, which has no bytes. Plain tuples: one is made for every line.
Record = tuple[bytes | None, int, int]
Part = tuple[bytes | None, int, int, str, bool]


class LineRecords:
    r"""Cuts at LF; what else ends a line is a blank to JSON.

    >>> lines = LineRecords()
    >>> lines.feed(b'{"a": 1}\n{"b"') + lines.feed(b": 2}\n")
    [(b'{"a": 1}', 9, 1), (b'{"b": 2}', 18, 2)]
    """

    def __init__(self, origin: Origin = START, *, max_record: int = MAX_RECORD_BYTES) -> None:
        self._byte, self._line = origin
        self._max = max_record
        self._held: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Record]:
        """Return the lines that ``data`` completes."""
        *whole, rest = data.split(b"\n")
        records: list[Record] = []
        byte, number = self._byte, self._line
        for part in whole:
            size = len(part)
            if self._size:
                size += self._size
                part = b"".join((*self._held, part))
                self._held, self._size = [], 0
            byte += size + 1
            number += 1
            records.append((part if size <= self._max else None, byte, number))
        self._byte, self._line = byte, number
        if rest:
            self._size += len(rest)
            if self._size > self._max:
                self._held = []
            else:
                self._held.append(rest)
        return records

    def close(self) -> list[Record]:
        """Return the last line, if nothing ended it."""
        if not self._size:
            return []
        raw = b"".join(self._held) if self._size <= self._max else None
        self._byte += self._size
        self._held, self._size = [], 0
        return [(raw, self._byte, self._line + 1)]


_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_SCALAR_END = re.compile(rb"[,\]}\s]")
_NOT_BLANK = re.compile(rb"[^\s,]")
_OPEN, _CLOSE = b"{[", b"}]"


class _ValueScanner:
    """Finds where one JSON value ends, as it arrives."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._scalar = False

    def begin(self, char: bytes) -> None:
        """Begin a value, given its first byte, which ``feed`` gets, too."""
        self._depth = 0
        self._in_string = self._escaped = False
        self._scalar = char != b'"' and char not in _OPEN

    def feed(self, data: bytearray, at: int) -> int:
        """Return the index after the value, or -1 if it goes on after ``data``."""
        if self._scalar:
            match = _SCALAR_END.search(data, at)
            return -1 if match is None else match.start()
        if self._escaped and at < len(data):
            self._escaped = False
            at += 1
        while True:
            match = (_IN_STRING if self._in_string else _OUTSIDE).search(data, at)
            if match is None:
                return -1
            at = match.end()
            char = match[0]
            if char == b'"':
                self._in_string = not self._in_string
                if self._in_string:
                    continue
            elif char == b"\\":
                self._escaped = at == len(data)
                at += 1
                continue
            else:
                self._depth += 1 if char in _OPEN else -1
            if self._depth <= 0:
                return at


# What the splitter is about to read.
_TOP, _MEMBERS, _KEY, _COLON, _ITEMS, _VALUE = range(6)


class DocumentRecords:
    """Cuts one document after another into its parts; ``whole`` leaves objects uncut.

    >>> parts = DocumentRecords()
    >>> [part[:1] + part[3:] for part in parts.feed(b'{"id": 7, "steps": [{"n": 1}, 2]}')]
    [(b'7', 'id', False), (b'{"n": 1}', 'steps', False), (b'2', 'steps', False), (None, '', True)]
    """

    def __init__(
        self,
        origin: Origin = START,
        *,
        whole: bool = False,
        max_record: int = MAX_RECORD_BYTES,
    ) -> None:
        self._byte, self._line = origin  # where the buffer begins
        self._whole = whole
        self._max = max_record
        self._buffer = bytearray()
        self._at = 0  # what has been scanned of it
        self._state = _TOP
        self._in_object = False  # the outermost value is one
        self._around = _TOP  # what goes on after the part
        self._member = ""
        self._begun_on = 0
        self._too_large = False
        self._scan = _ValueScanner()

    def feed(self, data: bytes) -> list[Part]:
        """Return the parts that ``data`` completes."""
        self._buffer += data
        records = list(self._steps())
        self._forget(self._at if self._state in (_TOP, _MEMBERS, _COLON, _ITEMS) else 0)
        if self._state in (_KEY, _VALUE) and len(self._buffer) > self._max:
            self._too_large = True
            self._forget(self._at)
        return records

    def close(self) -> list[Part]:
        """Return nothing: a part that the end of the input cut through is no part."""
        return []

    @property
    def is_open(self) -> bool:
        """Whether a document has begun that has not ended."""
        return self._state != _TOP

    def _forget(self, size: int) -> None:
        if size:
            self._byte += size
            self._line += self._buffer.count(b"\n", 0, size)
            del self._buffer[:size]
            self._at -= size

    def _steps(self) -> Iterator[Part]:
        while self._at < len(self._buffer):
            if self._state in (_KEY, _VALUE):
                end = self._scan.feed(self._buffer, self._at)
                self._at = len(self._buffer) if end < 0 else end
                if end < 0:
                    return
                yield from self._complete()
                continue
            match = _NOT_BLANK.search(self._buffer, self._at)
            self._at = len(self._buffer) if match is None else match.start()
            if match is None:
                return
            char = match[0]
            if self._state == _MEMBERS and char == b"}":
                self._state = _TOP
                line = self._line + self._buffer.count(b"\n", 0, self._at) + 1
                yield None, self._byte + self._at + 1, line, "", True
                self._at += 1
            elif self._is_punctuation(char):
                self._at += 1

    def _is_punctuation(self, char: bytes) -> bool:
        """Take a character between two parts; return False if a part begins with it."""
        if self._state == _TOP:
            if char == b"{" and self._whole:
                return self._begin(_VALUE, char)
            if char in b"{[":
                self._in_object = char == b"{"
                self._state, self._member = _MEMBERS if self._in_object else _ITEMS, ""
        elif self._state == _MEMBERS:
            return char != b'"' or self._begin(_KEY, char)
        elif self._state == _ITEMS:
            if char not in b"}]":
                return self._begin(_VALUE, char)
            if char == b"]":
                self._state = _MEMBERS if self._in_object else _TOP
        elif char == b"[":
            self._state = _ITEMS
        elif char == b"}":  # no value where one should be: what is open ends here
            self._state = _MEMBERS
            return False
        elif char not in b":]":
            return self._begin(_VALUE, char)
        return True

    def _begin(self, state: int, char: bytes) -> bool:
        self._forget(self._at)
        self._around = _MEMBERS if self._state == _COLON else self._state
        self._begun_on = self._line + 1
        self._state = state
        self._too_large = False
        self._scan.begin(char)
        return False

    def _complete(self) -> Iterator[Part]:
        """Take a key or a value that is complete."""
        whole = not self._too_large and self._at <= self._max
        raw = bytes(self._buffer[: self._at]) if whole else None
        if self._state == _KEY:
            self._state, self._member = _COLON, _name(raw)
            return
        self._state = self._around
        self._forget(self._at)
        yield raw, self._byte, self._begun_on, self._member, False


def _name(raw: bytes | None) -> str:
    """Return the name that a key spells; an unreadable one names nothing."""
    try:
        name = parse(raw or b'""')
    except ValueError:
        return ""
    return name if isinstance(name, str) else ""
