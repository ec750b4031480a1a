"""Logs of requests to a model's API, one a line: each repeats the whole conversation.

Source: requests of four agents as a proxy logs them, ``{"path", "headers",
"body"}`` a line, in the forms of four APIs. Only what a request has beyond the
one before it is new; where two requests part, the second is another
conversation from there on. Marks that a client moves about (``cache_control``)
do not count as a difference.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from loopcli.lenient_json import dump_text, member, objects, string
from loopcli.sessions.base import text_of
from loopcli.sessions.codex import CodexRollout
from loopcli.sessions.collector import SessionCollector
from loopcli.sessions.messages import MessageList

# Messages of a request that are compared; what is beyond them is not read.
_MAX_MESSAGES = 64 * 1024


class RequestLog(MessageList):
    """Reads requests: the messages that are new in each."""

    name = "request-log"

    def __init__(self) -> None:
        super().__init__()
        self._before: list[bytes] = []
        self._responses = CodexRollout()

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a request has beyond the one before it."""
        body = member(doc, "body")
        if not isinstance(body, dict):
            body = member(doc, "request", "body")
        for name, read in (
            ("messages", self._message),
            ("contents", self._content),
            ("input", self._item),
        ):
            items = objects(member(body, name))[:_MAX_MESSAGES]
            if items:
                prints = [_print(item) for item in items]
                same = _common(prints, self._before)
                self._before = prints
                for item in items[same:]:
                    read(item, out)

    def _item(self, item: dict[str, Any], out: SessionCollector) -> None:
        self._responses.take(item, out)

    def _content(self, content: dict[str, Any], out: SessionCollector) -> None:
        """Add a content of Gemini's API."""
        parts = objects(content.get("parts"))
        if content.get("role") == "model":
            texts = [part for part in parts if isinstance(part.get("text"), str)]
            calls = [
                {"function": {"name": call.get("name"), "arguments": call.get("args")}, **call}
                for part in parts
                if isinstance(call := part.get("functionCall"), dict)
            ]
            said = [part["text"] for part in texts if not part.get("thought")]
            thought = [part["text"] for part in texts if part.get("thought")]
            message = {"role": "assistant", "content": "".join(said), "tool_calls": calls}
            self._message({**message, "reasoning": "".join(thought)}, out)
            return
        for part in parts:
            answer = part.get("functionResponse")
            if isinstance(answer, dict):
                out.result(string(answer.get("id")), text_of(answer.get("response")))
        text = "\n".join(string(part.get("text")) for part in parts if part.get("text"))
        if text:
            out.user(text)


def _common(one: list[bytes], other: list[bytes]) -> int:
    """Return how many members two lists have in common at their beginning."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _print(item: dict[str, Any]) -> bytes:
    content = item.get("content")
    if isinstance(content, list):
        blocks = [
            {key: value for key, value in block.items() if key != "cache_control"}
            if isinstance(block, dict)
            else block
            for block in content
        ]
        item = {**item, "content": blocks}
    return blake2b(dump_text(item).encode("utf-8", "surrogatepass"), digest_size=16).digest()
