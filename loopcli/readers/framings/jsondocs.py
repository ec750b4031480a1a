"""JSON documents that are not one a line: an array as it grows, or pretty-printed ones.

Gemini without ``alt=sse`` streams one array; a whole answer is one document;
``jq`` prints several. Rules of this file:

- A document is an object, cut out by counting braces outside strings. Everything
  between two of them (commas, blanks, brackets) is skipped.
- A ``]`` between documents ends the array that ``[`` began, and with it the stream.
- A document that is incomplete at the end of the input is dropped: the stream was cut.
"""

from __future__ import annotations

import re

from loopcli.lenient_json import parse
from loopcli.readers.base import DONE, MAX_FRAME_BYTES, START, Dialect, Frame, Origin
from loopcli.readers.framings.document_reader import DocumentReader
from loopcli.readers.framings.scanner import ObjectScanner

_BRACKET = re.compile(rb"[\[\]]")


class JsonDocumentsReader(DocumentReader):
    """Reads objects one after the other, wherever their lines break."""

    framing = "json"

    def __init__(
        self, dialect: Dialect, origin: Origin = START, *, max_frame: int = MAX_FRAME_BYTES
    ) -> None:
        super().__init__(dialect, max_frame)
        self._scanner = ObjectScanner()
        self._pieces: list[bytes] = []
        self._size = 0
        self._at, self._line = origin
        self._begun_on = 0
        self._in_array = False

    def excess(self) -> tuple[str, int, int] | None:
        """Return the message, line and byte of a document longer than allowed, if there is one."""
        if self._size <= self._max_frame:
            return None
        return f"a document of more than {self._max_frame} bytes", self._begun_on, self._at

    def frames(self, data: bytes) -> list[Frame]:
        """Return the objects that ``data`` completes."""
        frames: list[Frame] = []
        at = 0
        while at < len(data):
            if not self._scanner.depth:
                at = self._between(data, at, frames)
                if at == len(data):
                    break
            end = self._scanner.feed(data, at)
            piece = data[at : end if end >= 0 else len(data)]
            self._pieces.append(piece)
            self._size += len(piece)
            self._move(piece)
            if end < 0:
                break
            frames.append(self._frame())
            at = end
        return frames

    def _between(self, data: bytes, at: int, frames: list[Frame]) -> int:
        """Return where the next object begins."""
        start = data.find(b"{", at)
        start = len(data) if start < 0 else start
        gap = data[at:start]
        self._move(gap)
        for bracket in _BRACKET.finditer(gap):
            if self._in_array and bracket[0] == b"]":
                end = self._at - len(gap) + bracket.end()
                frames.append((DONE, end, self._line + 1, "", b""))
            self._in_array = bracket[0] == b"["
        self._begun_on = self._line + 1
        return start

    def _move(self, piece: bytes) -> None:
        self._at += len(piece)
        self._line += piece.count(b"\n")

    def _frame(self) -> Frame:
        raw = b"".join(self._pieces)
        self._pieces, self._size = [], 0
        try:
            return parse(raw), self._at, self._begun_on, "", b""
        except ValueError:
            return None, self._at, self._begun_on, "", raw
