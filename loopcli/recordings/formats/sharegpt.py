"""ShareGPT's conversations: ``{"from": …, "value": …}``.

A ``function_call`` is a turn of the model, too; its value is the JSON of the call.
An ``observation`` is a tool's result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.lenient_json import string
from loopcli.recordings.base import Item, marked
from loopcli.recordings.formats import messages

_LISTS = ("conversations", "conversation", "items")
_SPEAKERS = frozenset({"gpt", "assistant", "model", "chatgpt", "bot", "bing", "bard"})


def claims(doc: object) -> bool:
    """Return whether ``doc`` is such a conversation, or holds one."""
    return _turns(doc) is not None


def replies(doc: object) -> Iterator[Item]:
    """Yield the model's turns."""
    for turn in _turns(doc) or ():
        if isinstance(turn, dict) and isinstance(turn.get("value"), str):
            yield from marked(messages.reply(_as_message(turn)), doc)


def _turns(doc: object) -> list[Any] | None:
    if isinstance(doc, dict):
        doc = next((doc[name] for name in _LISTS if isinstance(doc.get(name), list)), None)
    if isinstance(doc, list) and any(
        isinstance(t, dict) and {"from", "value"} <= t.keys() for t in doc
    ):
        return doc
    return None


def _as_message(turn: dict[str, Any]) -> dict[str, Any]:
    speaker, value = turn.get("from"), turn["value"]
    if speaker == "function_call":
        call = {"type": "function", "function": {"name": "", "arguments": value}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant" if string(speaker) in _SPEAKERS else "user", "content": value}
