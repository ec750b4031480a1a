"""Server-sent events: bytes into the documents that ``data:`` fields carry.

Source: the WHATWG grammar, and what real servers send instead. Rules of this file:

- An event is complete at its blank line. A server that sends no blank lines is
  understood, too: the next ``data:`` line completes the pending one if that is a whole
  document.
- Several ``data:`` lines of one event are joined with LF. If the result is not one
  document, each line is read as one.
- An object between the events without ``data:``, on one line or several, is a document;
  Gemini appends its errors like that.
- Comments, unknown fields, and ``data:`` values that are comments (``data: : PROCESSING``)
  are skipped. An ``error`` field, which some servers use for failures in mid-stream, is
  a document named ``error``.

Theory of operation. The *careful path* (``CarefulEvents``) reads line by line and knows
all of these rules. The *fast path* is here. It rests on one observation: nearly all
events of a stream begin with the same bytes, their **lead** (``data: ``, or ``event:
content_block_delta`` and a line end and ``data: ``), and end with the same blank line.

- A read is split at "blank line, lead". A piece without a line break is the payload of a
  regular event and is parsed as it is. Any other piece goes the careful path alone.
- A read that is exactly one regular event, as they arrive from a live model, is not even
  split.
- A lead is learned from the last event of a read that does not have the known one.

Invariants:

- The fast path runs only at an event boundary, where the careful path holds nothing. If
  the careful path is inside an event when a read begins, it gets the bytes up to the next
  blank line, and the fast path the rest.
- Exactly one of the two holds what is incomplete at the end of a read: the fast path a
  tail that is the beginning of a regular event, the careful path everything else. So the
  first byte of a new ``data:`` line completes a pending document on either path; a
  later byte would let that much of an event through that comes after the cut.
- Both paths count bytes and lines in the same ``LineSplitter``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from loopcli.readers.base import MAX_FRAME_BYTES, START, Dialect, Frame, Origin
from loopcli.readers.framings.careful_sse import CarefulEvents
from loopcli.readers.framings.document_reader import DocumentReader, Shape, parsed
from loopcli.signatures import BOM

# A longer unfinished event is no longer joined to each read again.
_MAX_TAIL = 64 * 1024
# A lead is learned from the last of so many events.
_LOOKED_AT = 8
# What may stand before the payload of a regular event: a comment, which may be an event
# of its own, and the event's name. The line ends are all of one kind.
_LEAD = re.compile(
    rb"(?::[^\r\n]*(?P<end>\r?\n)(?P=end)?)?(?:event:(?P<name>[^\r\n]*)\r?\n)?data: ?"
)


class SseReader(DocumentReader):
    """Reads an event stream whose documents ``dialect`` understands."""

    framing = "sse"

    def __init__(
        self, dialect: Dialect, origin: Origin = START, *, max_frame: int = MAX_FRAME_BYTES
    ) -> None:
        super().__init__(dialect, max_frame)
        self._careful = CarefulEvents(origin, max_frame)
        self._lines = self._careful.lines
        self._tail = b""
        self._begun = False
        self._learn(b"data: ", b"\n", b"")

    def _learn(self, lead: bytes, end: bytes, name: bytes) -> None:
        """Make ``lead`` the lead of regular events, whose lines end with ``end``."""
        before = lead.count(b"\n")
        self._lead, self._blank = lead, end + end
        self._shape = Shape(
            size=len(lead) + 2 * len(end),
            lines=before + 2,
            before=before,
            name=name.decode("utf-8", "replace").removeprefix(" ").strip(),
        )

    def frames(self, data: bytes) -> Iterable[Frame]:
        """Return the documents of the events that ``data`` completes."""
        if not self._begun:
            data = self._skip_bom(data)
            if not self._begun:
                return ()
        if self._careful.inside:
            return self._after_event(data)
        if self._tail:
            data, self._tail = self._tail + data, b""
        if data.startswith(self._lead) and data.endswith(self._blank):
            payload = data[len(self._lead) : -len(self._blank)]
            if b"\n" not in payload and b"\r" not in payload and len(data) <= self._max_frame:
                try:
                    return (self._only(self._dialect.loads(payload), len(data)),)
                except ValueError:  # noise, an end mark, or not JSON
                    return self._events(data)
        return self._events(data)

    def _only(self, doc: Any, size: int) -> Frame:
        """Return the frame of a regular event that is all of a read of ``size`` bytes."""
        lines, shape = self._lines, self._shape
        lines.at += size
        number = lines.number + shape.before + 1
        lines.number += shape.lines
        return doc, lines.at, number, shape.name, b""

    def last_frames(self) -> list[Frame]:
        """Return the documents of an event that the end of the input completes."""
        self._begun = True
        tail, self._tail = self._tail, b""
        return self._careful.feed(tail) + self._careful.close()

    def excess(self) -> tuple[str, int, int] | None:
        """Return the message, line and byte of an event longer than allowed, if there is one."""
        # The fast path has sent every event that is too long down the careful path.
        place = self._careful.excess() if self._careful.inside else None
        if place is None:
            return None
        message = f"more than {self._max_frame} bytes with no line break that ends the event"
        return message, *place

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

    def _after_event(self, data: bytes) -> Iterator[Frame]:
        """Yield the documents of a read that begins inside an irregular event."""
        at = data.find(self._blank) + len(self._blank)
        if at < len(self._blank):
            at = len(data)
        yield from self._careful.feed(data[:at])
        if self._careful.inside:
            yield from self._careful.feed(data[at:])
        else:
            yield from self._events(data[at:])

    def _events(self, data: bytes) -> Iterator[Frame]:
        """Yield the documents of a read that begins at an event boundary."""
        if len(data) > self._max_frame:  # only the careful path measures events
            yield from self._careful.feed(data)
            return
        if not data.startswith(self._lead) or self._blank not in data:
            regular = data.count(self._blank + self._lead)
            # The end of a read may divide an event: one blank line may be missing.
            if 2 * regular <= data.count(self._blank) + 1:
                self._learn_from(data)
        lead, blank = self._lead, self._blank
        cut = data.rfind(blank)
        if cut >= 0:
            first, *pieces = data[:cut].split(blank + lead)
            if first.startswith(lead):
                pieces.insert(0, first[len(lead) :])
            else:
                yield from self._careful.feed(first + blank)
            yield from self._pieces(pieces)
        tail = data[cut + len(blank) :] if cut >= 0 else data
        if self._careful.inside or not self._may_begin(tail):
            yield from self._careful.feed(tail)
        else:
            self._tail = tail

    def _learn_from(self, data: bytes) -> None:
        """Learn the lead of the last event in a read, if it has a usable one."""
        end = b"\r\n" if b"\r\n" in data else b"\n"
        *complete, _ = data.split(end + end)[-_LOOKED_AT:]
        while complete and complete[-1].startswith(b":"):
            complete.pop()
        # A comment that is an event of its own belongs to the lead.
        comment = len(complete) > 1 and complete[-2].startswith(b":")
        lead = _LEAD.match((end + end).join(complete[-2 if comment else -1 :]))
        if lead and lead[0].count(b"\n") == lead[0].count(end) and lead["name"] != b"error":
            self._learn(lead[0], end, lead["name"] or b"")

    def _may_begin(self, tail: bytes) -> bool:
        """Return whether a tail is the beginning of a regular event, and not too long."""
        if len(tail) > _MAX_TAIL:
            return False
        if self._lead.startswith(tail):
            return True
        payload = tail.removeprefix(self._lead)
        line = payload.rstrip(b"\r\n")
        return not _has_break(line) and self._blank.startswith(payload[len(line) :])

    def _pieces(self, pieces: Sequence[bytes]) -> Iterator[Frame]:
        """Yield the documents of pieces, each of which is an event without lead and blank line."""
        if not _has_break(b"".join(pieces)):
            yield from self._regular(pieces)
            return
        for irregular, group in groupby(pieces, _has_break):
            alike = list(group)
            yield from self._irregular(alike) if irregular else self._regular(alike)

    def _regular(self, payloads: Sequence[bytes]) -> Iterator[Frame]:
        """Yield the documents of regular events."""
        begin = 0
        while begin < len(payloads) and self._careful.inside:  # an object without `data:`
            yield from self._irregular(payloads[begin : begin + 1])
            begin += 1
        for frame in parsed(self._dialect, payloads[begin:], self._lines, self._shape):
            if isinstance(frame, bytes):
                yield from self._irregular([frame])
            else:
                yield frame

    def _irregular(self, pieces: Iterable[bytes]) -> Iterator[Frame]:
        """Yield the documents of pieces that only the careful path understands."""
        for piece in pieces:
            yield from self._careful.feed(self._lead + piece + self._blank)


def _has_break(piece: bytes) -> bool:
    return b"\n" in piece or b"\r" in piece
