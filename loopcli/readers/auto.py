"""Finds out from its first bytes what a stream is.

Bytes decide the framing, the first document the dialect. Rules of this file:

- What is not surely something else is text, though it may begin like JSON or
  like an event stream: a model writes both.
- How much is held back in doubt is capped. Past the caps it is text.
- A name given with ``--input`` fixes the dialect, or the framing, or both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from loopcli.readers import dialects
from loopcli.readers.base import MAX_FRAME_BYTES, START, Dialect, Origin, Reader, parse
from loopcli.readers.foreign import (
    RefusingReader,
    foreign_beginning,
    foreign_document,
    not_a_stream,
)
from loopcli.readers.http import STATUS_LINE, HeadProbe, PageProbe, is_page, maybe_status_line
from loopcli.readers.jsondocs import JsonDocumentsReader
from loopcli.readers.jsonlines import JsonLinesReader
from loopcli.readers.lines import BOM
from loopcli.readers.probe import Choice, Probe
from loopcli.readers.scanner import ObjectScanner
from loopcli.readers.sse import SseReader
from loopcli.readers.text import TextReader
from loopcli.readers.trouble import lone_error, upstream_error

# How much is looked at, at most: OpenRouter opens with dozens of comments.
_MAX_GUESS = 16 * 1024
# An object that has not ended by then is text, unless it has members that
# answers have; those come in one piece, however long.
_MAX_OBJECT = 64 * 1024
_ANSWER = re.compile(
    rb'"(choices|candidates)"\s*:\s*\[|"role"\s*:\s*"assistant"|"index"\s*:\s*\d+\s*,\s*"content"|'
    rb'"object"\s*:\s*"(chat|text_completion|response)|"created_at"\s*:\s*"'
)
# Fields that may stand before the first `data:`; alone they prove nothing, for
# prose and YAML begin like this, too.
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b"error:", b":")
_LINE_END = re.compile(rb"[\r\n]")
_CODES = tuple(f"{code}:{start}".encode() for code in "0gb9cf" for start in '"{')


class Wanted(NamedTuple):
    """What the user said of the input: empty is for us to find out."""

    dialect: str = ""
    framing: str = ""

    def make(self) -> Dialect:
        """Return the dialect, or one that finds it out."""
        return dialects.dialect(self.dialect) if self.dialect else dialects.AutoDialect()


_ANYTHING = Wanted()


def reader(name: str) -> Reader:
    """Return a fresh reader by the name that ``--input`` takes."""
    return READERS[name]()


def guess(head: bytes, *, final: bool = False) -> str | None:
    """Return what begins like this: ``sse``, ``coded``, ``json``, ``page``, ``head`` or ``text``.

    ``None`` is not yet known. More bytes never change an answer.

    >>> guess(b"Once upon"), guess(b": ping\\n"), guess(b": ping\\n\\ndata: {")
    ('text', None, 'sse')
    """
    final = final or len(head) >= _MAX_GUESS
    head = head[:_MAX_GUESS]
    if not final and BOM.startswith(head):
        return None
    body = head.removeprefix(BOM)
    start = body.lstrip()
    if not start:
        return "text" if final else None
    if start[:1] in b"{[":
        return "json"
    if is_page(start):
        return "page"
    if STATUS_LINE.match(body):
        return "head"
    if start.startswith(_CODES):
        return "coded"
    if not final and (
        maybe_status_line(body)
        or any(sign.startswith(start.lower()) for sign in (b"<!doctype", b"<html"))
        or any(code.startswith(start) for code in _CODES)
    ):
        return None
    return _events_or_text(body, final=final)


def _events_or_text(body: bytes, *, final: bool) -> str | None:
    """Return whether the lines are those of an event stream."""
    *lines, last = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    unsure = False
    for line in lines:
        if _is_event(line):
            return "sse"
        if line.strip():
            if not line.startswith(_FIELDS) or line.startswith(b"error:"):
                return "text"
            value = line.removeprefix(b"data:")
            unsure = unsure or (value is not line and bool(value.strip()))
        elif unsure:
            return "sse"  # what is no document, but has an event to itself
    if _is_event(last):
        return "sse"
    possible = any(last.startswith(name) or name.startswith(last) for name in _FIELDS)
    return None if possible and not final else "text"


def _is_event(line: bytes) -> bool:
    """Return whether a line, or its beginning, can only be of an event stream."""
    field, _, value = line.partition(b":")
    value = value.lstrip()
    if field == b"error":
        return value.startswith(b"{")
    return field == b"data" and value.startswith((b"{", b"[", b":"))


class AutoReader(Probe):
    """Holds back the first bytes until it knows what they are, then lets that reader read."""

    def __init__(
        self, wanted: Wanted = _ANYTHING, origin: Origin = START, *, heads: bool = True
    ) -> None:
        super().__init__(origin)
        self._wanted = wanted
        self._heads = heads
        self._asked = 0  # how long the beginning was that told too little

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return who reads, once the first bytes tell."""
        head = bytes(self._held[: _MAX_GUESS + 1])
        settled = self._asked > 256 and not final and len(head) <= _MAX_GUESS
        if settled and not _LINE_END.search(data):
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
        # Text and events take a BOM off themselves.
        mark = len(BOM) if head.startswith(BOM) and kind not in ("text", "sse") else 0
        self._origin = self.after(mark)
        if kind == "head" and self._heads:
            return HeadProbe(self._origin, self._body), mark
        return self._reader(kind), mark

    def _body(self, origin: Origin) -> Reader:
        return AutoReader(self._wanted, origin, heads=False)

    def _reader(self, kind: str) -> Reader:
        make, framing, origin = self._wanted.make, self._wanted.framing, self._origin
        if framing == "sse":
            return SseReader(make(), origin)
        if framing == "ndjson":
            return JsonLinesReader(make(), origin)
        if framing == "json":
            return JsonDocumentsReader(make(), origin)
        if kind == "sse":
            return SseReader(make(), origin)
        if kind == "coded" and self._wanted.dialect in ("", "vercel"):
            return CodedProbe(self._wanted, origin)
        if kind == "json":
            return JsonProbe(self._wanted, origin)
        text = plain(self._wanted, origin)
        return PageProbe(origin, text) if kind == "page" else text


def plain(wanted: Wanted, origin: Origin) -> Reader:
    """Return the reader for what is text, unless something else was asked for."""
    if wanted.dialect:
        return RefusingReader(f"no stream of {wanted.dialect}: neither events nor JSON", origin)
    return TextReader(origin)


class JsonProbe(Probe):
    """Tells answers in JSON from JSON that the model was asked to write, by the first object."""

    def __init__(self, wanted: Wanted, origin: Origin) -> None:
        super().__init__(origin)
        self._wanted = wanted
        self._scanner = ObjectScanner()
        self._scanned = 0
        self._start = -1

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return who reads, once the first object is complete or too long."""
        if self._start < 0:
            head = bytes(self._held[:_MAX_GUESS])
            start = head.lstrip()
            inner = start[1:].lstrip() if start[:1] == b"[" else start
            if not inner and not final and len(head) < _MAX_GUESS:
                return None
            if inner[:1] != b"{":
                return plain(self._wanted, self._origin), 0
            self._start = self._scanned = len(head) - len(inner)
        if self._scanned < _MAX_OBJECT:
            end = self._scan(_MAX_OBJECT)
            if end >= 0:
                return self._by_document(end), 0
            if self._scanned >= _MAX_OBJECT and not self._answers():
                return self._by_beginning(), 0
        if self._scanned >= _MAX_OBJECT:
            end = self._scan(MAX_FRAME_BYTES)
            if end >= 0:
                return self._by_document(end), 0
        if final or self._scanned >= MAX_FRAME_BYTES:
            return self._by_beginning(), 0
        return None

    def _scan(self, limit: int) -> int:
        """Return where the object ends, in what is held up to ``limit``."""
        at, piece = self._scanned, bytes(self._held[self._scanned : limit])
        self._scanned += len(piece)
        end = self._scanner.feed(piece)
        return at + end if end >= 0 else -1

    def _answers(self) -> bool:
        if self._wanted.dialect:
            return True
        return bool(_ANSWER.search(bytes(self._held[:_MAX_OBJECT])))

    def _by_document(self, end: int) -> Reader:
        raw = bytes(self._held[self._start : end])
        lead = bytes(self._held[: self._start])
        try:
            doc = parse(raw)
        except ValueError:
            return plain(self._wanted, self._origin)
        known = self._wanted.dialect or dialects.recognise(doc)
        if not known and not upstream_error(doc, "", 0, 0) and not lone_error(doc, 0, 0):
            refusal = foreign_document(doc)
            if refusal:
                return RefusingReader(refusal, self._origin)
            return plain(self._wanted, self._origin)
        if b"[" in lead or b"\n" in raw or b"\r" in raw:
            return JsonDocumentsReader(self._wanted.make(), self._origin)
        return JsonLinesReader(self._wanted.make(), self._origin)

    def _by_beginning(self) -> Reader:
        """Decide about an object that never ended: an answer cut short, recordings, or text."""
        refusal = foreign_beginning(bytes(self._held[self._start : _MAX_OBJECT]))
        if refusal:
            return RefusingReader(refusal, self._origin)
        if self._answers():
            return JsonDocumentsReader(self._wanted.make(), self._origin)
        return plain(self._wanted, self._origin)


class CodedProbe(Probe):
    """Tells the lines of the older Vercel protocol from text that begins like one."""

    def __init__(self, wanted: Wanted, origin: Origin) -> None:
        super().__init__(origin)
        self._wanted = wanted

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return who reads, once the first line is complete."""
        line, end, _ = bytes(self._held[:_MAX_GUESS]).partition(b"\n")
        if not end and not final and len(self._held) < _MAX_GUESS:
            return None
        try:
            parse(line.strip()[2:])
        except ValueError:
            return plain(self._wanted, self._origin), 0
        return JsonLinesReader(self._wanted.make(), self._origin), 0


def _forced(dialect: str = "", framing: str = "") -> Callable[[], Reader]:
    return lambda: AutoReader(Wanted(dialect, framing))


READERS: dict[str, Callable[[], Reader]] = {
    "auto": AutoReader,
    "text": TextReader,
    **{framing: _forced(framing=framing) for framing in ("sse", "ndjson", "json")},
    **{name: _forced(name) for name in dialects.NAMES},
}
