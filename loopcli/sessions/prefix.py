"""Reads the beginning of a JSON document that is not all there."""

from __future__ import annotations

import re
from typing import Any

from loopcli.lenient_json import parse

# A string that does not end takes all that is left, so that a search is linear.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\Z)|[{}\[\],]', re.DOTALL)
_CLOSERS = {b"{": b"}", b"[": b"]"}
# No session's head is nested like this, and each level costs a closer per comma.
_MAX_DEPTH = 128


def parse_beginning(head: bytes) -> Any:
    """Return what of a document ``head`` holds, its open objects and arrays closed.

    The member or item that ``head`` ends in is left out. Raises ``ValueError``
    if this is not how a JSON document begins.

    >>> parse_beginning(b'{"info": {"id": 1, "na'), parse_beginning(b'[{"a": []}, [1, 2')
    ({'info': {'id': 1}}, [{'a': []}, [1]])
    """
    stack: list[bytes] = []
    end, closers = 0, b""
    for match in _TOKEN.finditer(head):
        token = match[0]
        if token in _CLOSERS:
            stack.append(_CLOSERS[token])
            if len(stack) > _MAX_DEPTH:
                raise ValueError("nested too deeply")
        elif token == b",":
            # What stands before a comma is complete.
            end, closers = match.start(), b"".join(reversed(stack))
            continue
        elif stack and token == stack[-1]:
            stack.pop()
        else:
            continue
        end, closers = match.end(), b"".join(reversed(stack))
        if not stack:
            break
    return parse(head[:end] + closers)
