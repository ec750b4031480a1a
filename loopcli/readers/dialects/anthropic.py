"""Anthropic Messages: events by type, or one message.

Source: the Messages API and recordings of it, of proxies and of SDK logs that
hold the same objects one a line. Rules:

- Each content block is a lane of its own, by its ``index``.
- Judged are ``text``, ``thinking`` and tool input. Signatures, redacted
  thinking, citations and the results of server-side tools are not the model's.
- A ``message_start`` after another begins a new attempt: proxies splice one in
  when they try again.
- ``message_delta`` tells the stop reason and the output tokens, ``message_stop``
  ends the message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, Restart, Usage
from loopcli.readers.base import Described, Frame, WholeDocuments, member, number, objects, string
from loopcli.readers.calls import Calls
from loopcli.readers.collector import Collector
from loopcli.readers.errors import ordinary

_TOOLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class AnthropicDialect(WholeDocuments):
    """Understands message_start, content_block_delta and their kin, and whole messages."""

    name = "anthropic"

    def __init__(self) -> None:
        self._described = Described()
        self._calls = Calls()
        self._usage: dict[str, Any] = {}
        self._begun = False

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add what the documents say."""
        for frame in frames:
            doc = ordinary(frame, out)
            if doc is not None:
                self._take(doc, frame[1], out)
            if out.stopped:
                return

    def close(self, out: Collector) -> None:
        """Add the assembled tool calls."""
        self._calls.close(out)

    def _take(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        match doc.get("type"):
            case "content_block_delta":
                self._delta(number(doc.get("index")), doc.get("delta"), end, out)
            case "content_block_start":
                self._block(number(doc.get("index")), doc.get("content_block"), end, out)
            case "message_start":
                self._start(doc.get("message"), out)
            case "message_delta":
                self._use(doc.get("usage"), out)
                self._finish(member(doc, "delta", "stop_reason"), out)
            case "message_stop":
                out.add(Done())
            case "message":
                self._start(doc, out)
                for index, block in enumerate(objects(doc.get("content"))):
                    self._block(index, block, end, out)
                self._finish(doc.get("stop_reason"), out)

    def _start(self, message: object, out: Collector) -> None:
        if self._begun:
            out.restart()
            out.add(Restart())
            self._calls.restart()
            self._described = Described()
            self._usage = {}
        self._begun = True
        self._described.tell(out, member(message, "id"), member(message, "model"))
        self._use(member(message, "usage"), out)

    def _use(self, usage: object, out: Collector) -> None:
        if isinstance(usage, dict) and usage:
            # message_start counts the input, message_delta the output.
            self._usage |= {key: count for key, count in usage.items() if count is not None}
            out.add(Usage(dict(self._usage)))

    def _finish(self, reason: object, out: Collector) -> None:
        if reason and isinstance(reason, str):
            out.add(Finish(0, reason))

    def _block(self, index: int, block: object, end: int, out: Collector) -> None:
        """Take the beginning of a block, or all of one: what is in it counts either way."""
        if not isinstance(block, dict):
            return
        kind = string(block.get("type"))
        if kind in _TOOLS:
            self._calls.open(out, 0, index, string(block.get("name")), string(block.get("id")))
            self._calls.whole(out, 0, index, block.get("input"), end)
        elif kind in ("text", "thinking"):
            self._say(index, kind, block.get(kind), end, out)

    def _delta(self, index: int, delta: object, end: int, out: Collector) -> None:
        if not isinstance(delta, dict):
            return
        match delta.get("type"):
            case "text_delta":
                self._say(index, "text", delta.get("text"), end, out)
            case "thinking_delta":
                self._say(index, "thinking", delta.get("thinking"), end, out)
            case "input_json_delta":
                self._calls.add(out, 0, index, string(delta.get("partial_json")), end)

    def _say(self, index: int, kind: str, text: object, end: int, out: Collector) -> None:
        if text and isinstance(text, str):
            channel = Channel.REASONING if kind == "thinking" else Channel.CONTENT
            out.text(Lane(channel, 0, index), text, end)
