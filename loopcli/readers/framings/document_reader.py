"""What the framings share: a reader that cuts documents out of the bytes for a dialect."""

from __future__ import annotations

from collections.abc import Iterable

from loopcli.events import Event
from loopcli.readers.base import MAX_FRAME_BYTES, Dialect, Frame
from loopcli.readers.collector import Collector


class DocumentReader:
    """Reads documents; a subclass says where each one ends.

    A document of more than ``max_frame`` bytes makes the stream malformed.
    """

    framing: str

    def __init__(self, dialect: Dialect, max_frame: int = MAX_FRAME_BYTES) -> None:
        self._dialect = dialect
        self._max_frame = max_frame
        self._out = Collector()

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""
        return self._dialect.name

    @property
    def progress(self) -> int:
        """The number of deltas with content that have been read."""
        return self._out.progress

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        if self._out.stopped:
            return []
        self._dialect.take(self.frames(data), self._out)
        self._check_size()
        return self._out.take()

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""
        if self._out.stopped:
            return []
        self._dialect.take(self.last_frames(), self._out)
        self._check_size()
        if not self._out.stopped:
            self._out.close()
            self._dialect.close(self._out)
        return self._out.take()

    def _check_size(self) -> None:
        if not self._out.stopped and (excess := self.excess()) is not None:
            self._out.add_problem(*excess)

    def frames(self, data: bytes) -> Iterable[Frame]:
        """Return the documents that ``data`` completes; they are read before the next call."""
        raise NotImplementedError

    def last_frames(self) -> Iterable[Frame]:
        """Return the documents that the end of the input completes."""
        return ()

    def excess(self) -> tuple[str, int, int] | None:
        """Return the message, line and byte of a document longer than allowed, if there is one."""
        raise NotImplementedError
