"""Input that is not a stream: compressed bytes, and files that hold recorded streams.

Each kind is recognised by its beginning, so that the message can name the remedy. A
model may write YAML or JSON itself, so the marks here are ones that a reply does not
begin with. Like ``guess``, every function is monotonic: more bytes never change an
answer.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.events import Event, Problem
from loopcli.lenient_json import member, objects
from loopcli.readers.base import Origin, Reader
from loopcli.readers.framings.text import TextReader
from loopcli.signatures import GZIP, HTTPRR, ZSTD

# An AWS event stream frame: its length (below 16 MiB), the length of its headers, a
# checksum, and the name of the first header with its length before it.
_AWS = rb"\x00[\s\S]{12}:(event|message|content|exception)-type"
# Patterns as text, like all here: compiled where one is first needed, and not at every start.
_VCR = rb"(---\r?\n)?(version: \d+\r?\n)?(http_)?interactions:\r?\n *- *(request|id|uri)"
_VCR_START = (b"---", b"version:", b"interactions:", b"http_interactions:")
_CHUNK_SIZE = rb'[0-9a-fA-F]{1,8}\r\n(data:|event:|id:|: |\{"|\[\{)'
_HEX_LINE = rb"[0-9a-fA-F]{1,8}(\r(\n[a-z:{\[]{0,5})?)?"
_HEX = b"0123456789abcdefABCDEF"
_LONGEST_SIGN = 128


def not_a_stream(head: bytes, *, final: bool) -> str | None:
    """Return why a beginning is not a stream; empty if it may be one, ``None`` if undecided.

    >>> not_a_stream(bytes([31, 139, 8]), final=False)
    'compressed data (gzip): let curl unpack it with --compressed'
    """
    head = head[:_LONGEST_SIGN]
    final = final or len(head) >= _LONGEST_SIGN
    for magic, name in ((GZIP, "gzip"), (ZSTD, "zstd")):
        if head.startswith(magic):
            return f"compressed data ({name}): let curl unpack it with --compressed"
    if head.startswith(HTTPRR):
        return "not a stream: an httprr recording; pass the body of one response"
    if head.startswith(_VCR_START) and re.match(_VCR, head):
        return "not a stream: a VCR cassette; pass the body of one response"
    if head.startswith(b"\x00") and re.match(_AWS, head):
        return "not a stream of text: binary AWS event stream frames (Bedrock) are not supported"
    hexadecimal = head[:1] in _HEX
    if hexadecimal and re.match(_CHUNK_SIZE, head):
        return "the data contains the sizes of HTTP chunks: omit curl's --raw"
    if final:
        return ""
    if any(sign.startswith(head) for sign in (GZIP, ZSTD, HTTPRR)) or head.startswith(b"\x00"):
        return None
    if hexadecimal and re.fullmatch(_HEX_LINE, head):
        return None
    if any(sign.startswith(head) or head.startswith(sign) for sign in _VCR_START):
        return None if head.count(b"\n") < 4 else ""
    return ""


_HAR = rb'\{\s*"log"\s*:\s*\{\s*"(_recordingName|version|creator|entries|browser|pages)"'
_NOCK = rb'\{\s*"scope"\s*:\s*"https?:'
_HAR_FILE = "not a stream: a HAR file; pass the content of one response"
_NOCK_FILE = "not a stream: a nock recording; pass the text of one response"


def foreign_beginning(head: bytes) -> str:
    """Return why an object that is too long to be read whole is not a stream, if it is not."""
    return _HAR_FILE if re.match(_HAR, head) else _NOCK_FILE if re.match(_NOCK, head) else ""


def foreign_document(doc: Any) -> str:
    """Return why a JSON document is not a stream: it holds recordings, or is not supported.

    >>> foreign_document({"log": {"entries": [], "creator": {}}})
    'not a stream: a HAR file; pass the content of one response'
    """
    if isinstance(member(doc, "log", "entries"), list) or member(doc, "log", "creator"):
        return _HAR_FILE
    if isinstance(doc, list):
        doc = next(iter(objects(doc)), None)
    if isinstance(doc, dict):
        if {"scope", "method", "path"} <= doc.keys():
            return _NOCK_FILE
        if "messageStart" in doc or "contentBlockDelta" in doc:
            return "an unknown format: Bedrock converse events are not supported"
    return ""


class RefusingReader:
    """Reads nothing, and reports one problem."""

    name = "unknown"
    framing = "none"
    progress = 0

    def __init__(self, message: str, origin: Origin) -> None:
        self._problem: list[Event] = [Problem(message, origin.line + 1, origin.byte)]

    def feed(self, data: bytes) -> list[Event]:
        """Return the problem, the first time."""
        problem, self._problem = self._problem, []
        return problem

    def close(self) -> list[Event]:
        """Return the problem, if it has not been returned."""
        return self.feed(b"")


def plain(dialect: str, origin: Origin) -> Reader:
    """Return the reader of plain text, or a refusal if the user named a dialect."""
    if dialect:
        return RefusingReader(f"not a stream of {dialect}: neither events nor JSON", origin)
    return TextReader(origin)
