"""What all readers share: their shape, and how deltas become events.

Reading has two halves. A *framing* (``sse``, ``jsonlines``, ``jsondocs``) cuts
bytes into documents and knows where each began and ended; a *dialect* (``chat``,
``anthropic`` and others) knows what a provider's documents mean. Neither raises
for what arrives: trouble becomes a ``Problem`` with its position, and nothing
follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import orjson

from loopcli.events import Event, Meta
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
        """How the documents are told apart: ``sse``, ``ndjson``, ``json``, ``text``."""

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


class Origin(NamedTuple):
    """Where in the input a reader begins: what stood before it was somebody else's."""

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
        """What reads a payload: ``orjson.loads``, or a shortcut that only this dialect knows."""

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add to ``out`` what the frames say, in their order."""

    def close(self, out: Collector) -> None:
        """Add what only the end of the input makes certain."""


class WholeDocuments:
    """A dialect that wants every document as it is."""

    loads = staticmethod(orjson.loads)


def string(value: object) -> str:
    """Return ``value`` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def number(value: object) -> int:
    """Return ``value`` if it is a whole number that can count something, else 0."""
    return value if isinstance(value, int) and value > 0 and value is not True else 0


def member(doc: object, *path: str) -> Any:
    """Return what stands at ``path`` in nested objects; ``None`` if nothing does.

    >>> member({"delta": {"message": {"text": "hi"}}}, "delta", "message", "text")
    'hi'
    """
    for key in path:
        if not isinstance(doc, dict):
            return None
        doc = doc.get(key)
    return doc


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, which may be none at all."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Described:
    """What a stream says of itself, told once and again when it says more."""

    def __init__(self) -> None:
        self.meta = Meta()

    def tell(self, out: Collector, ident: object, model: object, provider: object = "") -> None:
        """Add what is new; the first id and the first names stay."""
        meta = Meta(
            self.meta.generation_id or string(ident),
            self.meta.model or string(model),
            self.meta.provider or string(provider),
        )
        if meta != self.meta:
            self.meta = meta
            out.add(meta)
