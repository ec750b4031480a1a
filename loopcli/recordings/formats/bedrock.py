"""Amazon's binary event stream, as Bedrock sends it and recorders keep it.

Source: the vnd.amazon.eventstream framing (u32 total length, u32 header
length, u32 CRC of those two, headers, payload, u32 CRC) and recordings of
``converse-stream`` and ``invoke-with-response-stream``. Rules:

- The second kind wraps a provider's own documents in base64; they are passed on
  unchanged.
- Some logs keep the payloads of the first kind as JSON Lines, each under its name.
- The first kind has the content of Anthropic's stream under other names. It is
  translated, so that one reader suffices. Its padding ``p`` is ignored.
"""

from __future__ import annotations

import binascii
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from loopcli.recordings.base import Defect, Item, dump, parse_document
from loopcli.recordings.formats import stream

_PRELUDE = struct.Struct(">III")
_CRC = 4
# A string header: its name, the type 7, a u16 length, the value.
_EVENT_TYPE = re.compile(rb":(?:event|exception)-type\x07(..)", re.DOTALL)


def is_event_stream(raw: bytes) -> bool:
    """Return whether ``raw`` begins with a frame whose checksum is right."""
    if len(raw) < _PRELUDE.size:
        return False
    total, headers, crc = _PRELUDE.unpack_from(raw)
    return bool(total > headers + _PRELUDE.size and zlib.crc32(raw[:8]) == crc)


def read(raw: bytes) -> Iterator[Item]:
    """Yield the reply that the frames in ``raw`` bring."""
    lines: list[bytes] = []
    at = 0
    while is_event_stream(raw[at : at + _PRELUDE.size]):
        total, headers, _ = _PRELUDE.unpack_from(raw, at)
        if at + total > len(raw):
            break
        begin = at + _PRELUDE.size
        payload = raw[begin + headers : at + total - _CRC]
        lines += _documents(_name(raw[begin : begin + headers]), _parsed(payload))
        at += total
    yield from stream.body(b"\n".join(lines) + b"\n") or ()
    if at < len(raw):
        yield Defect("a frame of the event stream is damaged or cut short", f"byte {at}")


def is_document(doc: object) -> bool:
    """Return whether a document is the payload of a frame under its name."""
    return isinstance(doc, dict) and len(doc) == 1 and next(iter(doc)) in _TRANSLATED


def read_lines(raw: bytes) -> Iterator[Item]:
    """Yield the reply that payloads in JSON Lines bring."""
    lines: list[bytes] = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        try:
            doc = parse_document(line) if line.strip() else None
        except ValueError as error:
            yield Defect(f"not JSON: {error}", f"line {number}")
            continue
        for name, payload in doc.items() if isinstance(doc, dict) else ():
            lines += _documents(name, payload)
    yield from stream.body(b"\n".join(lines) + b"\n") or ()


def _name(headers: bytes) -> str:
    header = _EVENT_TYPE.search(headers)
    if not header:
        return ""
    (size,) = struct.unpack(">H", header[1])
    return headers[header.end() : header.end() + size].decode("ascii", "replace")


def _parsed(payload: bytes) -> object:
    try:
        return parse_document(payload)
    except ValueError:
        return None


def _documents(name: str, doc: object) -> Iterator[bytes]:
    if not isinstance(doc, dict):
        return
    wrapped = doc.get("bytes")
    if isinstance(wrapped, str):
        try:
            yield binascii.a2b_base64(wrapped).replace(b"\n", b" ")
        except binascii.Error:
            return
        return
    translated = _TRANSLATED.get(name)
    if translated is not None:
        yield dump(translated(doc))
    elif name.lower().endswith("exception"):
        error = {"type": name, "message": str(doc.get("message"))}
        yield dump({"type": "error", "error": error})


def _begin(_: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": []}
    return {"type": "message_start", "message": message}


def _open(doc: dict[str, Any]) -> dict[str, Any]:
    start = doc.get("start")
    tool = start.get("toolUse") if isinstance(start, dict) else None
    block: dict[str, Any] = {"type": "text", "text": ""}
    if isinstance(tool, dict):
        block = {"type": "tool_use", "id": tool.get("toolUseId"), "name": tool.get("name")}
    index = doc.get("contentBlockIndex", 0)
    return {"type": "content_block_start", "index": index, "content_block": block}


def _continue(doc: dict[str, Any]) -> dict[str, Any]:
    delta = doc.get("delta")
    delta = delta if isinstance(delta, dict) else {}
    translated: dict[str, Any] = {"type": "signature_delta"}
    if isinstance(delta.get("text"), str):
        translated = {"type": "text_delta", "text": delta["text"]}
    elif isinstance(delta.get("reasoningContent"), dict):
        translated = {
            "type": "thinking_delta",
            "thinking": delta["reasoningContent"].get("text", ""),
        }
    elif isinstance(delta.get("toolUse"), dict):
        translated = {"type": "input_json_delta", "partial_json": delta["toolUse"].get("input", "")}
    index = doc.get("contentBlockIndex", 0)
    return {"type": "content_block_delta", "index": index, "delta": translated}


def _stop(doc: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": doc.get("stopReason")}}


def _end(_: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message_stop"}


_TRANSLATED = {
    "messageStart": _begin,
    "contentBlockStart": _open,
    "contentBlockDelta": _continue,
    "messageStop": _stop,
    "metadata": _end,
}
