"""The base of a reader that first decides which reader gets the input.

A probe holds the first bytes until ``decide`` names a reader. Every probe caps what it
holds, and its decision depends on the bytes alone, never on how they were cut.
"""

from __future__ import annotations

from collections.abc import Callable

from loopcli.events import Event
from loopcli.readers.base import START, Origin, Reader

# A choice: the reader, and the number of held bytes that are not for it.
Choice = tuple[Reader, int]
# Returns who reads an agent's session that begins with these bytes; ``None`` if it is none.
SessionProbe = Callable[[bytes, Origin], Reader | None]


class Probe:
    """Holds the beginning until ``decide`` names a reader, then forwards to that reader."""

    def __init__(self, origin: Origin = START) -> None:
        self._origin = origin
        self._held = bytearray()
        self._chosen: Reader | None = None
        # That of the chosen reader, once it is known.
        self.feed: Callable[[bytes], list[Event]] = self._hold

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the choice, or ``None`` to hold on; ``data`` is the last piece of what is held.

        With ``final`` there is always a choice.
        """
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The format, once known."""
        return self._chosen.name if self._chosen else "unknown"

    @property
    def framing(self) -> str:
        """The framing, once known."""
        return self._chosen.framing if self._chosen else "none"

    @property
    def progress(self) -> int:
        """The number of deltas with content that have been read."""
        return self._chosen.progress if self._chosen else 0

    def _hold(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes; ``feed`` until the reader is known."""
        if self._chosen is not None:  # another probe, whose own `feed` changes
            return self._chosen.feed(data)
        if not data:
            return []
        self._held += data
        return self._settle(self.decide(data, final=False))

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""
        held = [] if self._chosen else self._settle(self.decide(b"", final=True))
        return held + (self._chosen.close() if self._chosen else [])

    def _settle(self, choice: Choice | None) -> list[Event]:
        if choice is None:
            return []
        self._chosen, skipped = choice
        held, self._held = bytes(self._held[skipped:]), bytearray()
        if not isinstance(self._chosen, Probe):
            self.feed = self._chosen.feed
        return self._chosen.feed(held)

    def after(self, size: int) -> Origin:
        """Return the origin of a reader that begins after ``size`` of the held bytes."""
        lines = self._held.count(b"\n", 0, size)
        return Origin(self._origin.byte + size, self._origin.line + lines)
