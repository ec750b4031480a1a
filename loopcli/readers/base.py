"""What all readers share: their shape, and how deltas become events.

Reading has two halves. A *framing* (``sse``, ``jsonlines``, ``jsondocs``) cuts
bytes into documents and knows where each began and ended; a *dialect* (``chat``,
``anthropic`` and others) knows what a provider's documents mean. Neither raises
for what arrives: malformed input becomes a ``Problem`` with its position. A payload
that is not JSON is skipped; after a document without an end nothing follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from loopcli.events import Event, Meta
from loopcli.lenient_json import string
from loopcli.readers.collector import Collector

# One wire event or line; a provider's largest (usage with citations, a whole
# tool call) are far below. gg's figure.
MAX_FRAME_BYTES = 8 * 1024 * 1024


class Reader(Protocol):
    """Turns bytes into events; where the bytes are cut never matters."""

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""

    @property
    def framing(self) -> str:
        """How the bytes are divided into documents: ``sse``, ``ndjson``, ``json``, ``text``."""

    @property
    def progress(self) -> int:
        """The number of deltas with content; each one restarts the idle timeout."""

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


class Origin(NamedTuple):
    """Where in the input a reader begins; another reader has read everything before that."""

    byte: int = 0
    line: int = 0


START = Origin()


class Dialect(Protocol):
    """Knows what one provider's documents mean."""

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""

    @property
    def loads(self) -> Callable[[bytes], Any]:
        """The parser of a payload: ``orjson.loads``, or a faster one of this dialect's own."""

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add the events of the frames to ``out``, in their order."""

    def close(self, out: Collector) -> None:
        """Add what only the end of the input makes certain."""


class MetaTracker:
    """What a stream says about itself; every addition is an event."""

    def __init__(self, members: tuple[str, ...] = ()) -> None:
        self.current = Meta()
        self._members = members
        # Those of the members whose values are not known yet.
        self.missing = tuple(filter(None, members))

    def update(self, out: Collector, ident: object, model: object, provider: object = "") -> None:
        """Add what is new; the first id and the first names stay."""
        meta = Meta(
            self.current.generation_id or string(ident),
            self.current.model or string(model),
            self.current.provider or string(provider),
        )
        if meta != self.current:
            self.current = meta
            self.missing = tuple(
                name for name, known in zip(self._members, meta, strict=False) if name and not known
            )
            out.add_event(meta)
