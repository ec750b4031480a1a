"""What all readers share: their shape, and how deltas become events.

Reading has two halves. A *framing* (``sse``, later others) cuts bytes into
documents and knows where each began and ended; a *dialect* (``chat``, later
others) knows what a provider's documents mean. Neither raises for what
arrives: trouble becomes a ``Problem`` with its position, and nothing follows.
"""

from __future__ import annotations

from typing import Any, Protocol

from loopcli.events import Event, EventMarks, Lane, Problem, Text, UpstreamError

# One wire event or line; a provider's largest (usage with citations, a whole
# tool call) are far below. gg's figure.
MAX_FRAME_BYTES = 8 * 1024 * 1024


class Reader(Protocol):
    """Turns bytes into events; where the bytes are cut never matters."""

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""

    @property
    def progress(self) -> int:
        """How many deltas with something in them have been read: what resets an idle clock."""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""


# One document of a stream: the document (``None`` when the payload is not JSON,
# ``DONE`` for the end mark), the byte at which its wire event ended, the number
# (from 1) of the line it began on, the event's name if it had one, and the
# payload when it is not JSON. A plain tuple: one is made for every delta.
Frame = tuple[Any, int, int, str, bytes]

DONE = object()


class Dialect(Protocol):
    """Knows what one provider's documents mean."""

    name: str

    def take(self, frames: list[Frame], out: Collector) -> None:
        """Add to ``out`` what the frames say, in their order."""

    def close(self, out: Collector) -> None:
        """Add what only the end of the input makes certain."""


class Collector:
    """Gathers one read's events; consecutive deltas of one lane become one text event."""

    __slots__ = ("_ends", "_events", "_lane", "_parts", "progress", "stopped")

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lane: Lane | None = None
        self._parts: list[str] = []
        self._ends: list[int] = []
        self.progress = 0
        # Set with a problem: nothing that follows in the input counts.
        self.stopped = False

    def text(self, lane: Lane, delta: str, end: int) -> None:
        """Add a delta whose wire event ended at byte ``end``."""
        parts, ends = self.open(lane)
        parts.append(delta)
        ends.append(end)
        self.progress += 1

    def open(self, lane: Lane) -> tuple[list[str], list[int]]:
        """Return where to append deltas of ``lane`` and the ends of their events.

        For a dialect's innermost loop: good until anything else is added, and
        ``progress`` is the caller's to count.
        """
        if lane != self._lane:
            self._flush()
            self._lane = lane
        return self._parts, self._ends

    def add(self, event: Event) -> None:
        """Add an event that is not text."""
        self._flush()
        self._events.append(event)

    def problem(self, message: str, line: int, byte: int) -> None:
        """Add a problem; the input ends here as far as the reader is concerned."""
        self.add(Problem(message, line, byte))
        self.stopped = True

    def _flush(self) -> None:
        if self._lane is not None and self._parts:
            marks = EventMarks(self._parts, self._ends)
            self._events.append(Text(self._lane, "".join(self._parts), marks))
            self._parts, self._ends = [], []
        self._lane = None

    def take(self) -> list[Event]:
        """Return what has been gathered and begin anew."""
        self._flush()
        events, self._events = self._events, []
        return events


def upstream_error(doc: Any, name: str, line: int, end: int) -> UpstreamError | None:
    """Return the error that a document reports, in any of the shapes providers use."""
    if not isinstance(doc, dict):
        return UpstreamError(str(doc), line, end) if name == "error" else None
    error = doc.get("error")
    if not error and (name == "error" or doc.get("object") == "error"):
        error = doc
    if not error:
        return None
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return UpstreamError(str(error), line, end)
    message = error.get("message") or error.get("detail") or error.get("error")
    code = error.get("code") or error.get("type") or error.get("status") or ""
    return UpstreamError(str(message or "no message"), line, end, str(code))
