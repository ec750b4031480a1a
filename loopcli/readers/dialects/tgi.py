"""Text Generation Inference, ``/generate_stream`` and ``/generate``: a token an event.

Source: the server's documentation; no recording. Rules: ``token.text`` is the text, unless
the token is ``special``. The last event repeats everything in ``generated_text``, and
``details`` holds the reason. A whole answer has ``generated_text`` alone.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane
from loopcli.lenient_json import count, member, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_CONTENT = Lane(Channel.CONTENT)


class TgiDialect(ProviderDialect):
    """Understands the events of /generate_stream and the answers of /generate."""

    name = "tgi"

    def __init__(self) -> None:
        super().__init__()
        self._has_tokens = False

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a token before the last."""
        token = doc["token"]
        if token.get("special") is True or isinstance(doc.get("generated_text"), str):
            return None
        return self._targets["token"], token, "text"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end, token = frame[1], doc.get("token")
        if isinstance(token, dict):
            self._has_tokens = True
            if token.get("special") is not True:
                out.add_member(_CONTENT, token.get("text"), end)
                self._know("token", _CONTENT)
        if not isinstance(doc.get("generated_text"), str):
            return
        if not self._has_tokens:
            out.add_member(_CONTENT, doc["generated_text"], end)
        tokens = count(member(doc, "details", "generated_tokens"))
        if tokens:
            out.add_usage({"generated_tokens": tokens}, end)
        reason = string(member(doc, "details", "finish_reason"))
        if reason:
            out.add_event(Finish(0, reason))
        out.add_event(Done())
