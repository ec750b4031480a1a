"""llama.cpp's own ``/completion``: one object an event, or one object.

Source: the server's documentation. Rules: ``content`` is the text; ``stop`` ends the
reply and ``stop_type`` holds the reason (older versions have a flag for each). A failure
in mid-stream is an ``error:`` line, which the framing turns into a document.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane
from loopcli.lenient_json import count, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_FLAGS = {"stopped_limit": "limit", "stopped_eos": "eos", "stopped_word": "word"}
_COUNTS = ("tokens_evaluated", "tokens_predicted", "tokens_cached")


class LlamaCppDialect(ProviderDialect):
    """Understands the chunks of /completion."""

    name = "llamacpp"

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a chunk before the last."""
        index = doc.get("index", 0)
        if doc.get("stop") is True or type(index) is not int:
            return None
        return self._targets[index], doc, "content"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        # The index counts the prompts of one request.
        choice = min(count(doc.get("index")), MAX_LANES)
        text = string(doc.get("content"))
        if text:
            lane = Lane(Channel.CONTENT, choice)
            self._know(choice, lane)
            out.add_text(lane, text, end)
        if doc.get("stop") is not True:
            return
        self._meta.update(out, "", doc.get("model"))
        counts = {key: doc[key] for key in _COUNTS if key in doc}
        if counts:
            out.add_usage(counts, end)
        flags = (reason for flag, reason in _FLAGS.items() if doc.get(flag))
        out.add_event(Finish(choice, string(doc.get("stop_type")) or next(flags, "stop")))
        out.add_event(Done())
