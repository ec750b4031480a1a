"""Streams and files that somebody has damaged, or has written to do damage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

# Where a server has text, a number, an object: what may stand there instead.
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 1e308, 10**30, "", "x", "\ud83d", "\x00\x1b]0;x\x07", [], {}),
    *([[]], [None], {"": {}}, {"error": {}}, {"error": "no"}, ["text"], {"text": "hi"}, "error"),
]
_BYTES = [
    *(b"null", b"{}", b"[]", b'"x"', b"1e999", b"NaN", b"-Infinity", b"true", b"\n\n", b"\r", b","),
    *(b"data: ", b"data: [DONE]\n\n", b"event: ping\n", b": hi\n", b"\0", b"\xff", b"\xf0\x9f"),
    *(b'"error":{"message":"no"},', b'"object":"error",', b"\\u", b'"', b"}", b"[" * 30, b"\x1c"),
    *(b'{"a":' * 1200, b"[" * 1100, b'data: "text"\n\n', b'"a ping"\n', b"HTTP/1.1 200 OK\r\n\r\n"),
]


def mutated(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """Return ``data`` with some bytes, or some members of its documents, changed."""
    for _ in range(random.randint(1, 5)):
        data = _members(data, random) if random.random() < 0.5 else _bytes(data, random, others)
    return data


def _bytes(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    start = random.randrange(len(data) + 1)
    stop = min(len(data), start + random.choice((1, 3, 40, 300)))
    match random.randrange(6):
        case 0:
            middle = b""
        case 1:
            middle = data[start:stop] * random.randint(2, 4)
        case 2:
            middle = bytes([random.randrange(256)]) + data[start + 1 : stop]
        case 3:
            other = random.choice(others) if others else data
            at = random.randrange(len(other) + 1)
            middle = other[at : at + random.randint(1, 600)] + data[start:stop]
        case 4:
            return data[:start] if random.random() < 0.3 else data
        case _:
            middle = random.choice(_BYTES) + data[start:stop]
    return data[:start] + middle + data[stop:]


def _members(data: bytes, random: Random) -> bytes:
    """Change the document on one line, or that the whole file is."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    head, brace, rest = lines[at].partition(b"{")
    try:
        document = json.loads(brace + rest)
    except (ValueError, RecursionError):
        return data
    node, path = document, []
    while isinstance(node, dict | list) and node and (not path or random.random() < 0.75):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        path.append((node, random.choice(keys)))
        node = node[path[-1][1]]
    if path:
        parent, key = path[-1]
        match random.randrange(5):
            case 0:
                parent[key] = [node, node]
            case 1 if isinstance(parent, dict):
                parent[random.choice(["error", "type", "index", "content", "object", "x"])] = node
            case 2:
                del parent[key]
            case _:
                parent[key] = random.choice(ODD)
    try:
        lines[at] = head + json.dumps(document).encode()
    except (ValueError, RecursionError):
        return data
    return b"\n".join(lines)


def cuts(data: bytes, random: Random) -> list[int]:
    """Return the sizes of the reads of an input, small and large ones."""
    sizes, rest = [], len(data)
    widest = random.choice((1, 3, 20, 400, 5000))
    while rest > 0:
        sizes.append(random.randint(1, rest if random.random() < 0.1 else widest))
        rest -= sizes[-1]
    return sizes
