"""nock's recordings: a JSON list of ``{scope, method, path, status, response}``.

The response is a string, a parsed document or, if it was binary, one or several
strings of hexadecimal digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from loopcli.recordings.base import Item, within
from loopcli.recordings.formats import bodies

_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


def claims(doc: object) -> bool:
    """Return whether ``doc`` is such a list."""
    return isinstance(doc, list) and any(
        isinstance(item, dict)
        and "response" in item
        and ("scope" in item or {"method", "path"} <= item.keys())
        for item in doc
    )


def replies(doc: list[Any]) -> Iterator[Item]:
    """Yield the replies in the responses."""
    for number, item in enumerate(doc, 1):
        if isinstance(item, dict):
            body = _body(item.get("response"), binary=item.get("responseIsBinary") is True)
            yield from within(bodies.replies(body), f"call {number}")


def _body(response: object, *, binary: bool) -> object:
    pieces: list[Any] = response if isinstance(response, list) else [response] if binary else []
    if pieces and all(isinstance(piece, str) and _HEX.fullmatch(piece) for piece in pieces):
        return bytes.fromhex("".join(pieces))
    return response
