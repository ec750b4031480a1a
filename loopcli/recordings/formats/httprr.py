"""Recordings of Go's httprr package: requests and responses as they were sent.

Source: the format's first line ``httprr trace v1``, then for each exchange a
line with two lengths in bytes, the request, the response. Rules:

- The request is skipped unread.
- A response has an HTTP/1.1 head; its body may be in chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopcli.recordings.base import Defect, Item, within
from loopcli.recordings.formats import bodies
from loopcli.signatures import HTTPRR

MAGIC = HTTPRR + b"\n"
_LENGTHS = re.compile(rb"(\d+) (\d+)\r?\n")
_BLANK = re.compile(rb"\r?\n\r?\n")
_CHUNKED = re.compile(rb"^transfer-encoding:.*\bchunked\b", re.IGNORECASE | re.MULTILINE)
_CHUNK_SIZE = re.compile(rb"\s*([0-9a-fA-F]+)[^\n]*\n")


def replies(raw: bytes) -> Iterator[Item]:
    """Yield the replies in the responses of the recording that ``raw`` is."""
    at, number = len(MAGIC), 0
    while at < len(raw):
        number += 1
        place = f"exchange {number}"
        lengths = _LENGTHS.match(raw, at)
        if not lengths:
            yield Defect("two lengths are missing here", f"{place}, byte {at}")
            return
        begin = lengths.end() + int(lengths[1])
        at = begin + int(lengths[2])
        yield from within(bodies.replies(_body(raw[begin:at])), place)
        if at > len(raw):
            yield Defect("the recording is cut short", place)


def _body(response: bytes) -> bytes:
    blank = _BLANK.search(response)
    if not blank:
        return b""
    head, body = response[: blank.start()], response[blank.end() :]
    return b"".join(_chunks(body)) if _CHUNKED.search(head) else body


def _chunks(body: bytes) -> Iterator[bytes]:
    at = 0
    while size := _CHUNK_SIZE.match(body, at):
        length = int(size[1], 16)
        if not length:
            return
        yield body[size.end() : size.end() + length]
        at = size.end() + length
