"""The Vercel AI SDK's UI stream, and the older line protocol.

Source: the SDK's documentation. Rules:

- Typed parts as SSE: ``text-delta`` and ``reasoning-delta`` by the ``id`` of
  their block, ``tool-input-delta`` by ``toolCallId``. ``tool-input-available``
  repeats the input and counts only if nothing of it came before.
- Tool outputs, sources, files and ``data-*`` parts are not judged.
- ``finish`` ends the message, ``abort`` abandons it; ``[DONE]`` follows.
- The older protocol has a code before each line's JSON: ``0`` text, ``g``
  reasoning, ``b``, ``c`` and ``9`` tool calls, ``3`` an error, ``d`` the end.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, UpstreamError
from loopcli.lenient_json import member, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.errors import report

_DELTAS = {Channel.CONTENT: "text-delta", Channel.REASONING: "reasoning-delta"}


class VercelDialect(ProviderDialect):
    """Understands UI message parts and, by their codes, the older lines."""

    name = "vercel"

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[tuple[Channel, str], Lane] = {}
        self._places: dict[str, int] = {}

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a text-delta, reasoning-delta or tool-input-delta."""
        kind = doc["type"]
        if kind == "tool-input-delta":
            if doc.get("toolName"):
                return None
            return self._targets[kind, doc["toolCallId"]], doc, "inputTextDelta"
        if frame[3].startswith("line "):
            return None
        return self._targets[kind, doc["id"]], doc, "delta"

    def document(self, frame: Frame, out: Collector) -> dict[str, Any] | None:
        """Return the document to read; a line of the older protocol is read at once."""
        if frame[3].startswith("line "):
            self._line(frame, out)
            return None
        return super().document(frame, out)

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one part."""
        end = frame[1]
        ident = string(doc.get("id"))
        match doc.get("type"):
            case "text-delta":
                self._add_text(Channel.CONTENT, ident, doc.get("delta"), end, out)
            case "reasoning-delta":
                self._add_text(Channel.REASONING, ident, doc.get("delta"), end, out)
            case "tool-input-start":
                self._open(doc, end, out)
            case "tool-input-delta":
                place = self._open(doc, end, out)
                self._calls.add_fragment(out, 0, place, string(doc.get("inputTextDelta")), end)
            case "tool-input-available":
                self._whole(doc, doc.get("input"), end, out)
            case "start":
                self._meta.update(out, doc.get("messageId"), "")
            case "finish":
                out.add_event(Finish(0, string(doc.get("finishReason")) or "finish"))
                out.add_event(Done())
            case "abort":
                out.add_event(Finish(0, "abort"))

    def _line(self, frame: Frame, out: Collector) -> None:
        doc, end, number, name, _ = frame
        match name.removeprefix("line "):
            case "0":
                self._add_text(Channel.CONTENT, "", doc, end, out)
            case "g":
                self._add_text(Channel.REASONING, "", doc, end, out)
            case "b":
                self._open(doc, end, out)
            case "c":
                place = self._open(doc, end, out)
                self._calls.add_fragment(out, 0, place, string(member(doc, "argsTextDelta")), end)
            case "9":
                self._whole(doc, member(doc, "args"), end, out)
            case "3":
                report(UpstreamError(str(doc), number, end), out)
            case "f":
                self._meta.update(out, member(doc, "messageId"), "")
            case "d":
                usage = member(doc, "usage")
                if isinstance(usage, dict) and usage:
                    out.add_usage(usage, end)
                out.add_event(Finish(0, string(member(doc, "finishReason")) or "finish"))
                out.add_event(Done())

    def _add_text(
        self, channel: Channel, ident: str, text: object, end: int, out: Collector
    ) -> None:
        if not text or not isinstance(text, str):
            return
        key = channel, ident
        if key not in self._blocks:
            if len(self._blocks) >= MAX_LANES:
                return
            same = sum(1 for other, _ in self._blocks if other is channel)
            self._blocks[key] = Lane(channel, 0, same)
            self._know((_DELTAS[channel], ident), self._blocks[key])
        out.add_text(self._blocks[key], text, end)

    def _open(self, doc: object, end: int, out: Collector) -> int:
        ident = string(member(doc, "toolCallId"))
        place = self._places.get(ident, len(self._places))
        call = self._calls.open(out, 0, place, string(member(doc, "toolName")), ident, end)
        if len(self._places) < MAX_LANES:
            self._places[ident] = place
            self._know(("tool-input-delta", ident), call)
        return place

    def _whole(self, doc: object, arguments: object, end: int, out: Collector) -> None:
        place = self._open(doc, end, out)
        call = self._calls.get(0, place)
        if call is not None and not call.used:
            self._calls.add_whole(out, 0, place, arguments, end)
