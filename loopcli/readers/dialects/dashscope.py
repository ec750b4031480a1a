"""DashScope's own API: chat's messages inside ``output``, streamed or whole.

Source: Alibaba Cloud's documentation; no recording. Rules: each event has ``output`` with
``choices`` (a ``message`` each) or with a plain ``text``. The reason ``null`` is a word here
and ends nothing. Without ``incremental_output`` each event holds the whole text so far; see
``snapshots``. An error has ``code`` and ``message`` and no output.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Finish, UpstreamError
from loopcli.lenient_json import count, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.chat import ChatDialect
from loopcli.readers.dialects.provider import LoneDelta
from loopcli.readers.errors import report

_NO_REASON = (None, "", "null")


class DashScopeDialect(ChatDialect):
    """Understands documents with ``output`` and ``request_id``."""

    name = "dashscope"
    meta_members = ("request_id",)

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a message that is not the last."""
        output, usage = doc["output"], doc.get("usage")
        (choice,) = output["choices"]
        index = choice.get("index", 0)
        if type(index) is not int or choice.get("finish_reason") not in _NO_REASON:
            return None
        if output.get("text") or output.get("finish_reason") not in _NO_REASON:
            return None
        if self._meta.missing and doc.get("request_id"):
            return None
        place = self._lone_content(index, choice["message"])
        if usage and place is not None:
            if usage.__class__ is not dict or place[1][place[2]].__class__ is not str:
                return None
            out.add_usage(usage, frame[1])
        return place

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end, output = frame[1], doc.get("output")
        self._meta.update(out, doc.get("request_id"), "")
        if not isinstance(output, dict):
            if string(doc.get("code")) and string(doc.get("message")):
                report(UpstreamError(doc["message"], frame[2], end, doc["code"]), out)
            return
        for choice in objects(output.get("choices")):
            index, message = count(choice.get("index")), choice.get("message")
            if isinstance(message, dict):
                self._delta(index, message, end, out)
            self._finish(index, choice.get("finish_reason"), out)
        self._text(0, string(output.get("text")), end, out)
        self._finish(0, output.get("finish_reason"), out)
        usage = doc.get("usage")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, end)

    def _finish(self, choice: int, reason: object, out: Collector) -> None:
        if string(reason) not in ("", "null") and choice not in self._finished:
            self._finished.add(choice)
            out.add_event(Finish(choice, string(reason)))
