"""The shape of a reader that first finds out who is to read.

What it cannot judge yet it holds; how much it holds is capped by each probe, and
what it decides depends on the bytes alone, never on how they were cut.
"""

from __future__ import annotations

from loopcli.events import Event
from loopcli.readers.base import START, Origin, Reader

# A choice: the reader, and how many of the held bytes are not for it.
Choice = tuple[Reader, int]


class Probe:
    """Holds the beginning until ``decide`` names a reader, then is that reader."""

    def __init__(self, origin: Origin = START) -> None:
        self._origin = origin
        self._held = bytearray()
        self._chosen: Reader | None = None

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return who reads, now that ``data`` is the end of what is held; always when final."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The format, once known."""
        return self._chosen.name if self._chosen else "unknown"

    @property
    def framing(self) -> str:
        """How its documents are told apart, once known."""
        return self._chosen.framing if self._chosen else "none"

    @property
    def progress(self) -> int:
        """How many deltas with something in them have been read."""
        return self._chosen.progress if self._chosen else 0

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        if self._chosen is not None:
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
        return self._chosen.feed(held)

    def after(self, size: int) -> Origin:
        """Return where in the input the held byte number ``size`` stands."""
        lines = self._held.count(b"\n", 0, size)
        return Origin(self._origin.byte + size, self._origin.line + lines)
