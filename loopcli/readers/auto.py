"""Finds out from its first bytes what a stream is."""

from __future__ import annotations

from collections.abc import Callable

from loopcli.events import Event
from loopcli.readers.base import Reader
from loopcli.readers.chat import ChatDialect
from loopcli.readers.lines import BOM
from loopcli.readers.sse import SseReader
from loopcli.readers.text import TextReader

# How much is looked at, at most: OpenRouter opens with dozens of comments.
_MAX_GUESS = 16 * 1024
# Fields that may stand before the first `data:`; alone they prove nothing, for
# prose and YAML begin like this, too.
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


def reader(name: str) -> Reader:
    """Return a fresh reader by the name that ``--input`` takes."""
    return READERS[name]()


def guess(head: bytes, *, final: bool = False) -> str | None:
    """Return the name of the reader for a stream that begins like this; ``None``: not yet known.

    >>> guess(b"Once upon"), guess(b": ping\\n"), guess(b": ping\\n\\ndata: {")
    ('text', None, 'sse')
    """
    head = head[:_MAX_GUESS]
    if not final and BOM.startswith(head):
        return None
    *lines, last = head.removeprefix(BOM).replace(b"\r", b"\n").split(b"\n")
    for line in lines:
        if line.startswith(b"data:"):
            return "sse"
        if line.strip() and not line.startswith(_FIELDS):
            return "text"
    if last.startswith(b"data:"):
        return "sse"
    possible = any(last.startswith(field) or field.startswith(last) for field in _FIELDS)
    if possible and len(head) == _MAX_GUESS:
        return "sse"  # nothing but fields and comments: a server that keeps us waiting
    return None if possible and not final else "text"


class AutoReader:
    """Holds back the first bytes until it knows what they are, then lets that reader read."""

    def __init__(self) -> None:
        self._head = b""
        self._chosen: Reader | None = None

    @property
    def name(self) -> str:
        """The name of the format, once known."""
        return self._chosen.name if self._chosen else "unknown"

    @property
    def progress(self) -> int:
        """How many deltas with something in them have been read."""
        return self._chosen.progress if self._chosen else 0

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        if self._chosen is not None:
            return self._chosen.feed(data)
        self._head += data
        return self._choose(guess(self._head))

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""
        held = [] if self._chosen else self._choose(guess(self._head, final=True))
        return held + (self._chosen.close() if self._chosen else [])

    def _choose(self, name: str | None) -> list[Event]:
        if name is None:
            return []
        self._chosen = reader(name)
        head, self._head = self._head, b""
        return self._chosen.feed(head)


READERS: dict[str, Callable[[], Reader]] = {
    "auto": AutoReader,
    "sse": lambda: SseReader(ChatDialect()),
    "text": TextReader,
}
