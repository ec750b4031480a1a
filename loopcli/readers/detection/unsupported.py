"""What is no stream: compressed bytes, and files that hold recorded streams.

Each is recognised by how it begins, so that the message can say what to do. A
model may write YAML or JSON itself; the signs here are ones it would not hit on.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.events import Event, Problem
from loopcli.lenient_json import member, objects
from loopcli.readers.base import Origin, Reader
from loopcli.readers.framings.text import TextReader
from loopcli.signatures import GZIP, HTTPRR, ZSTD

# An AWS event stream frame: its length (short), the length of its headers, a
# checksum, and the first header's name with its length before it.
_AWS = rb"\x00[\s\S]{12}:(event|message|content|exception)-type"
_VCR = re.compile(
    rb"(---\r?\n)?(version: \d+\r?\n)?(http_)?interactions:\r?\n *- *(request|id|uri)"
)
_VCR_START = (b"---", b"version:", b"interactions:", b"http_interactions:")
_CHUNK_SIZE = rb'[0-9a-fA-F]{1,8}\r\n(data:|event:|id:|: |\{"|\[\{)'
_HEX_LINE = rb"[0-9a-fA-F]{1,8}(\r(\n[a-z:{\[]{0,5})?)?"
_HEX = b"0123456789abcdefABCDEF"
_LONGEST_SIGN = 128


def not_a_stream(head: bytes, *, final: bool) -> str | None:
    """Return why a beginning is no stream; empty if it may be one, ``None`` if not yet known.

    >>> not_a_stream(bytes([31, 139, 8]), final=False)
    'compressed data (gzip): ask curl to undo it with --compressed'
    """
    head = head[:_LONGEST_SIGN]
    final = final or len(head) >= _LONGEST_SIGN
    for magic, name in ((GZIP, "gzip"), (ZSTD, "zstd")):
        if head.startswith(magic):
            return f"compressed data ({name}): ask curl to undo it with --compressed"
    if head.startswith(HTTPRR):
        return "not a stream: an httprr recording; give it the body of one response"
    if head.startswith(_VCR_START) and re.match(_VCR, head):
        return "not a stream: a VCR cassette; give it the body of one response"
    if head.startswith(b"\x00") and re.match(_AWS, head):
        return "not a stream of text: binary AWS event stream frames (Bedrock), which are not read"
    hexadecimal = head[:1] in _HEX
    if hexadecimal and re.match(_CHUNK_SIZE, head):
        return "the sizes of HTTP chunks stand between the data: leave out curl's --raw"
    if final:
        return ""
    begun = (GZIP, ZSTD, HTTPRR)
    if any(sign.startswith(head) for sign in begun) or head.startswith(b"\x00"):
        return None
    if hexadecimal and re.fullmatch(_HEX_LINE, head):
        return None
    if any(sign.startswith(head) or head.startswith(sign) for sign in _VCR_START):
        return None if head.count(b"\n") < 4 else ""
    return ""


_HAR = re.compile(
    rb'\{\s*"log"\s*:\s*\{\s*"(_recordingName|version|creator|entries|browser|pages)"'
)
_NOCK = rb'\{\s*"scope"\s*:\s*"https?:'
_HAR_FILE = "not a stream: a HAR file; give it the content of one response"
_NOCK_FILE = "not a stream: a nock recording; give it the text of one response"


def foreign_beginning(head: bytes) -> str:
    """Return what an object is that holds recordings and is too long to be read whole."""
    return _HAR_FILE if re.match(_HAR, head) else _NOCK_FILE if re.match(_NOCK, head) else ""


def foreign_document(doc: Any) -> str:
    """Return what a JSON document is that holds recordings or is of a format we know not to read.

    >>> foreign_document({"log": {"entries": [], "creator": {}}})
    'not a stream: a HAR file; give it the content of one response'
    """
    if isinstance(member(doc, "log", "entries"), list) or member(doc, "log", "creator"):
        return _HAR_FILE
    if isinstance(doc, list):
        doc = next(iter(objects(doc)), None)
    if isinstance(doc, dict):
        if {"scope", "method", "path"} <= doc.keys():
            return _NOCK_FILE
        if "messageStart" in doc or "contentBlockDelta" in doc:
            return "an unknown format: Bedrock converse events, which are not read"
    return ""


class RefusingReader:
    """Reads nothing: states the problem once."""

    name = "unknown"
    framing = "none"
    progress = 0

    def __init__(self, message: str, origin: Origin) -> None:
        self._problem: list[Event] = [Problem(message, origin.line + 1, origin.byte)]

    def feed(self, data: bytes) -> list[Event]:
        """Return the problem, the first time."""
        told, self._problem = self._problem, []
        return told

    def close(self) -> list[Event]:
        """Return the problem, if it was not told yet."""
        return self.feed(b"")


def plain(dialect: str, origin: Origin) -> Reader:
    """Return the reader for what is text, unless something else was asked for."""
    if dialect:
        return RefusingReader(f"no stream of {dialect}: neither events nor JSON", origin)
    return TextReader(origin)
