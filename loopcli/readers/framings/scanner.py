"""Finds where a JSON object ends, as it arrives."""

from __future__ import annotations

import re

_OUTSIDE = re.compile(rb'[{}"]')
_INSIDE = re.compile(rb'["\\]')


class ObjectScanner:
    """Counts braces outside strings; ``depth`` is 0 where no object is open.

    >>> scanner = ObjectScanner()
    >>> scanner.feed(b'{"a": "}'), scanner.feed(b'"} {')
    (-1, 2)
    """

    __slots__ = ("_escaped", "_in_string", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, data: bytes, at: int = 0) -> int:
        """Return the index after the brace that closes the object, or -1 if it goes on."""
        if self._escaped and at < len(data):
            self._escaped = False
            at += 1
        while True:
            mark = (_INSIDE if self._in_string else _OUTSIDE).search(data, at)
            if mark is None:
                return -1
            at = mark.end()
            char = mark[0]
            if char == b'"':
                self._in_string = not self._in_string
            elif char == b"\\":
                if at == len(data):
                    self._escaped = True
                at += 1
            elif char == b"{":
                self.depth += 1
            elif self.depth:
                self.depth -= 1
                if not self.depth:
                    return at
