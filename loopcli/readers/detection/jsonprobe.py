"""Distinguishes answers in JSON from JSON, or text like JSON, that a model wrote itself.

Theory of operation. The first object decides: if it is in a known dialect or reports an
error, the input is an answer; otherwise it is the model's text. To see the whole object
the probe scans for its closing brace, each byte once (``ObjectScanner``). An object that
does not end is held back up to ``_MAX_OBJECT`` bytes, and up to a frame's limit if its
beginning has members that answers have. Past these limits the beginning decides.
Lines of unknown objects of one kind, one after the other, are an API that is not known, and
are not judged: a model's reply seldom is nothing but such lines, and a stream that is taken
for text is cut as soon as its members have repeated often enough. The second line decides.
Lines that are equal are a loop in either case, so they stay text.

Lines or one document? If the object spans lines, or an array was opened before it, it is
read as documents; otherwise as JSON Lines.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.lenient_json import parse, string
from loopcli.readers.base import MAX_FRAME_BYTES, Origin, Reader
from loopcli.readers.detection.guess import MAX_GUESS
from loopcli.readers.detection.probe import Choice, Probe, SessionProbe
from loopcli.readers.detection.unsupported import (
    RefusingReader,
    foreign_beginning,
    foreign_document,
    plain,
)
from loopcli.readers.dialects import table as dialects
from loopcli.readers.dialects.table import Wanted
from loopcli.readers.errors import lone_error, upstream_error
from loopcli.readers.framings.jsondocs import JsonDocumentsReader
from loopcli.readers.framings.jsonlines import JsonLinesReader
from loopcli.readers.framings.scanner import ObjectScanner

_MAX_OBJECT = 64 * 1024
# The member that says which kind of event a line is, if the kinds differ in their members.
_KINDS = ("type", "event", "event_type", "kind", "object")
_ANSWER = re.compile(
    rb'"(choices|candidates)"\s*:\s*\[|"role"\s*:\s*"assistant"|"index"\s*:\s*\d+\s*,\s*"content"|'
    rb'"object"\s*:\s*"(chat|text_completion|response)|"created_at"\s*:\s*"'
)


class JsonProbe(Probe):
    """Decides by the first object whether the input is an answer in JSON."""

    def __init__(self, wanted: Wanted, origin: Origin, session: SessionProbe | None = None) -> None:
        super().__init__(origin)
        self._wanted = wanted
        self._session = session
        self._scanner = ObjectScanner()
        self._scanned = 0
        self._start = -1
        # The first object, while it is not certain that lines of its kind follow it.
        self._first: dict[str, Any] | None = None
        self._first_end = 0

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the reader, once the first object is complete or too long."""
        if self._first is not None:
            return self._by_second(final=final)
        if self._start < 0:
            head = bytes(self._held[:MAX_GUESS])
            start = head.lstrip()
            inner = start[1:].lstrip() if start[:1] == b"[" else start
            if not inner and not final and len(head) < MAX_GUESS:
                return None
            if inner[:1] != b"{":
                return plain(self._wanted.dialect, self._origin), 0
            self._start = self._scanned = len(head) - len(inner)
        if self._scanned < _MAX_OBJECT:
            end = self._scan(_MAX_OBJECT)
            if end >= 0:
                return self._by_document(end, final=final)
            if self._scanned >= _MAX_OBJECT and not self._answers():
                return self._by_beginning(), 0
        if self._scanned >= _MAX_OBJECT:
            end = self._scan(MAX_FRAME_BYTES)
            if end >= 0:
                return self._by_document(end, final=final)
        if final or self._scanned >= MAX_FRAME_BYTES:
            return self._by_beginning(), 0
        return None

    def _scan(self, limit: int) -> int:
        """Scan on, up to ``limit``; return where the object ends, or -1."""
        at, piece = self._scanned, bytes(self._held[self._scanned : limit])
        self._scanned += len(piece)
        end = self._scanner.feed(piece)
        return at + end if end >= 0 else -1

    def _answers(self) -> bool:
        if self._wanted.dialect:
            return True
        return bool(_ANSWER.search(bytes(self._held[:_MAX_OBJECT])))

    def _by_document(self, end: int, *, final: bool) -> Choice | None:
        """Return the reader by the first object, or ``None`` if the next line has to decide."""
        raw = bytes(self._held[self._start : end])
        lead = bytes(self._held[: self._start])
        try:
            doc = parse(raw)
        except ValueError:
            return plain(self._wanted.dialect, self._origin), 0
        known = self._wanted.dialect or dialects.recognise(doc)
        # A model that was asked for JSON may write this; no server sends it alone.
        known = known if doc.keys() != {"response"} else self._wanted.dialect
        session = None if known else self._in_session(end)
        if session is not None:
            return session, 0
        if not known and not upstream_error(doc, "", 0, 0) and not lone_error(doc, 0, 0):
            refusal = foreign_document(doc)
            if refusal:
                return RefusingReader(refusal, self._origin), 0
            if b"[" in lead or b"\n" in raw or b"\r" in raw:
                return plain(self._wanted.dialect, self._origin), 0
            self._first, self._first_end = doc, end
            return self._by_second(final=final)
        if b"[" in lead or b"\n" in raw or b"\r" in raw:
            return JsonDocumentsReader(self._wanted.make(), self._origin), 0
        return JsonLinesReader(self._wanted.make(), self._origin), 0

    def _by_second(self, *, final: bool) -> Choice | None:
        """Return the reader by the line after the first object, once that line is complete."""
        held = bytes(self._held[self._first_end : self._first_end + _MAX_OBJECT])
        gap = len(held) - len(held.lstrip())
        line, end, _ = held[gap:].partition(b"\n")
        could_be = b"\n" in held[:gap] and line.startswith(b"{") if line else not held.strip()
        complete = bool(end) or final or len(held) >= _MAX_OBJECT
        if could_be and not complete:
            return None
        same = could_be and bool(line) and self._is_like_first(line)
        if not same:
            return plain(self._wanted.dialect, self._origin), 0
        return JsonLinesReader(self._wanted.make(), self._origin), 0

    def _is_like_first(self, line: bytes) -> bool:
        """Return whether a line is an object of the kind of the first, and not equal to it."""
        try:
            doc = parse(line.strip())
        except ValueError:
            return False
        first = self._first or {}
        if not isinstance(doc, dict) or doc == first:
            return False
        if dialects.recognise(doc):
            return True
        of_a_kind = any(string(doc.get(key)) and string(first.get(key)) for key in _KINDS)
        return len(doc) > 1 and (doc.keys() == first.keys() or of_a_kind)

    def _by_beginning(self) -> Reader:
        """Return the reader of an object that did not end: of an answer, a recording or text."""
        session = self._in_session(_MAX_OBJECT)
        if session is not None:
            return session
        refusal = foreign_beginning(bytes(self._held[self._start : _MAX_OBJECT]))
        if refusal:
            return RefusingReader(refusal, self._origin)
        if self._answers():
            return JsonDocumentsReader(self._wanted.make(), self._origin)
        return plain(self._wanted.dialect, self._origin)

    def _in_session(self, end: int) -> Reader | None:
        """Return the reader of an agent's session, if the first ``end`` bytes begin one."""
        if self._session is None or self._wanted != Wanted():
            return None
        return self._session(bytes(self._held[:end]), self._origin)


class CodedProbe(Probe):
    """Decides by the first line whether the input is in the older Vercel protocol."""

    def __init__(self, wanted: Wanted, origin: Origin) -> None:
        super().__init__(origin)
        self._wanted = wanted

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the reader, once the first line is complete."""
        line, end, _ = bytes(self._held[:MAX_GUESS]).partition(b"\n")
        if not end and not final and len(self._held) < MAX_GUESS:
            return None
        try:
            parse(line.strip()[2:])
        except ValueError:
            return plain(self._wanted.dialect, self._origin), 0
        return JsonLinesReader(self._wanted.make(), self._origin), 0
