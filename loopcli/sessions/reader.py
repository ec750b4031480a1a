"""Reads one session: bytes in, session events out.

Rules of this file:

- What the input is has been decided (``sniff``, or the user); here it is read.
- A record that cannot be read costs only itself, as programs are killed while
  they write: it is counted and reported, and reading goes on.
- Trouble never raises, and never ends the reading.
"""

from __future__ import annotations

from typing import Any

import orjson

from loopcli.events import BrokenRecord, Event, Note
from loopcli.lenient_json import parse
from loopcli.readers.base import START, Origin
from loopcli.sessions import table
from loopcli.sessions.collector import SessionCollector
from loopcli.sessions.records import MAX_RECORD_BYTES, DocumentRecords, LineRecords, Part, Record
from loopcli.signatures import BOM

# A file with more broken records than this is reported in one more line.
_MAX_REPORTED = 20


class SessionReader:
    """Reads the records of one format; ``framing`` is ``ndjson``, ``json`` or ``text``."""

    def __init__(
        self,
        name: str,
        framing: str = "ndjson",
        origin: Origin = START,
        *,
        max_record: int = MAX_RECORD_BYTES,
    ) -> None:
        self.name = name
        self._dialect = table.dialect(name)
        self._documents = table.FORMATS[name].documents
        self.framing = framing
        self._lines = LineRecords(origin, max_record=max_record) if framing != "json" else None
        self._parts = DocumentRecords(origin, whole=not self._documents, max_record=max_record)
        self._max = max_record
        self._out = SessionCollector()
        self._begun = False
        self._sessions = 0
        self.broken = 0

    @property
    def progress(self) -> int:
        """How many things with something in them have been read."""
        return self._out.progress

    @property
    def counts(self) -> tuple[int, int, int]:
        """The messages of the model, calls and results so far, as the format itself has them."""
        return self._out.messages, self._out.calls, self._out.results

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        if self._lines is not None:
            self._take_lines(self._lines.feed(data))
        else:
            self._take_parts(self._parts.feed(data))
        return self._out.take()

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""
        if self._lines is not None:
            self._take_lines(self._lines.close(), final=True)
        elif self._parts.is_open:
            self._out.add(Note("the document is cut short: it ends in the middle"))
        if self.broken > _MAX_REPORTED:
            more = f"and {self.broken - _MAX_REPORTED} more records that could not be read"
            self._out.add(BrokenRecord(more, self._out.line, self._out.byte))
        self._dialect.close(self._out)
        self._out.close()
        return self._out.take()

    def _take_lines(self, records: list[Record], *, final: bool = False) -> None:
        out, loads = self._out, orjson.loads if self.framing == "ndjson" else _text
        take = self._whole if self._documents else self._dialect.take
        for raw, out.byte, out.line in records:
            try:
                doc = loads(raw or b"")
            except ValueError:
                doc = self._unusual(raw, final=final)
            if doc is not None:
                take(doc, out)

    def _take_parts(self, parts: list[Part]) -> None:
        out = self._out
        for raw, out.byte, out.line, member, last in parts:
            if last:
                self._end_document()
                continue
            try:
                doc = orjson.loads(raw or b"")
            except ValueError:
                doc = self._unusual(raw, final=False)
            self._part(member, doc)

    def _unusual(self, raw: bytes | None, *, final: bool) -> Any:
        """Return what only a lenient parser can read, or nothing if nobody can."""
        if raw is None:
            self._broken(f"more than {self._max} bytes")
            return None
        text = raw.strip().removeprefix(BOM)
        if text.startswith(b"data:"):
            text = text[5:].lstrip()
        if not text or text == b"[DONE]" or text.startswith(b":"):
            return None
        try:
            return parse(text)
        except ValueError as error:
            # What the end of the input cut through is no fault of the file.
            if not final:
                self._broken(f"not JSON: {error}")
            return None

    def _broken(self, why: str) -> None:
        self.broken += 1
        if self.broken <= _MAX_REPORTED:
            self._out.add(BrokenRecord(f"{why}; skipped", self._out.line, self._out.byte))

    def _whole(self, doc: Any, out: SessionCollector) -> None:
        """Take a document that stands on one line."""
        members = doc.items() if isinstance(doc, dict) else [("", doc)]
        for name, value in members:
            for part in value if isinstance(value, list) else (value,):
                self._part(name, part)
        self._end_document()

    def _part(self, member: str, doc: Any) -> None:
        if not self._begun:
            self._begun = True
            self._sessions += 1
            if self._sessions > 1:
                self._out.start(str(self._sessions))
        if member:
            self._dialect.member(member, doc, self._out)
        else:
            self._dialect.take(doc, self._out)

    def _end_document(self) -> None:
        self._dialect.end_document(self._out)
        self._begun = False


def _text(raw: bytes) -> str:
    """Return a line of text; what is not UTF-8 stands for U+FFFD."""
    return raw.decode("utf-8", "replace").removesuffix("\r")
