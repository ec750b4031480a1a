"""AG-UI, the protocol between agents and their user interfaces: events by type.

Source: the protocol's documentation; no recording. Rules:

- The text of a message, of a thought and of a call's arguments stands in ``delta``, by
  ``messageId`` or ``toolCallId``. The ``CHUNK`` forms need no start.
- The messages of other roles, the results of tools, and states are not judged.
- ``RUN_FINISHED`` is the end, ``RUN_ERROR`` a failure.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Lane, UpstreamError
from loopcli.lenient_json import string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.errors import report

_CHANNELS = {
    "TEXT_MESSAGE_CONTENT": Channel.CONTENT,
    "TEXT_MESSAGE_CHUNK": Channel.CONTENT,
    "THINKING_TEXT_MESSAGE_CONTENT": Channel.REASONING,
    "REASONING_MESSAGE_CONTENT": Channel.REASONING,
    "REASONING_MESSAGE_CHUNK": Channel.REASONING,
}


class AgUiDialect(ProviderDialect):
    """Understands the events of a run."""

    name = "agui"

    def __init__(self) -> None:
        super().__init__()
        # The blocks of messages, and the places of calls, by their ids.
        self._blocks: dict[tuple[Channel, str], int] = {}
        self._places: dict[str, int] = {}
        self._others: set[str] = set()

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a part of a message or of a thought."""
        return self._targets[doc["type"], string(doc.get("messageId"))], doc, "delta"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        kind, end = string(doc.get("type")), frame[1]
        message = string(doc.get("messageId"))
        if kind in ("TEXT_MESSAGE_START", "TEXT_MESSAGE_CHUNK"):
            other = string(doc.get("role")) not in ("", "assistant")
            if other and len(self._others) < MAX_LANES:
                self._others.add(message)
                self._targets.clear()
                self._template.forget()
        if kind in _CHANNELS:
            if message not in self._others:
                lane = self._text(_CHANNELS[kind], message, doc.get("delta"), end, out)
                if kind.endswith("_CONTENT"):
                    self._know((kind, message), lane)
        elif kind in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_CHUNK"):
            self._call(doc, end, out)
        elif kind == "RUN_STARTED":
            self._meta.update(out, doc.get("runId"), "")
        elif kind == "RUN_FINISHED":
            out.add_event(Done())
        elif kind == "RUN_ERROR":
            text, code = string(doc.get("message")), string(doc.get("code"))
            report(UpstreamError(text or "no message", frame[2], end, code), out)

    def _text(
        self, channel: Channel, message: str, text: object, end: int, out: Collector
    ) -> Lane | None:
        """Add a text; return its lane, or ``None`` if there are too many."""
        key = channel, message
        if key not in self._blocks:
            if len(self._blocks) >= MAX_LANES:
                return None
            self._blocks[key] = sum(1 for other, _ in self._blocks if other is channel)
        lane = Lane(channel, 0, self._blocks[key])
        out.add_member(lane, text, end)
        return lane

    def _call(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        ident = string(doc.get("toolCallId"))
        if not ident:  # a chunk may leave out what has not changed
            ident = next(reversed(self._places), "")
        place = self._places.get(ident, len(self._places))
        if len(self._places) < MAX_LANES:
            self._places.setdefault(ident, place)
        self._calls.open(out, 0, place, string(doc.get("toolCallName")), ident, end)
        self._calls.add_fragment(out, 0, place, string(doc.get("delta")), end)
