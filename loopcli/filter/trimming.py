"""Where the good part of a held reply ends: from the character of an onset to a byte.

A verdict gives the onset in characters of its lane. What is held is bytes: the text of
the first choice, or the input. Each text event is kept with the characters of its lane
and the bytes that came before it, so that one search leads from one to the other. All
of the reply is then in memory, but only ``--trim`` asks for that, and a reply that may
yet be cut before its end cannot be printed earlier.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from loopcli.events import Lane, Text


class _Part(NamedTuple):
    """A text event: what came before it, in its lane and in the input or the text."""

    chars: int
    byte: int
    event: Text


class TrimPoints:
    """The text events of a reply, and the byte at which one of their characters begins."""

    def __init__(self) -> None:
        self._lanes: dict[Lane, list[_Part]] = {}

    def add(self, event: Text, byte: int) -> None:
        """Note an event; ``byte`` is where it begins in what is held."""
        parts = self._lanes.setdefault(event.lane, [])
        chars = parts[-1].chars + len(parts[-1].event.text) if parts else 0
        parts.append(_Part(chars, byte, event))

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
        after = part.event.marks.byte_after
        if rest < len(part.event.text):
            # The wire event that brought the onset may have brought text before it, too.
            whole = after(rest + 1)
            while rest and after(rest) == whole:
                rest -= 1
        return after(rest) if rest else part.byte

    def _part(self, lane: Lane, onset: int) -> tuple[_Part | None, int]:
        """Return the event that an onset stands in, and how many of its characters precede it."""
        parts = self._lanes.get(lane)
        if not parts:
            return None, 0
        part = parts[bisect_right(parts, onset, key=lambda each: each.chars) - 1]
        return part, onset - part.chars
