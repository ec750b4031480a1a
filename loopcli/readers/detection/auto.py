"""Detects the format of a stream from its first bytes.

Theory of operation. The input may be plain text, an event stream, JSON in several
layouts, any of these behind an HTTP head, an error page, or a file that is not a
stream at all. Detection is a chain of probes. A *probe* (``probe``) is a reader that
holds the first bytes back until it can name the reader for them; then it replays the
held bytes to that reader, and from then on only forwards. A probe may name another
probe, so that each one answers a single question:

- ``AutoReader``: what do the first bytes look like? (``guess``, ``unsupported``)
- ``HeadProbe``: where does the HTTP head end, and what is the status? (``http``)
- ``PageProbe``: is this HTML page an error page, or did the model write it? (``http``)
- ``JsonProbe``, ``CodedProbe``: is this JSON an answer of an API, or did the model
  write it? (``jsonprobe``)

The first document then decides the dialect (``dialects.table``). Invariants:

- A decision depends on the bytes alone, never on how they were cut: a probe decides as
  soon as the shortest sufficient beginning has arrived, and more bytes never change a
  decision. The tests feed every opening byte by byte and in random pieces.
- Input in doubt is text, because a model may write JSON or an event stream itself.
- The held bytes are capped, and so is the time spent on them: a probe that has seen
  much without a decision looks again only when a line ends.
- ``session`` is asked who reads JSON that no dialect knows: an agent's session is not
  the business of this folder.
- A name given with ``--input`` fixes the dialect, the framing, or both; the probes then
  only decide what is left.
"""

from __future__ import annotations

from collections.abc import Callable

from loopcli.readers.base import START, Origin, Reader
from loopcli.readers.detection.guess import MAX_GUESS, guess
from loopcli.readers.detection.probe import Choice, Probe, SessionProbe
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
    """Return whether a beginning is plain text for certain, so that no reader is needed.

    >>> surely_text(b"Once upon a time\\n"), surely_text(b"data: {}\\n"), surely_text(b"da")
    (True, False, False)
    """
    return guess(head) == "text" and not_a_stream(head.removeprefix(BOM), final=False) == ""


class AutoReader(Probe):
    """Holds back the first bytes until their format is known, then forwards to its reader."""

    def __init__(
        self,
        wanted: Wanted = _ANYTHING,
        origin: Origin = START,
        *,
        heads: bool = True,
        events: bool = False,
        session: SessionProbe | None = None,
    ) -> None:
        super().__init__(origin)
        self._wanted = wanted
        self._session = session
        self._heads = heads
        self._events = events
        self._examined = 0  # the size of the beginning at the last attempt

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the reader, once the first bytes are sufficient."""
        head = bytes(self._held[: MAX_GUESS + 1])
        settled = self._examined > 256 and not final and len(head) <= MAX_GUESS
        if settled and b"\n" not in data and b"\r" not in data:
            return None  # only the end of a line can decide now
        self._examined = len(head)
        refusal = not_a_stream(head.removeprefix(BOM), final=final)
        if refusal is None:
            return None
        if refusal:
            return RefusingReader(refusal, self._origin), 0
        kind = guess(head, final=final)
        if kind is None:
            return None
        if self._events and not head.strip():
            kind = "sse"  # the head announced events, but none came
        # The readers of text and events remove a BOM themselves.
        mark = len(BOM) if head.startswith(BOM) and kind not in ("text", "sse") else 0
        self._origin = self.after(mark)
        if kind == "head" and self._heads:
            from loopcli.readers.detection.http import HeadProbe

            return HeadProbe(self._origin, self._body), mark
        return self._reader(kind), mark

    def _body(self, origin: Origin, events: bool) -> Reader:
        return AutoReader(self._wanted, origin, heads=False, events=events)

    def _reader(self, kind: str) -> Reader:
        # Readers that are seldom needed are imported here.
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

            if kind == "coded":
                return CodedProbe(self._wanted, origin)
            return JsonProbe(self._wanted, origin, self._session)
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
