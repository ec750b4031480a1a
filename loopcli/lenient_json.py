"""JSON as models and servers really send it: lone surrogates, NaN, great integers."""

from __future__ import annotations

from typing import Any

import orjson

from loopcli.errors import reason


def parse(raw: bytes) -> Any:
    """Return the document that ``raw`` is; raises ``ValueError`` if it is none.

    orjson refuses lone surrogates and NaN, which models and servers do send;
    the standard library takes them.
    """
    try:
        return orjson.loads(raw)
    except ValueError:
        import json  # slow to import and seldom needed

        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise ValueError(reason(error)) from error


def dump(doc: object) -> str:
    """Return a document as JSON text, whatever ``parse`` let in."""
    try:
        return orjson.dumps(doc).decode("utf-8")
    except (TypeError, ValueError):
        import json

        try:
            return json.dumps(doc, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return "{}"
