"""HAR: the traffic of a browser or a test (Polly.js), with the responses' bodies.

Source: HAR 1.2, and recordings of Polly.js, which keeps a compressed body as a
JSON list of base64 pieces. Requests are never read.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import Any

from loopcli.recordings.base import Defect, Item, parse_document, within
from loopcli.recordings.formats import bodies


def claims(doc: object) -> bool:
    """Return whether ``doc`` is a HAR log."""
    log = doc.get("log") if isinstance(doc, dict) else None
    return isinstance(log, dict) and isinstance(log.get("entries"), list)


def replies(doc: dict[str, Any]) -> Iterator[Item]:
    """Yield the replies in the responses."""
    for number, entry in enumerate(doc["log"]["entries"], 1):
        response = entry.get("response") if isinstance(entry, dict) else None
        content = response.get("content") if isinstance(response, dict) else None
        if isinstance(content, dict):
            yield from within(_read(content), f"entry {number}")


def _read(content: dict[str, Any]) -> Iterator[Item]:
    text = content.get("text")
    if not isinstance(text, str):
        return
    if content.get("encoding") != "base64":
        yield from bodies.replies(text)
        return
    try:
        pieces = parse_document(text.encode()) if text.startswith("[") else [text]
        body = b"".join(binascii.a2b_base64(piece) for piece in pieces)
    except (ValueError, TypeError) as error:
        yield Defect(f"the body is not valid base64: {error}")
        return
    yield from bodies.replies(body)
