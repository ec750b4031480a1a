"""Conversations as lists of messages: the assistant's turns are the replies.

Source: OpenAI's and Anthropic's message lists, fine-tuning files, and the
wrappers that evaluations put around them (tau-bench's ``traj``, arena-hard's
content ``{"answer": …}``). Rules:

- Each turn of the assistant is a reply of its own. No other turn is read: not the
  user's, not the system's, not a tool's result.
- A turn that is not just a string is read as an answer of the API it came from, so
  that reasoning and tool arguments are lanes, as they are in a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.events import Lane
from loopcli.lenient_json import string
from loopcli.recordings.base import Item, Reply, dump, marked
from loopcli.recordings.formats import stream

LISTS = ("messages", "traj")
_SPEAKERS = frozenset({"assistant", "model", "ai"})
# Members other than the content that hold words of the model.
_MORE = ("tool_calls", "function_call", "reasoning_content", "reasoning", "reasoning_details")
_WRAPPED = ("answer", "text", "content")
# Types of blocks that only Anthropic's lists have.
_BLOCKS = frozenset({"thinking", "redacted_thinking", "tool_use", "server_tool_use"})


def claims(doc: object) -> bool:
    """Return whether ``doc`` is a conversation, or holds one."""
    return _turns(doc) is not None


def replies(doc: object) -> Iterator[Item]:
    """Yield the assistant's turns of a conversation."""
    for turn in _turns(doc) or ():
        yield from marked(reply(turn), doc)


def _turns(doc: object) -> list[Any] | None:
    if isinstance(doc, dict):
        doc = next((doc[name] for name in LISTS if isinstance(doc.get(name), list)), None)
    if isinstance(doc, list) and any(isinstance(turn, dict) and "role" in turn for turn in doc):
        return doc
    return None


def reply(turn: object) -> Iterator[Item]:
    """Yield the reply in a turn of the model; nothing for the turn of another speaker."""
    if not isinstance(turn, dict) or string(turn.get("role")) not in _SPEAKERS:
        return
    content = turn.get("content")
    if isinstance(content, dict):
        content = next((content[key] for key in _WRAPPED if isinstance(content.get(key), str)), "")
    if isinstance(content, str) and not any(turn.get(key) for key in _MORE):
        yield Reply([(Lane(), [content])] if content else [])
        return
    yield from stream.body(dump(_as_answer(turn, content))) or [Reply([])]


def _as_answer(turn: dict[str, Any], content: object) -> dict[str, Any]:
    """Return the turn in the shape of a response body of its API."""
    if isinstance(turn.get("parts"), list):
        return {"candidates": [{"content": {"role": "model", "parts": turn["parts"]}}]}
    if isinstance(content, list) and any(
        isinstance(block, dict) and string(block.get("type")) in _BLOCKS for block in content
    ):
        return {"type": "message", "role": "assistant", "content": content}
    message = {**turn, "role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice]}
