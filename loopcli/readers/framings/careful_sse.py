"""The careful path through an event stream: line by line, by all rules of ``sse``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from loopcli.lenient_json import parse
from loopcli.readers.base import DONE, Frame, Origin
from loopcli.readers.framings.lines import Line, LineSplitter

if TYPE_CHECKING:
    from loopcli.readers.framings.scanner import ObjectScanner  # seldom needed

_WRAPPED = re.compile(rb"(?:data:\s*+)++")


class CarefulEvents:
    """Reads lines into frames; ``lines`` holds the position in the input."""

    def __init__(self, origin: Origin, max_frame: int) -> None:
        self.lines = LineSplitter(*origin)
        self._max_frame = max_frame
        self._pending: list[_Data] = []
        self._pending_size = 0
        self._event_name = ""
        # The part so far of an object that stands in the stream without `data:`.
        self._bare = bytearray()
        self._bare_on = 0
        self._scanner: ObjectScanner | None = None
        # The line and byte of an event longer than `max_frame`.
        self._too_long: tuple[int, int] | None = None
        # Whether an event or a line has begun and not ended, or was too long.
        self.inside = False

    def excess(self) -> tuple[int, int] | None:
        """Return the line and byte of an event longer than allowed, if there is one."""
        if self._too_long is None and self._held + self.lines.partial_size > self._max_frame:
            self._too_long = self.lines.number + 1, self.lines.at
        return self._too_long

    def feed(self, data: bytes) -> list[Frame]:
        """Return the documents of the lines that ``data`` completes."""
        frames = self._read(self.lines.feed(data))
        self.inside = bool(
            self._pending
            or self._event_name
            or self._bare
            or self.lines.partial_size
            or self._too_long
        )
        return frames

    def close(self) -> list[Frame]:
        """Return the documents that the end of the input completes."""
        frames = self._read(self.lines.close())
        # An incomplete document at the end of the input means that the stream was cut;
        # it does not make it malformed.
        if not (self._pending and self._pending[0].cut_short and not _join(self._pending).whole):
            frames += self._dispatch(self.lines.at)
        return frames

    def _read(self, lines: list[Line]) -> list[Frame]:
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
        if self.lines.partial_start == b"d":
            frames += self._whole_pending()
        return frames

    @property
    def _held(self) -> int:
        return self._pending_size + len(self._bare)

    def _whole_pending(self) -> list[Frame]:
        """Dispatch a pending document that is whole: a line that begins like ``data:`` follows.

        Its first byte suffices; see the invariants in ``sse``.
        """
        if len(self._pending) == 1 and self._pending[0].whole:
            return self._dispatch(self._pending[0].end)
        return []

    def _bare_line(self, content: bytes, number: int, end: int) -> list[Frame]:
        """Read a line of an object without ``data:``; return the object once it is whole."""
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
    """The value of a ``data:`` line, and its document, if it is one."""

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
        """Return the frame of the document; none for noise and an empty value."""
        if self.whole and self._doc is None:
            return []
        return [(self._doc, end, self.line, name, b"" if self.whole else self.value)]


def _join(pending: list[_Data]) -> _Data:
    return _Data(b"\n".join(data.value for data in pending), pending[0].line, pending[-1].end)
