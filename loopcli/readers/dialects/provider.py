"""What the dialects share: one loop over the documents of a read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from loopcli.readers.base import Frame, MetaTracker
from loopcli.readers.calls import Calls
from loopcli.readers.collector import Collector
from loopcli.readers.errors import document_of


class ProviderDialect:
    """Reads the documents of one provider; a subclass says what one of them means."""

    name: str
    loads: Callable[[bytes], Any] = staticmethod(orjson.loads)

    def __init__(self) -> None:
        self._meta = MetaTracker()
        self._calls = Calls()

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add the events of the frames, in their order, up to a problem."""
        for frame in frames:
            doc = self.document(frame, out)
            if doc is not None:
                self.read(doc, frame, out)
            if out.stopped:
                return

    def document(self, frame: Frame, out: Collector) -> dict[str, Any] | None:
        """Return the document to read; add what is the same in every dialect."""
        return document_of(frame, out)

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        raise NotImplementedError

    def close(self, out: Collector) -> None:
        """Add what only the end of the input makes certain: the assembled tool calls."""
        self._calls.close(out)
