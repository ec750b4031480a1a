"""Server-sent events: bytes into the documents that ``data:`` fields carry.

Source: the WHATWG grammar, and what real servers send instead (formats.md).
Rules of this file:

- An event is complete at its blank line. A server that sends no blank lines
  is understood, too: the next ``data:`` line completes what is pending if
  that is a document by itself.
- Several ``data:`` lines of one event are joined with LF; if that is not one
  document, each line is taken as one.
- An object that stands between the events without ``data:``, on one line or on
  many, is a document; Gemini appends its errors like that.
- A value that begins with ``data:`` again (``data: data: {…}``) is what follows that.
- Comments, unknown fields, and ``data:`` values that are re-sent comments
  (``data: : PROCESSING``) are noise. An ``error`` field, which some servers
  use for failures in mid-stream, is a document named ``error``.

Most reads hold nothing but complete one-line events. Those take a path that
splits once and parses; the first irregular byte sends the rest of the input
down the careful path until it is at an event boundary again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import accumulate, count, repeat
from operator import add
from typing import TYPE_CHECKING, Any

from loopcli.lenient_json import parse
from loopcli.readers.base import DONE, MAX_FRAME_BYTES, START, Dialect, Frame, Origin
from loopcli.readers.framings.document_reader import DocumentReader
from loopcli.readers.framings.lines import Line, LineSplitter
from loopcli.signatures import BOM

if TYPE_CHECKING:
    from loopcli.readers.framings.scanner import ObjectScanner  # seldom needed

# An unfinished event longer than this is no longer joined to each read again.
_MAX_TAIL = 64 * 1024
_WRAPPED = re.compile(rb"(?:data:\s*+)++")


class SseReader(DocumentReader):
    """Reads an event stream whose documents ``dialect`` understands."""

    framing = "sse"

    def __init__(
        self, dialect: Dialect, origin: Origin = START, *, max_frame: int = MAX_FRAME_BYTES
    ) -> None:
        super().__init__(dialect, max_frame)
        # Either the tail or the line splitter holds what is incomplete.
        self._tail = b""
        self._lines = LineSplitter(*origin)
        self._pending: list[_Data] = []
        self._pending_size = 0
        self._event_name = ""
        # What there is of an object that stands in the stream without `data:`.
        self._bare = bytearray()
        self._bare_on = 0
        # The line and byte of an event longer than `max_frame`.
        self._too_long: tuple[int, int] | None = None
        self._scanner: ObjectScanner | None = None
        self._begun = False

    def frames(self, data: bytes) -> Iterable[Frame]:
        """Return the documents of the events that ``data`` completes."""
        return self._read(data if self._begun else self._skip_bom(data))

    def last_frames(self) -> list[Frame]:
        """Return the documents of an event that the end of the input completes."""
        self._begun = True
        frames = self._careful(self._lines.feed(self._tail) + self._lines.close())
        self._tail = b""
        # A document that the end of the input cut through makes the stream
        # cut, not malformed.
        if not (self._pending and self._pending[0].cut_short and not _join(self._pending).whole):
            frames += self._dispatch(self._lines.at)
        return frames

    def excess(self) -> tuple[str, int, int] | None:
        """Return the message, line and byte of an event longer than allowed, if there is one."""
        if self._too_long is None and self._held + self._lines.partial_size > self._max_frame:
            self._too_long = self._lines.number + 1, self._lines.at
        if self._too_long is None:
            return None
        message = f"more than {self._max_frame} bytes with no line break that ends the event"
        return message, *self._too_long

    def _skip_bom(self, data: bytes) -> bytes:
        data, self._tail = self._tail + data, b""
        if len(data) < len(BOM) and BOM.startswith(data):
            self._tail = data
            return b""
        self._begun = True
        if data.startswith(BOM):
            self._lines.at += len(BOM)
            return data[len(BOM) :]
        return data

    def _read(self, data: bytes) -> Iterable[Frame]:
        if not self._begun:
            return []
        if self._pending or self._event_name or self._bare or self._lines.partial_size:
            return self._careful(self._lines.feed(data))
        data, self._tail = self._tail + data, b""
        cut = data.rfind(b"\n\n") + 2
        tail = data[cut:] if cut > 1 else data
        if b"\r" in data or b"\n" in tail[:-1] or len(tail) > _MAX_TAIL:
            return self._careful(self._lines.feed(data))
        if cut > 1:
            return self._whole_events(data[:cut], tail)
        self._tail = tail
        return []

    def _whole_events(self, data: bytes, tail: bytes) -> Iterator[Frame]:
        """Yield complete events; those of one ``data:`` line at full speed.

        Lazily: a document that is used and dropped before the next is parsed
        costs half of one that lives until the end of the read.
        """
        lines = self._lines
        # Cut where an event ends and a `data:` line follows: most pieces are
        # then a document and nothing else.
        first, *payloads = data[:-2].split(b"\n\ndata: ")
        others = 0
        if first.startswith(b"data: "):
            payloads.insert(0, first[6:])
        else:
            yield from self._careful(lines.feed(first + b"\n\n"))
            others = first.count(b"\n") + 2
        if data.count(b"\n") == others + 2 * len(payloads) and b"data: null" not in data:
            if payloads:
                yield from self._documents(payloads)
        else:
            for payload in payloads:
                yield from self._careful(lines.feed(b"data: " + payload + b"\n\n"))
        if self._bare:
            yield from self._careful(lines.feed(tail))
        else:
            self._tail = tail

    def _documents(self, payloads: list[bytes]) -> Iterator[Frame]:
        self._bare.clear()  # a `data:` line ends it
        lines, index = self._lines, 0
        texts, sizes = iter(payloads), map(len, payloads)
        while index < len(payloads):
            numbers = count(lines.number + 1, 2)
            ends = accumulate(map(add, sizes, repeat(8)), initial=lines.at)
            next(ends)
            # zip asks for the document first: where that fails, the others stand still.
            with suppress(ValueError):
                yield from zip(
                    map(self._dialect.loads, texts),
                    ends,
                    numbers,
                    repeat(""),
                    repeat(b""),
                    strict=False,
                )
            done = (next(numbers) - lines.number) // 2
            lines.at += sum(map(len, payloads[index : index + done])) + 8 * done
            lines.number += 2 * done
            index += done
            for payload in payloads[index : index + 1]:  # noise, an end mark, or no document
                next(sizes)
                yield from self._careful(lines.feed(b"data: " + payload + b"\n\n"))
                index += 1

    def _careful(self, lines: list[Line]) -> list[Frame]:
        frames: list[Frame] = []
        for content, end, number in lines:
            if self._held + len(content) > self._max_frame:
                self._too_long = number, end
                return frames
            if content.startswith(b"d"):
                frames += self._whole_pending()
            field, _, value = content.partition(b":")
            value = value.removeprefix(b" ")
            if self._bare and field not in (b"data", b"event"):
                frames += self._bare_line(content, number, end)
            elif not content:
                frames += self._dispatch(end)
            elif content.startswith(b"{"):
                frames += self._dispatch(self._pending[-1].end if self._pending else end)
                frames += self._bare_line(content, number, end)
            elif field == b"data":
                self._bare.clear()
                self._pending.append(_Data(value, number, end))
                self._pending_size += len(value)
            elif field == b"event":
                self._bare.clear()
                self._event_name = value.decode("utf-8", "replace").strip()
            elif field == b"error":
                frames += _Data(value, number, end).frames(end, "error")
        if self._lines.partial_start == b"d":
            frames += self._whole_pending()
        return frames

    @property
    def _held(self) -> int:
        return self._pending_size + len(self._bare)

    def _whole_pending(self) -> list[Frame]:
        """Dispatch what is a document by itself: a line that begins like ``data:`` follows.

        Its first byte is enough. Waiting for more would let that much of an
        event through that comes after the cut.
        """
        if len(self._pending) == 1 and self._pending[0].whole:
            return self._dispatch(self._pending[0].end)
        return []

    def _bare_line(self, content: bytes, number: int, end: int) -> list[Frame]:
        """Take a line of an object without ``data:``; return the object once it is whole."""
        if not self._bare:
            from loopcli.readers.framings.scanner import ObjectScanner  # seldom needed

            self._scanner, self._bare_on = ObjectScanner(), number
        self._bare += content + b"\n"
        if self._scanner is None or self._scanner.feed(content + b"\n") < 0:
            return []
        whole = _Data(bytes(self._bare), self._bare_on, end)
        self._bare.clear()
        return whole.frames(end, "") if whole.whole else []

    def _dispatch(self, end: int) -> list[Frame]:
        pending, name = self._pending, self._event_name
        self._pending, self._pending_size, self._event_name = [], 0, ""
        if len(pending) > 1:
            joined = _join(pending)
            if joined.whole:
                return joined.frames(end, name)
        return [frame for data in pending for frame in data.frames(end, name)]


class _Data:
    """The value of a ``data:`` line, and the document that it is, if it is one."""

    __slots__ = ("_doc", "end", "line", "value", "whole")

    def __init__(self, value: bytes, line: int, end: int) -> None:
        self.value = value
        self.line = line
        self.end = end
        stripped = value.strip()
        if wrapped := _WRAPPED.match(stripped):  # a gateway that wraps events again
            stripped = stripped[wrapped.end() :]
        self.whole = True
        self._doc: Any = None
        if stripped == b"[DONE]":
            self._doc = DONE
        elif stripped and not stripped.startswith(b":"):
            try:
                self._doc = parse(stripped)
            except ValueError:
                self.whole = False

    @property
    def cut_short(self) -> bool:
        """Whether this may be the beginning of a document."""
        return not self.whole and self.value.lstrip().startswith((b"{", b"["))

    def frames(self, end: int, name: str) -> list[Frame]:
        """Return the frame this is; noise and emptiness are none."""
        if not self.whole:
            return [(None, end, self.line, name, self.value)]
        return [] if self._doc is None else [(self._doc, end, self.line, name, b"")]


def _join(pending: list[_Data]) -> _Data:
    return _Data(b"\n".join(data.value for data in pending), pending[0].line, pending[-1].end)
