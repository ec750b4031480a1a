"""SGLang's own ``/generate``: ``text`` and ``meta_info``, streamed or whole.

Source: the server's documentation; no recording. Rules: each event holds the whole text so
far; a server that was started to send pieces sends those. Several prompts of one request
have an ``index`` each. ``meta_info.finish_reason`` is an object with the reason's ``type``.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Finish, Lane
from loopcli.lenient_json import count, member, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import ProviderDialect


class SglangDialect(ProviderDialect):
    """Understands the documents of /generate."""

    name = "sglang"

    def __init__(self) -> None:
        super().__init__()
        # The whole text so far, by choice; `None` where pieces come.
        self._so_far: dict[int, str | None] = {}

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        choice, text = count(doc.get("index")), string(doc.get("text"))
        if choice >= MAX_LANES:
            return
        info = doc.get("meta_info")
        self._meta.update(out, member(info, "id"), "")
        out.add_member(Lane(Channel.CONTENT, choice), self._new(choice, text), frame[1])
        reason = string(member(info, "finish_reason", "type"))
        if reason:
            tokens = count(member(info, "completion_tokens"))
            if tokens:
                out.add_usage({"completion_tokens": tokens}, frame[1])
            out.add_event(Finish(choice, reason))

    def _new(self, choice: int, text: str) -> str:
        before = self._so_far.get(choice, "")
        if before is None:
            return text
        if text.startswith(before):
            self._so_far[choice] = text
            return text[len(before) :]
        self._so_far[choice] = None
        return text
