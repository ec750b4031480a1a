"""JSON as models and servers really send it, and careful access to what it holds.

Foreign documents hold lone surrogates, NaN and integers beyond 64 bits, and any
member may have any type. Nothing here fails for such a document: a member of the
wrong type counts as missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from loopcli.errors import reason


def parse(raw: bytes) -> Any:
    """Return the document in ``raw``; raises ``ValueError`` if it is not JSON.

    orjson refuses lone surrogates and NaN, which models and servers do send;
    the standard library accepts them.
    """
    try:
        return orjson.loads(raw)
    except ValueError:
        import json  # slow to import and seldom needed

        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise ValueError(reason(error)) from error


def dump(doc: object, default: Callable[[object], object] | None = None) -> bytes:
    """Return a document as compact JSON, including everything that ``parse`` accepts.

    ``default`` replaces a value that JSON has no type for. Raises
    ``RecursionError`` for a document that is nested too deep.
    """
    try:
        return orjson.dumps(doc, default=default, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):
        import json  # accepts lone surrogates and huge integers

        compact = (",", ":")
        return json.dumps(doc, default=default, skipkeys=True, separators=compact).encode("ascii")


def dump_text(doc: object) -> str:
    """Return a document as JSON text; an empty object if it is nested too deep."""
    try:
        return dump(doc).decode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return "{}"


def dump_line(record: object) -> bytes:
    """Return a record as one line of valid JSON, without its line end; never fails.

    What JSON cannot hold (NaN, infinities) and what is nested too deep becomes null.
    Characters that a terminal obeys or does not show are escaped.

    >>> dump_line({"cost": float("inf"), "id": chr(0x9B) + "2J"})
    b'{"cost":null,"id":"\\\\u009b2J"}'
    """
    try:
        line = orjson.dumps(record)
    except (TypeError, ValueError):  # a lone surrogate, a huge integer, deep nesting
        import json

        return json.dumps(_plain(record), separators=(",", ":")).encode("ascii")
    return harmless(line)


def harmless(raw: bytes) -> bytes:
    """Return JSON with the characters escaped that a terminal obeys or does not show."""
    return _UNSAFE.sub(_escape, raw) if _UNSAFE.search(raw) else raw


# Deeper documents become null. The standard library's own limit is near 1,000, less what
# stands on the stack already.
_DEEPEST = 200
# In UTF-8: DEL, the C1 controls, and what is invisible or changes the direction of text.
_UNSAFE = re.compile(
    rb"\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])|\xef\xbb\xbf"
)


def _escape(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(match[0].decode("utf-8"))


def _plain(value: object, depth: int = 0) -> object:
    """Return a value with everything replaced that JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    return str(value)


def string(value: object) -> str:
    """Return ``value`` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object, most: int | None = None) -> int:
    """Return a count from foreign data, or 0 if it is not one (or is above ``most``).

    >>> count(7), count(-1), count(True), count(7.0), count(7, most=5)
    (7, 0, 0, 0, 0)
    """
    if not isinstance(value, int) or value is True or value <= 0:
        return 0
    return value if most is None or value <= most else 0


# A larger amount is damage and not a cost; sums of smaller ones cannot overflow.
_LARGEST_AMOUNT = 1e12


def amount(value: object) -> float | None:
    """Return an amount of money from foreign data, or ``None`` if it is not one.

    >>> amount(0.25), amount(1e308), amount(float("nan")), amount("1")
    (0.25, None, None, None)
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) <= _LARGEST_AMOUNT else None


def member(doc: object, *path: str) -> Any:
    """Return the value at ``path`` in nested objects, or ``None`` if there is none.

    >>> member({"delta": {"message": {"text": "hi"}}}, "delta", "message", "text")
    'hi'
    """
    for key in path:
        if not isinstance(doc, dict):
            return None
        doc = doc.get(key)
    return doc


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; an empty list for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
