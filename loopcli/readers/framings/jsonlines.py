"""JSON Lines: a document a line, as Ollama streams and as logs keep payloads.

Rules of this file:

- A line that is blank, or a comment, is nothing. ``[DONE]`` is the end mark.
- A ``data:`` before the document is taken off: some logs keep it on some lines.
- The older Vercel protocol writes a code and a colon before each document; the
  code is the event's name then (``line 0``).
- A last line without its end counts if it is a whole document.
"""

from __future__ import annotations

import re

from loopcli.events import Event
from loopcli.lenient_json import parse
from loopcli.readers.base import DONE, MAX_FRAME_BYTES, START, Dialect, Frame, Origin
from loopcli.readers.collector import Collector
from loopcli.readers.errors import is_prose
from loopcli.readers.framings.lines import Line, LineSplitter

_CODED = re.compile(rb'([0-9a-z]):(["\[{].*)', re.DOTALL)


class JsonLinesReader:
    """Reads one document a line."""

    framing = "ndjson"

    def __init__(
        self, dialect: Dialect, origin: Origin = START, *, max_frame: int = MAX_FRAME_BYTES
    ) -> None:
        self._dialect = dialect
        self._lines = LineSplitter(*origin)
        self._out = Collector()
        self._max_frame = max_frame

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""
        return self._dialect.name

    @property
    def progress(self) -> int:
        """How many deltas with something in them have been read."""
        return self._out.progress

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        if self._out.stopped:
            return []
        self._dialect.take(self._frames(self._lines.feed(data)), self._out)
        if self._lines.partial_size > self._max_frame and not self._out.stopped:
            message = f"more than {self._max_frame} bytes with no line break"
            self._out.problem(message, self._lines.number + 1, self._lines.at)
        return self._out.take()

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""
        if self._out.stopped:
            return []
        self._dialect.take(self._frames(self._lines.close(), last=True), self._out)
        if not self._out.stopped:
            self._out.close()
            self._dialect.close(self._out)
        return self._out.take()

    def _frames(self, lines: list[Line], *, last: bool = False) -> list[Frame]:
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
                # What the end of the input cut through makes the stream cut,
                # not malformed.
                if not last or is_prose(payload):
                    frames.append((None, end, number, name, payload))
            else:
                if doc is not None:
                    frames.append((doc, end, number, name, b""))
        return frames
