"""Ollama's own API: one object a line, from ``/api/chat`` or ``/api/generate``.

Source: Ollama's API and recordings of it. Rules:

- Text is ``message.content`` or ``response``, reasoning ``message.thinking`` or
  ``thinking``; tool calls come whole, their arguments as an object.
- ``done`` ends the reply, ``done_reason`` holds the reason. The ``context`` of the last
  line is numbers for the next request, not words.
- Ollama ends a reply with more than 30 equal tokens in a row. New versions send an
  error line; old ones just stop, which looks like a cut stream.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, Note
from loopcli.lenient_json import member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_CONTENT = Lane(Channel.CONTENT)
_REASONING = Lane(Channel.REASONING)
# Ollama's figure.
_EQUAL_TOKENS = 30


class OllamaDialect(ProviderDialect):
    """Understands the lines of /api/chat and /api/generate."""

    name = "ollama"
    meta_members = ("", "model")
    templated = False  # each line has its own time

    def __init__(self) -> None:
        super().__init__()
        self._done = False
        self._last = ""
        self._equal = 0

    def close(self, out: Collector) -> None:
        """Add the assembled tool calls, and a note if the cut looks like Ollama's own."""
        super().close(out)
        if not self._done and self._equal >= _EQUAL_TOKENS:
            out.add_event(
                Note(f"{self._equal} equal tokens stand before the cut: Ollama may have made it")
            )

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a line with content or thinking."""
        holder, content = doc.get("message"), "content"
        if holder is None:
            holder, content = doc, "response"
        elif (
            holder.get("role") != "assistant"
            or holder.get("tool_calls")
            or "response" in doc
            or "thinking" in doc
        ):
            return None
        key = content if holder.get(content) else "thinking"
        text, both = holder[key], holder.get(content) and holder.get("thinking")
        if both or text.__class__ is not str or doc.get("done") is True:
            return None
        if self._meta.missing:
            return None
        lane = self._targets[key]
        self._count_equal(text)
        return lane, holder, key

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        self._meta.update(out, "", doc.get("model"))
        message = doc.get("message")
        thinking = string(member(message, "thinking")) or string(doc.get("thinking"))
        if thinking:
            self._add_text(_REASONING, "thinking", thinking, end, out)
        content = string(member(message, "content")) or string(doc.get("response"))
        if content and member(message, "role") in (None, "assistant"):
            key = "content" if member(message, "content") else "response"
            self._add_text(_CONTENT, key, content, end, out)
        for call in objects(member(message, "tool_calls")):
            place = len(self._calls.places(0))
            name = string(member(call, "function", "name"))
            self._calls.open(out, 0, place, name, string(call.get("id")), end)
            self._calls.add_whole(out, 0, place, member(call, "function", "arguments"), end)
        if doc.get("done") is True:
            self._end(doc, end, out)

    def _add_text(self, lane: Lane, key: str, text: str, end: int, out: Collector) -> None:
        self._count_equal(text)
        self._know(key, lane)
        out.add_text(lane, text, end)

    def _count_equal(self, text: str) -> None:
        self._equal = self._equal + 1 if text == self._last else 1
        self._last = text[:64]

    def _end(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        self._done = True
        counts = {k: v for k, v in doc.items() if k.endswith(("_count", "_duration"))}
        if counts:
            out.add_usage(counts, end)
        reason = string(doc.get("done_reason"))
        if reason:
            out.add_event(Finish(0, reason))
        out.add_event(Done())
