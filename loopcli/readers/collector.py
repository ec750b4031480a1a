"""Gathers the deltas and events of one read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from loopcli.events import Event, EventMarks, Lane, Problem, Text, Usage
from loopcli.readers.snapshots import Snapshots

# A reply has a handful of lanes. The text of a stream in further lanes is dropped,
# because memory must not grow with their number.
MAX_LANES = 4096

_PAIR = "[\ud800-\udbff][\udc00-\udfff]"


class Collector:
    """Joins consecutive deltas of one lane into one text event.

    A surrogate pair that is split over two deltas is made one character again.
    """

    __slots__ = (
        "_ends",
        "_events",
        "_faulty",
        "_growth",
        "_halves",
        "_lane",
        "_parts",
        "_usages",
        "progress",
        "stopped",
    )

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lane: Lane | None = None
        self._parts: list[str] = []
        self._ends: list[int] = []
        self._growth: dict[Lane, Snapshots] = {}
        # The first half of a pair, and the byte where its wire event ended.
        self._halves: dict[Lane, tuple[str, int]] = {}
        # Token counts since the last event, and the bytes where their wire events ended.
        self._usages: list[tuple[int, Mapping[str, object]]] = []
        self.progress = 0
        self._faulty = False
        # Set with a problem: the rest of the input is ignored.
        self.stopped = False

    @property
    def has_text(self) -> bool:
        """Whether any text, or the start of a tool call, has been added."""
        return self.progress > 0 or bool(self._parts)

    def add_text(self, lane: Lane, delta: str, end: int) -> None:
        """Add a delta whose wire event ended at byte ``end``."""
        parts, ends = self.lane_buffers(lane)
        parts.append(delta)
        ends.append(end)

    def add_member(self, lane: Lane, text: object, end: int) -> None:
        """Add a member of a document as a delta; ignore it if it is not a text."""
        if text and isinstance(text, str):
            self.add_text(lane, text, end)

    def lane_buffers(self, lane: Lane) -> tuple[list[str], list[int]]:
        """Return the lists to which deltas of ``lane`` and the ends of their events are appended.

        They are for a dialect's innermost loop, and valid until anything else is added.
        """
        if lane != self._lane:
            self._flush()
            self._lane = lane
        return self._parts, self._ends

    def add_delta(self, lane: Lane, delta: str, end: int) -> bool:
        """Add a delta that may hold the whole text so far; return whether it is known not to.

        Once that is known, ``add_text`` does the same faster.
        """
        growth = self._growth.get(lane)
        if growth is None:
            if len(self._growth) >= MAX_LANES:
                return False
            growth = self._growth[lane] = Snapshots()
        if delta:
            self.progress += 1
        for piece, byte in growth.take(delta, end) if delta else ():
            self.add_text(lane, piece, byte)
            self.progress -= 1
        return growth.settled

    def add_usage(self, counts: Mapping[str, object], end: int) -> None:
        """Add token counts whose wire event ended at byte ``end``; they do not end a text."""
        self._usages.append((end, counts))

    def add_event(self, event: Event) -> None:
        """Add an event that is not text."""
        self._flush()
        self._events.append(event)

    def add_problem(self, message: str, line: int, byte: int) -> None:
        """Add a problem, unless one was added; the reader ignores the rest of the input."""
        self.add_fault(message, line, byte)
        self.stopped = True

    def add_fault(self, message: str, line: int, byte: int) -> None:
        """Add a problem after which reading goes on; only the first of a stream is added."""
        if not self._faulty:
            self._faulty = True
            self.add_event(Problem(message, line, byte))

    def restart(self) -> None:
        """Discard what is held back: it belongs to an attempt that was given up."""
        self._flush()
        self._growth.clear()
        self._halves.clear()

    def close(self) -> None:
        """Add what was held back for more input."""
        for lane, growth in self._growth.items():
            for piece, byte in growth.close():
                self.add_text(lane, piece, byte)
        self._flush()
        halves, self._halves = self._halves, {}
        for lane, (half, byte) in halves.items():
            self._events.append(Text(lane, half, EventMarks([half], [byte])))

    def _flush(self) -> None:
        lane, parts, ends = self._lane, self._parts, self._ends
        self._lane = None
        if lane is not None and parts:
            self._flush_text(lane, parts, ends)
        if self._usages:
            self._events.append(Usage(self._usages[-1][1], tuple(self._usages)))
            self._usages = []

    def _flush_text(self, lane: Lane, parts: list[str], ends: list[int]) -> None:
        self._parts, self._ends = [], []
        self.progress += len(parts)
        text = "".join(parts)
        if self._halves or not _is_whole(text):
            parts, ends = self._paired(lane, parts, ends)
            text = "".join(parts)
        if text:
            self._events.append(Text(lane, text, EventMarks(parts, ends)))

    def _paired(self, lane: Lane, parts: list[str], ends: list[int]) -> tuple[list[str], list[int]]:
        """Move the first half of a pair from a part's end to the part with the second."""
        whole: list[str] = []
        bytes_: list[int] = []
        half, byte = self._halves.pop(lane, ("", 0))
        for part, end in zip(parts, ends, strict=True):
            if half and part and not "\udc00" <= part[0] <= "\udfff":
                # Nothing completes it, so it stays in its place.
                whole.append(half)
                bytes_.append(byte)
                half = ""
            joined, half = half + part, ""
            if "\ud800" <= joined[-1:] <= "\udbff":
                joined, half, byte = joined[:-1], joined[-1], end
            whole.append(re.sub(_PAIR, _join, joined))
            bytes_.append(end)
        if half:
            self._halves[lane] = half, byte
        return whole, bytes_

    def take(self) -> list[Event]:
        """Return the gathered events and start again with none."""
        self._flush()
        events, self._events = self._events, []
        return events


def _is_whole(text: str) -> bool:
    """Return whether a text has no surrogates, that is, can be encoded as UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _join(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")
