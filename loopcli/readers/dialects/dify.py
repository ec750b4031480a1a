"""Dify's applications: events by ``event``, or one answer.

Source: Dify's documentation; no recording. Rules: ``message`` and ``agent_message`` hold
``answer``, ``text_chunk`` of a workflow holds ``data.text``. ``agent_thought`` repeats the
answer and holds the tool's input; what the tool returned is not judged. The voice and the
nodes of a workflow are skipped. ``message_end`` or ``workflow_finished`` is the end.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Lane, UpstreamError
from loopcli.lenient_json import member, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.errors import report

_CONTENT = Lane(Channel.CONTENT)


class DifyDialect(ProviderDialect):
    """Understands the events of chat, agent and workflow applications."""

    name = "dify"

    def __init__(self) -> None:
        super().__init__()
        self._thoughts: dict[str, int] = {}

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a message that is not the whole answer."""
        if doc.get("mode") or not self._meta.current.generation_id:
            return None
        return self._targets[doc["event"]], doc, "answer"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        self._meta.update(out, doc.get("message_id") or doc.get("workflow_run_id"), "")
        match doc.get("event"):
            case "message" | "agent_message" as kind:
                self._know(kind, _CONTENT)
                out.add_member(_CONTENT, doc.get("answer"), end)
                if doc.get("mode"):  # a whole answer
                    self._end(doc, end, out)
            case "text_chunk":
                out.add_member(_CONTENT, member(doc, "data", "text"), end)
            case "agent_thought":
                self._thought(doc, end, out)
            case "error":
                message, code = string(doc.get("message")), string(doc.get("code"))
                report(UpstreamError(message or "no message", frame[2], end, code), out)
            case "message_end" | "workflow_finished":
                self._end(doc, end, out)

    def _thought(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        """Read the input of a tool; the event comes again when the tool has returned."""
        ident, name = string(doc.get("id")), string(doc.get("tool"))
        if not name or len(self._thoughts) >= MAX_LANES:
            return
        place = self._thoughts.setdefault(ident, len(self._thoughts))
        call = self._calls.open(out, 0, place, name, ident, end)
        if call is not None and not call.used:
            self._calls.add_whole(out, 0, place, doc.get("tool_input"), end)

    def _end(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        usage = member(doc, "metadata", "usage")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, end)
        out.add_event(Done())
