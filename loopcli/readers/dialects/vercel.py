"""The Vercel AI SDK's UI stream, and the line protocol that came before it.

Source: the SDK's documentation. Rules:

- Typed parts as SSE: ``text-delta`` and ``reasoning-delta`` by the ``id`` of
  their block, ``tool-input-delta`` by ``toolCallId``. ``tool-input-available``
  repeats the input and counts only if nothing of it came before.
- Tool outputs, sources, files and ``data-*`` parts are not the model's.
- ``finish`` ends the message, ``abort`` gives it up; then ``[DONE]``.
- The older protocol has a code before each line's JSON: ``0`` text, ``g``
  reasoning, ``b``, ``c`` and ``9`` tool calls, ``3`` an error, ``d`` the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, UpstreamError, Usage
from loopcli.readers.base import Described, Frame, WholeDocuments, member, string
from loopcli.readers.calls import Calls
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.errors import ordinary, report


class VercelDialect(WholeDocuments):
    """Understands UI message parts and, by their codes, the older lines."""

    name = "vercel"

    def __init__(self) -> None:
        self._described = Described()
        self._calls = Calls()
        self._blocks: dict[tuple[Channel, str], Lane] = {}
        self._places: dict[str, int] = {}

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add what the documents say."""
        for frame in frames:
            if frame[3].startswith("line "):
                self._line(frame, out)
                continue
            doc = ordinary(frame, out)
            if doc is not None:
                self._part(doc, frame[1], out)
            if out.stopped:
                return

    def close(self, out: Collector) -> None:
        """Add the assembled tool calls."""
        self._calls.close(out)

    def _part(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        ident = string(doc.get("id"))
        match doc.get("type"):
            case "text-delta":
                self._say(Channel.CONTENT, ident, doc.get("delta"), end, out)
            case "reasoning-delta":
                self._say(Channel.REASONING, ident, doc.get("delta"), end, out)
            case "tool-input-start":
                self._open(doc, out)
            case "tool-input-delta":
                place = self._open(doc, out)
                self._calls.add(out, 0, place, string(doc.get("inputTextDelta")), end)
            case "tool-input-available":
                self._whole(doc, doc.get("input"), end, out)
            case "start":
                self._described.tell(out, doc.get("messageId"), "")
            case "finish":
                out.add(Finish(0, string(doc.get("finishReason")) or "finish"))
                out.add(Done())
            case "abort":
                out.add(Finish(0, "abort"))

    def _line(self, frame: Frame, out: Collector) -> None:
        doc, end, number, name, _ = frame
        match name.removeprefix("line "):
            case "0":
                self._say(Channel.CONTENT, "", doc, end, out)
            case "g":
                self._say(Channel.REASONING, "", doc, end, out)
            case "b":
                self._open(doc, out)
            case "c":
                place = self._open(doc, out)
                self._calls.add(out, 0, place, string(member(doc, "argsTextDelta")), end)
            case "9":
                self._whole(doc, member(doc, "args"), end, out)
            case "3":
                report(UpstreamError(str(doc), number, end), out)
            case "f":
                self._described.tell(out, member(doc, "messageId"), "")
            case "d":
                usage = member(doc, "usage")
                if isinstance(usage, dict) and usage:
                    out.add(Usage(usage))
                out.add(Finish(0, string(member(doc, "finishReason")) or "finish"))
                out.add(Done())

    def _say(self, channel: Channel, ident: str, text: object, end: int, out: Collector) -> None:
        if not text or not isinstance(text, str):
            return
        key = channel, ident
        if key not in self._blocks:
            if len(self._blocks) >= MAX_LANES:
                return
            same = sum(1 for other, _ in self._blocks if other is channel)
            self._blocks[key] = Lane(channel, 0, same)
        out.text(self._blocks[key], text, end)

    def _open(self, doc: object, out: Collector) -> int:
        ident = string(member(doc, "toolCallId"))
        place = self._places.get(ident, len(self._places))
        if len(self._places) < MAX_LANES:
            self._places[ident] = place
        self._calls.open(out, 0, place, string(member(doc, "toolName")), ident)
        return place

    def _whole(self, doc: object, arguments: object, end: int, out: Collector) -> None:
        place = self._open(doc, out)
        call = self._calls.get(0, place)
        if call is not None and not call.used:
            self._calls.whole(out, 0, place, arguments, end)
