"""JSON records that hold a reply in some member.

Every evaluation names that member differently. The first member below with a
readable value is used, unless the user named one. Rules:

- A string is a reply; in a list of strings (several samples) each is one.
- A list of messages yields the assistant's turns. A list of content blocks is one
  turn. An object is an API's answer, or wraps a string.
- A record of another speaker (a user's turn, an environment's observation) yields
  nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.events import Lane
from loopcli.recordings.base import Item, Reply, dump, marked
from loopcli.recordings.formats import messages, stream

FIELDS = ("text", "output", "completion", "content", "response", "messages")
# Beside one of these, ``messages`` is the conversation before the reply.
BESIDE_MESSAGES = FIELDS[:-1]
_WRAPPED = ("answer", "text", "content", "output")
_OTHERS = frozenset({"user", "human", "system", "developer", "tool", "function", "environment"})


def replies(doc: object, field: str | None = None) -> list[Item] | None:
    """Return the replies of a record; ``None`` if no member holds any.

    >>> [r.lanes[0][1] for r in replies({"id": 3, "output": "It rains."})]
    [['It rains.']]
    """
    if not isinstance(doc, dict):
        return None
    if field is not None:
        items = _read(_inside(doc, field))
    elif not _OTHERS.isdisjoint(_speakers(doc)):
        return []
    else:
        items = next(filter(None, (_read(doc.get(name)) for name in FIELDS)), None)
    return None if items is None else list(marked(items, doc))


def _speakers(doc: dict[str, Any]) -> Iterator[str]:
    for name in ("role", "source", "type", "from"):
        if isinstance(doc.get(name), str):
            yield doc[name]


def _inside(doc: object, field: str) -> object:
    if isinstance(doc, dict):
        if field in doc:
            return doc[field]
        first, _, rest = field.partition(".")
        return _inside(doc.get(first), rest) if rest else None
    return None


def _read(value: object) -> list[Item] | None:
    if isinstance(value, str):
        return [Reply([(Lane(), [value])])]
    if isinstance(value, list) and value:
        return _read_list(value)
    if isinstance(value, dict):
        if "role" in value:
            return list(messages.reply(value)) or None
        wrapped = next((value[key] for key in _WRAPPED if isinstance(value.get(key), str)), None)
        return stream.body(dump(value)) or _read(wrapped)
    return None


def _read_list(value: list[Any]) -> list[Item] | None:
    if all(isinstance(item, str) for item in value):
        return [Reply([(Lane(), [item])]) for item in value]
    if messages.claims(value):
        items = [item for item in value if isinstance(item, dict)]
        if any(item.get("type") == "message" for item in items):  # items of OpenAI's Responses
            return stream.body(dump({"object": "response", "output": value}))
        return list(messages.replies(value))
    if stream.speaks(dump(value[0])):  # an answer's chunks
        return stream.body(dump(value))
    if all(isinstance(item, dict) and "type" in item for item in value):
        return list(messages.reply({"role": "assistant", "content": value}))
    return None
