"""Transcripts of speech: OpenAI's ``/v1/audio/transcriptions``, streamed or whole.

Source: OpenAI's documentation; no recording. Rules: ``transcript.text.delta`` holds the
text, ``transcript.text.segment`` a speaker's part of it; ``transcript.text.done`` repeats
all of it. A whole answer has ``text``, and its ``segments`` repeat that.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Lane
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_CONTENT = Lane(Channel.CONTENT)


class TranscriptDialect(ProviderDialect):
    """Understands transcript.text.* events and whole transcripts."""

    name = "transcript"

    def __init__(self) -> None:
        super().__init__()
        # The kind of event that has brought the text; the other kinds repeat it.
        self._source = ""

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a delta."""
        if doc["type"] != "transcript.text.delta":
            return None
        return self._targets[doc["type"]], doc, "delta"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        kind = doc.get("type", "whole")
        text = doc.get("delta" if kind == "transcript.text.delta" else "text")
        if text and self._source in ("", kind):
            self._source = kind
            out.add_member(_CONTENT, text, frame[1])
            self._know(kind, _CONTENT)
        if kind in ("transcript.text.done", "whole"):
            usage = doc.get("usage")
            if isinstance(usage, dict) and usage:
                out.add_usage(usage, frame[1])
            out.add_event(Done())
