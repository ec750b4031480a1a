"""Finds out from its first bytes what a stream is.

Bytes decide the framing, the first document the dialect. Rules of this file:

- What is not surely something else is text, though it may begin like JSON or
  like an event stream: a model writes both.
- How much is held back in doubt is capped. Past the caps it is text.
- A name given with ``--input`` fixes the dialect, or the framing, or both.
"""

from __future__ import annotations

from collections.abc import Callable

from loopcli.readers.base import START, Origin, Reader
from loopcli.readers.detection.guess import MAX_GUESS, guess
from loopcli.readers.detection.probe import Choice, Probe
from loopcli.readers.detection.unsupported import RefusingReader, not_a_stream, plain
from loopcli.readers.dialects.table import NAMES, Wanted
from loopcli.readers.framings.sse import SseReader
from loopcli.readers.framings.text import TextReader
from loopcli.signatures import BOM

__all__ = ["READERS", "AutoReader", "guess", "reader"]

_ANYTHING = Wanted()


def reader(name: str) -> Reader:
    """Return a fresh reader by the name that ``--input`` takes."""
    return READERS[name]()


def surely_text(head: bytes) -> bool:
    """Tell whether what begins like this would be read as plain text, without a reader's help.

    >>> surely_text(b"Once upon a time\\n"), surely_text(b"data: {}\\n"), surely_text(b"da")
    (True, False, False)
    """
    return guess(head) == "text" and not_a_stream(head.removeprefix(BOM), final=False) == ""


class AutoReader(Probe):
    """Holds back the first bytes until it knows what they are, then lets that reader read."""

    def __init__(
        self,
        wanted: Wanted = _ANYTHING,
        origin: Origin = START,
        *,
        heads: bool = True,
        events: bool = False,
    ) -> None:
        super().__init__(origin)
        self._wanted = wanted
        self._heads = heads
        self._events = events
        self._asked = 0  # how long the beginning was that told too little

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return who reads, once the first bytes tell."""
        head = bytes(self._held[: MAX_GUESS + 1])
        settled = self._asked > 256 and not final and len(head) <= MAX_GUESS
        if settled and b"\n" not in data and b"\r" not in data:
            return None  # only a line's end can tell more
        self._asked = len(head)
        refusal = not_a_stream(head.removeprefix(BOM), final=final)
        if refusal is None:
            return None
        if refusal:
            return RefusingReader(refusal, self._origin), 0
        kind = guess(head, final=final)
        if kind is None:
            return None
        if self._events and not head.strip():
            kind = "sse"  # which were announced, and never came
        # Text and events take a BOM off themselves.
        mark = len(BOM) if head.startswith(BOM) and kind not in ("text", "sse") else 0
        self._origin = self.after(mark)
        if kind == "head" and self._heads:
            from loopcli.readers.detection.http import HeadProbe

            return HeadProbe(self._origin, self._body), mark
        return self._reader(kind), mark

    def _body(self, origin: Origin, events: bool) -> Reader:
        return AutoReader(self._wanted, origin, heads=False, events=events)

    def _reader(self, kind: str) -> Reader:
        # What is seldom needed is not imported before.
        make, framing, origin = self._wanted.make, self._wanted.framing, self._origin
        if framing == "sse" or (kind == "sse" and not framing):
            return SseReader(make(), origin)
        if framing == "ndjson":
            from loopcli.readers.framings.jsonlines import JsonLinesReader

            return JsonLinesReader(make(), origin)
        if framing == "json":
            from loopcli.readers.framings.jsondocs import JsonDocumentsReader

            return JsonDocumentsReader(make(), origin)
        if kind == "json" or (kind == "coded" and self._wanted.dialect in ("", "vercel")):
            from loopcli.readers.detection.jsonprobe import CodedProbe, JsonProbe

            return (JsonProbe if kind == "json" else CodedProbe)(self._wanted, origin)
        text = plain(self._wanted.dialect, origin)
        if kind == "page":
            from loopcli.readers.detection.http import PageProbe

            return PageProbe(origin, text)
        return text


def _forced(dialect: str = "", framing: str = "") -> Callable[[], Reader]:
    return lambda: AutoReader(Wanted(dialect, framing))


READERS: dict[str, Callable[[], Reader]] = {
    "auto": AutoReader,
    "text": TextReader,
    **{framing: _forced(framing=framing) for framing in ("sse", "ndjson", "json")},
    **{name: _forced(name) for name in NAMES},
}
