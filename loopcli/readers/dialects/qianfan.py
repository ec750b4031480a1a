"""Baidu's Qianfan (ERNIE), its first API: ``result`` an event, or one answer.

Source: Baidu's documentation; no recording. Rules: ``result`` is the text, and
``is_end`` marks the last event. A ``function_call`` comes whole. An error has
``error_code`` and ``error_msg``.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, UpstreamError
from loopcli.lenient_json import string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.errors import report

_CONTENT = Lane(Channel.CONTENT)


class QianfanDialect(ProviderDialect):
    """Understands chat completions of the first version."""

    name = "qianfan"

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in an event before the last."""
        if doc["is_end"] is not False or doc.get("error_code") or doc.get("function_call"):
            return None
        if not self._meta.current.generation_id:
            return None
        return self._targets["result"], doc, "result"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        if doc.get("error_code"):
            message = string(doc.get("error_msg")) or "no message"
            report(UpstreamError(message, frame[2], end, str(doc["error_code"])), out)
        self._meta.update(out, doc.get("id"), "")
        self._know("result", _CONTENT)
        out.add_member(_CONTENT, doc.get("result"), end)
        call = doc.get("function_call")
        if isinstance(call, dict):
            place = len(self._calls.places(0))
            self._calls.open(out, 0, place, string(call.get("name")), "", end)
            self._calls.add_whole(out, 0, place, call.get("arguments"), end)
        if doc.get("is_end") is False or "result" not in doc:
            return
        usage = doc.get("usage")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, end)
        reason = string(doc.get("finish_reason"))
        if reason:
            out.add_event(Finish(0, reason))
        out.add_event(Done())
