"""JSON as models and servers really send it, and careful access to what it holds.

Foreign documents hold lone surrogates, NaN and integers beyond 64 bits, and any
member may have any type. Nothing here fails for such a document: a member of the
wrong type counts as missing.
"""

from __future__ import annotations

from collections.abc import Callable
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
