"""llama.cpp's own ``/completion``: one object an event, or one object.

Source: the server's documentation. Rules: ``content`` is the text; ``stop`` ends
the reply and ``stop_type`` says why (older versions have a flag for each). A
failure in mid-stream comes as an ``error:`` line, which the framing passes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, Usage
from loopcli.readers.base import Described, Frame, WholeDocuments, number, string
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.errors import ordinary

_FLAGS = {"stopped_limit": "limit", "stopped_eos": "eos", "stopped_word": "word"}


_COUNTS = ("tokens_evaluated", "tokens_predicted", "tokens_cached")


class LlamaCppDialect(WholeDocuments):
    """Understands the chunks of /completion."""

    name = "llamacpp"

    def __init__(self) -> None:
        self._described = Described()

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add what the documents say."""
        for frame in frames:
            doc = ordinary(frame, out)
            if doc is not None:
                self._take(doc, frame[1], out)
            if out.stopped:
                return

    def close(self, out: Collector) -> None:
        """Add nothing: there are no tool calls."""

    def _take(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        # The index counts the prompts of one request.
        choice = min(number(doc.get("index")), MAX_LANES)
        text = string(doc.get("content"))
        if text:
            out.text(Lane(Channel.CONTENT, choice), text, end)
        if doc.get("stop") is not True:
            return
        self._described.tell(out, "", doc.get("model"))
        counts = {key: count for key, count in doc.items() if key in _COUNTS}
        if counts:
            out.add(Usage(counts))
        flags = (reason for flag, reason in _FLAGS.items() if doc.get(flag))
        out.add(Finish(choice, string(doc.get("stop_type")) or next(flags, "stop")))
        out.add(Done())
