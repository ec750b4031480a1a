"""Recognises the format of a recorded file, and reads it.

Rules of this file:

- The content decides. The suffix decides only where the content is ambiguous: a
  model's reply may itself be JSON, so a document in no known format is plain text
  in a ``.txt`` and an unknown format in a ``.json``.
- A file is held in memory only where its format requires it, and only up to a
  limit; plain text and JSON Lines are read in pieces.

The order of the tests in ``_read`` matters. Formats with a signature come first
(binary frames, httprr). Then what is not text is refused. Then come agents' sessions,
whose records have members that nothing else has, and JSON and YAML, which have their
own tables in ``documents``. What is left is a stream that the readers know, or plain
text. ``PROSE`` answers the common case of plain text before the readers' own
detection, which costs more than the rest of a short file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from loopcli.readers.detection.auto import surely_text
from loopcli.recordings import documents, yaml_documents
from loopcli.recordings.base import (
    HEAD_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_LINE_BYTES,
    Defect,
    Hints,
    Item,
    Peekable,
    parse_document,
)
from loopcli.recordings.formats import (
    bedrock,
    cassette,
    httprr,
    jsonlines,
    plain_text,
    session,
    stream,
)
from loopcli.signatures import BOM, UTF16
from loopcli.status import Status

_NO_SHAPE = "JSON in no known shape"
_JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".har", ".responses", ".traj"})
_YAML_SUFFIXES = frozenset({".yaml", ".yml"})
# A text field alone does not make a record here: a model's reply may be JSON.
_TEXT_SUFFIXES = frozenset({".txt", ".text", ".md"})
# A file that begins like JSON without a JSON suffix and is longer than this is
# read as text.
_MAX_DOUBTFUL_BYTES = 32 * 1024 * 1024
# The number of JSON lines that are examined before the file is called unknown.
_LINES_LOOKED_AT = 20
# Control characters that do not occur in text. Colours (ESC) and backspaces do.
_CONTROLS = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b")) + b"\x7f"
_MOST_CONTROLS = 0.05
# A first line that no stream begins with: more than one word, and none of the
# fields, marks and codes of streams.
PROSE = re.compile(
    rb"(?:" + BOM + rb")?+\s*+(?!(?:data|event|id|retry|error|version|\w)?:|HTTP/|[-<{\[:])"
    rb"[^\s\0]+ [^\r\n]"
)


def read(pieces: Iterator[bytes], hints: Hints) -> Iterator[Item]:
    """Yield the replies and defects of a file in any format."""
    nothing = True
    for item in _read(Peekable(pieces), hints):
        nothing = False
        yield item
    if nothing:
        yield Defect("contains no reply of a model", status=Status.CLEAN)


def _read(source: Peekable, hints: Hints) -> Iterator[Item]:
    head = source.peek(HEAD_BYTES)
    if bedrock.is_event_stream(head):
        return _recording(source, bedrock.read)
    start = head.removeprefix(BOM).lstrip()
    if is_binary(head):
        utf16 = head.startswith(UTF16)
        return _unknown("UTF-16, convert it to UTF-8" if utf16 else "binary data")
    if head.startswith(httprr.MAGIC):
        return _recording(source, httprr.replies)
    if hints.text_field is None and start.startswith(session.STARTS):
        sniffed = session.recognise(head, whole=source.ended)
        if sniffed.name:
            return session.read(source, sniffed)
    if start.startswith((b"{", b"[")):
        return _json(source, hints)
    if cassette.claims_yaml(head):
        return _recording(source, cassette.read_yaml, yaml_documents.MAX_BYTES)
    if hints.suffix in _JSON_SUFFIXES and not start.startswith(stream.STARTS):
        return _unknown(_no_document(source) if start else "an empty file", hints)
    if hints.suffix in _YAML_SUFFIXES:
        return _unknown("YAML that is not a cassette", hints)
    plain = PROSE.match(head) or surely_text(head)
    return plain_text.read(source) if plain else stream.read(source)


def is_binary(head: bytes) -> bool:
    """Return whether bytes are not text: too many of them are control characters.

    Bytes that are not UTF-8 are no sign of it: a text in another encoding has many.
    """
    if not any(map(head.__contains__, _CONTROLS)):
        return False  # nearly always, and faster than counting
    return len(head) - len(head.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(head)


def _unknown(what: str, hints: Hints | None = None) -> Iterator[Item]:
    """Yield the defect of a file in an unknown format.

    With ``hints`` it is no error in a file that the user did not name.
    """
    fault = hints is None or hints.named
    yield Defect(f"unknown format: {what}", status=Status.TROUBLE if fault else Status.CLEAN)


def _no_document(source: Peekable) -> str:
    """Return why a file with a JSON suffix is not read: it begins with no object or array."""
    line = source.first_line(MAX_LINE_BYTES)
    try:
        parse_document(line or b"")
    except ValueError:
        return "not JSON"
    return _NO_SHAPE


def _recording(
    source: Peekable, read: Callable[[bytes], Iterator[Item]], limit: int = MAX_DOCUMENT_BYTES
) -> Iterator[Item]:
    raw = source.peek(limit + 1)
    return _too_large(limit) if len(raw) > limit else read(raw)


def _too_large(limit: int = MAX_DOCUMENT_BYTES) -> Iterator[Item]:
    message = f"larger than {limit} bytes in a format that must be read as a whole"
    yield Defect(message, status=Status.TROUBLE)


def _json(source: Peekable, hints: Hints) -> Iterator[Item]:
    surely = hints.suffix in _JSON_SUFFIXES
    limit = MAX_DOCUMENT_BYTES if surely else _MAX_DOUBTFUL_BYTES
    known = documents.Known(hints.text_field, sure=hints.suffix in _TEXT_SUFFIXES)
    line = source.first_line(limit)
    if line is not None and _goes_on_in_lines(source, line):
        items = _lines(source, line, known)
        if items is None and surely:
            items = _unknown("JSON Lines without a reply in a known member", hints)
        return plain_text.read(source) if items is None else items
    raw = source.peek(limit + 1)
    if len(raw) > limit:
        return _too_large() if surely else plain_text.read(source)
    items, defect = _document(raw, known)
    if items is None and surely:
        items = iter([defect]) if defect else _unknown(_NO_SHAPE, hints)
    return plain_text.read(source) if items is None else items


def _document(raw: bytes, known: documents.Known) -> tuple[Iterator[Item] | None, Defect | None]:
    """Return the replies of a file that is one document, or its defect."""
    try:
        doc = parse_document(raw)
    except ValueError as error:
        # Several documents one after the other, or an array that was cut.
        items = stream.body(raw)
        return None if items is None else iter(items), Defect(f"not JSON: {error}")
    return documents.whole_file(doc, known), None


def _goes_on_in_lines(source: Peekable, line: bytes) -> bool:
    """Return whether this is JSON Lines, not one document that spans several lines."""
    if _parsed(line) is None:
        # One broken line among good ones, or the first line of a document?
        docs = _parsed_lines(source.peek(HEAD_BYTES))
        good = sum(isinstance(doc, dict | list) for doc in docs)
        return good > 0 and 2 * good >= len(docs)
    have = source.peek(1)
    while not have.lstrip()[len(line) :].strip():
        if source.ended:
            return False
        have = source.peek(len(have) + 1)
    return True


def _lines(source: Peekable, line: bytes, known: documents.Known) -> Iterator[Item] | None:
    """Return the replies of JSON Lines; ``None`` if the first lines are in no known format."""
    head = _parsed_lines(source.peek(HEAD_BYTES))[:_LINES_LOOKED_AT]
    docs = [doc for doc in (_parsed(line), *head) if doc is not None]
    if known.field is None:
        if any(map(bedrock.is_document, docs)):
            return _recording(source, bedrock.read_lines)
        spoken = next(filter(documents.speaks, docs), None)
        if spoken is not None and not documents.is_whole_answer(spoken):
            return stream.read(source)
    if any(documents.has_reply(documents.record(doc, known)) for doc in docs):
        return jsonlines.read(source, known)
    return None


def _parsed_lines(head: bytes) -> list[Any]:
    """Return the objects and arrays that the complete lines of ``head`` are, ``None`` for others.

    A failed parse costs ten times as much as a look at the first byte, and source code
    has many lines that are not JSON.
    """
    lines = (line.removeprefix(BOM).lstrip() for line in head.split(b"\n")[:-1])
    return [_parsed(line) if line.startswith((b"{", b"[")) else None for line in lines if line]


def _parsed(line: bytes) -> Any:
    try:
        return parse_document(line)
    except ValueError:
        return None
