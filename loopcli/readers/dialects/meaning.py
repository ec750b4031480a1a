"""Whether a document of a stream says anything: pings do not, and some words are not the model's.

The tables hold names that several providers use; none is of one dialect.
"""

from __future__ import annotations

from typing import Any

from loopcli.lenient_json import string

_PINGS = frozenset({"ping", "heartbeat", "keepalive", "keep-alive", "keep_alive"})
# The members that say which kind of document it is, and those beside them in a ping.
_KINDS = ("type", "event", "event_type", "object", "status")
_BESIDE = frozenset({*_KINDS, "timestamp", "time", "ts", "cost", "id", "seq", "sequence"})
# Members that hold the words of a reply in one API or another.
_WORDS = frozenset(
    (
        *("text", "content", "delta", "completion", "answer", "output", "generated_text"),
        *("reasoning", "thinking", "arguments", "diff", "transcript", "token"),
    )
)
# Members that hold what the model was given, and what a tool returned.
_GIVEN = frozenset(
    (
        *("input", "instructions", "tools", "prompt", "context", "metadata", "usage", "error"),
        *("citations", "search_results", "results", "logprobs"),
    )
)
_OTHER_ROLES = frozenset({"user", "system", "developer", "tool"})
_MAX_DEPTH = 8


def is_ping(doc: dict[str, Any]) -> bool:
    """Return whether a document only keeps the connection open.

    >>> is_ping({"type": "ping"}), is_ping({}), is_ping({"type": "ping", "text": "Hi"})
    (True, True, False)
    """
    kinds = [string(doc.get(key)).lower() for key in _KINDS]
    return not doc or (not doc.keys() - _BESIDE and any(kind in _PINGS for kind in kinds))


def has_words(doc: object, depth: int = 0) -> bool:
    """Return whether a document holds text that a model may have written.

    >>> has_words({"choices": [{"text": "Hi"}]}), has_words({"id": "a", "status": "running"})
    (True, False)
    """
    if depth > _MAX_DEPTH:
        return False
    if isinstance(doc, list):
        return any(has_words(item, depth + 1) for item in doc)
    if not isinstance(doc, dict) or string(doc.get("role")) in _OTHER_ROLES:
        return False
    return any(
        (key in _WORDS and bool(string(value).strip())) or has_words(value, depth + 1)
        for key, value in doc.items()
        if key not in _GIVEN
    )
