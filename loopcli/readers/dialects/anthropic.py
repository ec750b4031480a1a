"""Anthropic Messages: events by type, or one message.

Source: the Messages API and recordings of it, of proxies and of SDK logs that
hold the same objects one a line. Rules:

- Each content block is a lane of its own, by its ``index``.
- ``text``, ``thinking`` and tool input are judged. Signatures, redacted thinking,
  citations and the results of server-side tools are not.
- A ``message_start`` after another begins a new attempt: proxies splice one in
  when they try again.
- ``message_delta`` holds the stop reason and the output tokens, ``message_stop`` ends
  the message.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane
from loopcli.lenient_json import count, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

# The place of the text in a delta, by the delta's type.
_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_TOOLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class AnthropicDialect(ProviderDialect):
    """Understands the events of a message, and whole messages."""

    name = "anthropic"

    def __init__(self) -> None:
        super().__init__()
        self._usage: dict[str, Any] = {}
        self._begun = False

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a content_block_delta."""
        delta = doc["delta"]
        kind = delta["type"]
        if doc["type"] != "content_block_delta" or type(doc["index"]) is not int:
            return None
        return self._targets[kind, doc["index"]], delta, _TEXTS[kind]

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        match doc.get("type", "completion"):
            case "content_block_delta":
                self._delta(count(doc.get("index")), doc.get("delta"), end, out)
            case "content_block_start":
                self._block(count(doc.get("index")), doc.get("content_block"), end, out)
            case "message_start":
                self._start(doc.get("message"), end, out)
            case "message_delta":
                self._use(doc.get("usage"), end, out)
                self._finish(member(doc, "delta", "stop_reason"), out)
            case "message_stop":
                out.add_event(Done())
            case "completion":
                self._completion(doc, end, out)
            case "message":
                self._start(doc, end, out)
                for index, block in enumerate(objects(doc.get("content"))):
                    self._block(index, block, end, out)
                self._finish(doc.get("stop_reason"), out)

    def _completion(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        """Read a text completion; the oldest version sends the whole text so far."""
        self._meta.update(out, doc.get("id"), doc.get("model"))
        text = string(doc.get("completion"))
        if text:
            out.add_delta(Lane(), text, end)
        if string(doc.get("stop_reason")):
            self._finish(doc["stop_reason"], out)
            out.add_event(Done())

    def _start(self, message: object, end: int, out: Collector) -> None:
        if self._begun:
            self.restart(out)
            self._usage = {}
        self._begun = True
        self._meta.update(out, member(message, "id"), member(message, "model"))
        self._use(member(message, "usage"), end, out)

    def _use(self, usage: object, end: int, out: Collector) -> None:
        if isinstance(usage, dict) and usage:
            # message_start counts the input, message_delta the output.
            self._usage |= {key: value for key, value in usage.items() if value is not None}
            out.add_usage(dict(self._usage), end)

    def _finish(self, reason: object, out: Collector) -> None:
        if reason and isinstance(reason, str):
            out.add_event(Finish(0, reason))

    def _block(self, index: int, block: object, end: int, out: Collector) -> None:
        """Read the beginning of a block, or a whole one; the text in it counts in both cases."""
        if not isinstance(block, dict):
            return
        kind = string(block.get("type"))
        if kind in _TOOLS:
            name, ident = string(block.get("name")), string(block.get("id"))
            call = self._calls.open(out, 0, index, name, ident, end)
            self._know(("input_json_delta", index), call)
            self._calls.add_whole(out, 0, index, block.get("input"), end)
        elif kind in ("text", "thinking"):
            self._add_text(index, kind, block.get(kind), end, out)

    def _delta(self, index: int, delta: object, end: int, out: Collector) -> None:
        if not isinstance(delta, dict):
            return
        match delta.get("type"):
            case "text_delta":
                self._add_text(index, "text", delta.get("text"), end, out)
            case "thinking_delta":
                self._add_text(index, "thinking", delta.get("thinking"), end, out)
            case "input_json_delta":
                self._calls.add_fragment(out, 0, index, string(delta.get("partial_json")), end)

    def _add_text(self, index: int, kind: str, text: object, end: int, out: Collector) -> None:
        if text and isinstance(text, str):
            channel = Channel.REASONING if kind == "thinking" else Channel.CONTENT
            lane = Lane(channel, 0, index)
            self._know((f"{kind}_delta", index), lane)
            out.add_text(lane, text, end)
