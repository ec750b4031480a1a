"""Ollama's own API: one object a line, from ``/api/chat`` or ``/api/generate``.

Source: Ollama's API and recordings of it. Rules:

- Text is ``message.content`` or ``response``, reasoning ``message.thinking`` or
  ``thinking``; tool calls come whole, their arguments as an object.
- ``done`` ends the reply, ``done_reason`` says why. The ``context`` of the last
  line is numbers for the next request, not words.
- Ollama gives up on more than 30 equal tokens in a row. New versions say so in
  an error line; old ones just stop, which looks like a cut stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, Note, Usage
from loopcli.readers.base import Described, Frame, WholeDocuments, member, objects, string
from loopcli.readers.calls import Calls
from loopcli.readers.collector import Collector
from loopcli.readers.errors import ordinary

_CONTENT = Lane(Channel.CONTENT)
_REASONING = Lane(Channel.REASONING)
# Ollama's figure.
_EQUAL_TOKENS = 30


class OllamaDialect(WholeDocuments):
    """Understands the lines of /api/chat and /api/generate."""

    name = "ollama"

    def __init__(self) -> None:
        self._described = Described()
        self._calls = Calls()
        self._done = False
        self._last = ""
        self._equal = 0

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add what the documents say."""
        for frame in frames:
            doc = ordinary(frame, out)
            if doc is not None:
                self._take(doc, frame[1], out)
            if out.stopped:
                return

    def close(self, out: Collector) -> None:
        """Add the assembled tool calls."""
        self._calls.close(out)
        if not self._done and self._equal >= _EQUAL_TOKENS:
            out.add(
                Note(f"{self._equal} equal tokens stand before the cut: Ollama may have made it")
            )

    def _take(self, doc: dict[str, Any], end: int, out: Collector) -> None:
        self._described.tell(out, "", doc.get("model"))
        message = doc.get("message")
        thinking = string(member(message, "thinking")) or string(doc.get("thinking"))
        if thinking:
            self._say(_REASONING, thinking, end, out)
        content = string(member(message, "content")) or string(doc.get("response"))
        if content and member(message, "role") in (None, "assistant"):
            self._say(_CONTENT, content, end, out)
        for call in objects(member(message, "tool_calls")):
            place = len(self._calls.places(0))
            name = string(member(call, "function", "name"))
            self._calls.open(out, 0, place, name, string(call.get("id")))
            self._calls.whole(out, 0, place, member(call, "function", "arguments"), end)
        if doc.get("done") is True:
            self._end(doc, out)

    def _say(self, lane: Lane, text: str, end: int, out: Collector) -> None:
        self._equal = self._equal + 1 if text == self._last else 1
        self._last = text[:64]
        out.text(lane, text, end)

    def _end(self, doc: dict[str, Any], out: Collector) -> None:
        self._done = True
        counts = {k: v for k, v in doc.items() if k.endswith(("_count", "_duration"))}
        if counts:
            out.add(Usage(counts))
        reason = string(doc.get("done_reason"))
        if reason:
            out.add(Finish(0, reason))
        out.add(Done())
