"""Where the good part of a held reply ends: from the character of an onset to a byte.

A verdict gives the onset in characters of its lane. What is held is bytes: the text of
the first choice, or the input. Each text event is kept with the characters of its lane
that came before it, and knows itself at which byte of the input each of its own came. All
of the reply is then in memory, but only ``--trim`` asks for that, and a reply that may
yet be cut before its end cannot be printed earlier.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from loopcli.events import Lane, Text


class _Part(NamedTuple):
    """A text event, and what came before it: characters of its lane, bytes of the text."""

    chars: int
    byte: int
    event: Text


class TrimPoints:
    """The text events of a reply, and the byte at which one of their characters begins."""

    def __init__(self) -> None:
        self._lanes: dict[Lane, list[_Part]] = {}
        self._events: list[Text] = []

    def add(self, event: Text, byte: int) -> None:
        """Note an event; ``byte`` is where it begins in the text, if text is emitted."""
        parts = self._lanes.setdefault(event.lane, [])
        chars = parts[-1].chars + len(parts[-1].event.text) if parts else 0
        parts.append(_Part(chars, byte, event))
        self._events.append(event)

    def restart(self, agent: str | None = None) -> None:
        """Count from 0 again, in the lanes of an agent or in all."""
        if agent is None:
            self._lanes.clear()
        for lane in [lane for lane in self._lanes if lane.agent == agent]:
            del self._lanes[lane]

    def in_text(self, lane: Lane, onset: int) -> int | None:
        """Return how many bytes of the held text come before an onset.

        ``None`` if the lane is not part of that text: then all of it is good.
        """
        part, rest = self._part(lane, onset)
        return part and part.byte + len(part.event.text[:rest].encode("utf-8", "replace"))

    def in_input(self, lane: Lane, onset: int) -> int | None:
        """Return how many bytes of the input end with the last wire event before an onset."""
        part, rest = self._part(lane, onset)
        if part is None:
            return None
        if rest == len(part.event.text):
            return part.event.marks.byte_after(rest)
        # What the wire event with the onset brought before it, in this lane or in another,
        # is left out with it: one JSON document brings all.
        end, best = part.event.marks.byte_after(rest + 1), 0
        for event in self._events:
            best = max(best, _last_before(event, end))
        return best

    def _part(self, lane: Lane, onset: int) -> tuple[_Part | None, int]:
        """Return the event that an onset stands in, and how many of its characters precede it."""
        parts = self._lanes.get(lane)
        if not parts:
            return None, 0
        part = parts[bisect_right(parts, onset, key=lambda each: each.chars) - 1]
        return part, onset - part.chars


def _last_before(event: Text, end: int) -> int:
    """Return where the last wire event of a text event ends that ends before a byte, or 0."""
    after, size = event.marks.byte_after, len(event.text)
    if after(size) < end:
        return after(size)
    chars = bisect_left(range(1, size + 1), end, key=after)
    return after(chars) if chars else 0
