"""LM Studio's own ``/api/v1/chat``: events by type, or one answer.

Source: LM Studio's documentation; no recording. Rules: ``message.delta`` and
``reasoning.delta`` hold text in ``content``; ``tool_call.arguments`` holds whole arguments.
``tool_call.result`` is not judged. ``chat.end`` repeats everything in ``result``.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Lane
from loopcli.lenient_json import member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_LANES = {"message": Lane(Channel.CONTENT), "reasoning": Lane(Channel.REASONING)}


class LmStudioDialect(ProviderDialect):
    """Understands chat.start ... chat.end, and whole answers."""

    name = "lmstudio"

    def __init__(self) -> None:
        super().__init__()
        self._place = -1
        self._has_output = False

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a delta."""
        return self._targets[doc["type"]], doc, "content"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end, kind = frame[1], string(doc.get("type"))
        subject, _, what = kind.partition(".")
        if what == "delta" and subject in _LANES:
            self._has_output = True
            out.add_member(_LANES[subject], doc.get("content"), end)
            self._know(kind, _LANES[subject])
        elif kind in ("tool_call.start", "tool_call.arguments"):
            self._call(doc, end, out, begins=what == "start")
        elif kind == "chat.start":
            self._meta.update(out, "", doc.get("model_instance_id"))
        elif kind == "chat.end":
            self._answer(doc.get("result"), end, out)
        elif not kind:
            self._answer(doc, end, out)

    def _call(self, doc: dict[str, Any], end: int, out: Collector, *, begins: bool) -> None:
        self._has_output = True
        if begins or self._place < 0:
            self._place += 1
        self._calls.open(out, 0, self._place, string(doc.get("tool")), "", end)
        self._calls.add_whole(out, 0, self._place, doc.get("arguments"), end)

    def _answer(self, answer: object, end: int, out: Collector) -> None:
        self._meta.update(out, "", member(answer, "model_instance_id"))
        for item in [] if self._has_output else objects(member(answer, "output")):
            kind = string(item.get("type"))
            if kind in _LANES:
                out.add_member(_LANES[kind], item.get("content"), end)
            elif kind == "tool_call":
                self._call(item, end, out, begins=True)
        stats = member(answer, "stats")
        if isinstance(stats, dict) and stats:
            out.add_usage(stats, end)
        out.add_event(Done())
