"""Cohere: version 2 as SSE, version 1 as one object a line, and whole answers of both.

Source: Cohere's API reference and recordings of it and of gateways. Rules:

- Version 2: ``content-delta`` holds text or thinking, ``tool-plan-delta`` the prose
  before the calls (reasoning), ``tool-call-delta`` arguments. Citations are not judged.
- Version 1: ``text-generation`` holds text; ``stream-end`` repeats all of it.
  Search results, citations and the chat history are not judged.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane
from loopcli.lenient_json import count, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

# The tool plan precedes the content blocks, which count from 0.
_PLAN = Lane(Channel.REASONING, 0, 0, "")
_CONTENT = Lane()


class CohereDialect(ProviderDialect):
    """Understands message-start … message-end, stream-start … stream-end, and whole answers."""

    name = "cohere"

    def __init__(self) -> None:
        super().__init__()
        self._has_text = False

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a delta of either version."""
        if "event_type" in doc:
            return self._targets[doc["event_type"]], doc, "text"
        message = doc["delta"]["message"]
        if doc["type"] != "content-delta" or type(doc["index"]) is not int:
            return None
        content = message["content"]
        ((kind, _),) = content.items()
        return self._targets[kind, doc["index"]], content, kind

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        if "event_type" in doc:
            self._version_1(doc, end, out)
        elif string(doc.get("type")):
            self._version_2(doc, end, out)
        else:
            self._whole(doc, end, out)

    def _version_2(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        index = count(doc.get("index"))
        message = member(doc, "delta", "message")
        match doc["type"]:
            case "message-start":
                self._meta.update(out, doc.get("id"), "")
            case "content-start" | "content-delta":
                self._content(index, member(message, "content"), end, out)
            case "tool-plan-delta":
                self._add_text(_PLAN, member(message, "tool_plan"), end, out)
            case "tool-call-start" | "tool-call-delta":
                self._call(index, member(message, "tool_calls"), end, out)
            case "message-end":
                delta = doc.get("delta")
                self._end(member(delta, "finish_reason"), member(delta, "usage"), end, out)

    def _version_1(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        match doc["event_type"]:
            case "stream-start":
                self._meta.update(out, doc.get("generation_id"), "")
            case "text-generation":
                if self._add_text(_CONTENT, doc.get("text"), end, out):
                    self._know("text-generation", _CONTENT)
            case "tool-calls-chunk":
                self._add_text(_PLAN, doc.get("text"), end, out)
                call = member(doc, "tool_call_delta")
                index = count(member(call, "index"))
                self._calls.open(out, 0, index, string(member(call, "name")), "", end)
                self._calls.add_fragment(out, 0, index, string(member(call, "parameters")), end)
            case "stream-end":
                if not self._has_text:
                    self._add_text(_CONTENT, member(doc, "response", "text"), end, out)
                usage = member(doc, "response", "meta", "tokens")
                self._end(doc.get("finish_reason"), usage, end, out)

    def _whole(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        self._meta.update(out, doc.get("id") or doc.get("generation_id"), "")
        message = doc.get("message")
        self._add_text(_PLAN, member(message, "tool_plan"), end, out)
        for index, block in enumerate(objects(member(message, "content"))):
            self._content(index, block, end, out)
        self._add_text(_CONTENT, doc.get("text"), end, out)
        for index, call in enumerate(objects(member(message, "tool_calls"))):
            self._call(index, call, end, out)
        for index, call in enumerate(objects(doc.get("tool_calls"))):
            self._calls.open(out, 0, index, string(call.get("name")), "", end)
            self._calls.add_whole(out, 0, index, call.get("parameters"), end)
        usage = doc.get("usage") or member(doc, "meta", "tokens")
        self._end(doc.get("finish_reason"), usage, end, out)

    def _content(self, index: int, content: object, end: int, out: Collector) -> None:
        for channel, kind in ((Channel.REASONING, "thinking"), (Channel.CONTENT, "text")):
            lane = Lane(channel, 0, index)
            if self._add_text(lane, member(content, kind), end, out):
                self._know((kind, index), lane)

    def _call(self, index: int, call: object, end: int, out: Collector) -> None:
        name = string(member(call, "function", "name"))
        self._calls.open(out, 0, index, name, string(member(call, "id")), end)
        self._calls.add_whole(out, 0, index, member(call, "function", "arguments"), end)

    def _add_text(self, lane: Lane, text: object, end: int, out: Collector) -> bool:
        if not text or not isinstance(text, str):
            return False
        self._has_text = True
        out.add_text(lane, text, end)
        return True

    def _end(self, reason: object, usage: object, end: int, out: Collector) -> None:
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, end)
        if reason and isinstance(reason, str):
            out.add_event(Finish(0, reason))
        out.add_event(Done())
