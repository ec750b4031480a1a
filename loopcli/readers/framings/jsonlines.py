"""JSON Lines: a document a line, as Ollama streams and as logs keep payloads.

Rules of this file:

- Blank lines and comments are skipped. ``[DONE]`` is the end mark.
- A ``data:`` before the document is removed: some logs keep it on some lines.
- The older Vercel protocol has a code and a colon before each document; the code
  becomes the name of the event (``line 0``).
- A last line without a line end counts if it is a whole document.

A line that is an object takes the fast path: it is parsed as it is. Only a stream with
CR in it, and the line that two reads share, always take the careful one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from loopcli.lenient_json import parse
from loopcli.readers.base import DONE, MAX_FRAME_BYTES, START, Dialect, Frame, Origin
from loopcli.readers.errors import is_prose
from loopcli.readers.framings.document_reader import DocumentReader, Shape, parsed
from loopcli.readers.framings.lines import Line, LineSplitter

_LINE = Shape(size=1, lines=1)  # a regular line: an object and LF
_CODED = re.compile(rb'([0-9a-z]):(["\[{].*)', re.DOTALL)


class JsonLinesReader(DocumentReader):
    """Reads one document a line."""

    framing = "ndjson"

    def __init__(
        self, dialect: Dialect, origin: Origin = START, *, max_frame: int = MAX_FRAME_BYTES
    ) -> None:
        super().__init__(dialect, max_frame)
        self._lines = LineSplitter(*origin)

    def frames(self, data: bytes) -> Iterator[Frame]:
        """Yield the documents of the lines that ``data`` completes."""
        lines = self._lines
        if lines.partial_size:
            at = data.find(b"\n") + 1 or len(data)
            yield from self._documents(lines.feed(data[:at]))
            data = data[at:]
        if lines.partial_size or b"\r" in data:
            yield from self._documents(lines.feed(data))
            return
        *complete, rest = data.split(b"\n")
        for is_object, group in groupby(complete, _is_object):
            payloads = list(group)
            for item in parsed(self._dialect, payloads, lines, _LINE) if is_object else payloads:
                if isinstance(item, bytes):
                    yield from self._documents(lines.feed(item + b"\n"))
                else:
                    yield item
        yield from self._documents(lines.feed(rest))

    def last_frames(self) -> list[Frame]:
        """Return the document of a last line without a line end, if it is whole."""
        return self._documents(self._lines.close(), last=True)

    def excess(self) -> tuple[str, int, int] | None:
        """Return the message, line and byte of a line longer than allowed, if there is one."""
        if self._lines.partial_size <= self._max_frame:
            return None
        message = f"more than {self._max_frame} bytes with no line break"
        return message, self._lines.number + 1, self._lines.at

    def _documents(self, lines: list[Line], *, last: bool = False) -> list[Frame]:
        frames: list[Frame] = []
        for content, end, number in lines:
            payload, name = content.strip(), ""
            if payload.startswith(b"data:"):
                payload = payload[5:].lstrip()
            elif coded := _CODED.fullmatch(payload):
                payload, name = coded[2], "line " + coded[1].decode("ascii")
            if not payload or payload.startswith(b":"):
                continue
            try:
                doc = DONE if payload == b"[DONE]" else parse(payload)
            except ValueError:
                # An incomplete last line means that the stream was cut; it does
                # not make it malformed.
                if not last or is_prose(payload):
                    frames.append((None, end, number, name, payload))
            else:
                if doc is not None:
                    frames.append((doc, end, number, name, b""))
        return frames


def _is_object(line: bytes) -> bool:
    return line.startswith(b"{")
