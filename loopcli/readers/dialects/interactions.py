"""Gemini Interactions: events by ``event_type``, or one interaction.

Source: the API's documentation and recordings of its steps. Rules:

- ``step.delta`` (``content.delta`` before) holds text, a summary of thoughts, or arguments.
  Signatures, images and the results of server-side tools are not judged.
- Each step is a lane of its own, by its ``index``; ``step.start`` names a function.
- ``interaction.completed`` holds the status and the usage.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane
from loopcli.lenient_json import count, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_DELTAS = ("step.delta", "content.delta")
# Other members of a delta that may hold text.
_PARTS = frozenset({"content", "summary"})
_THOUGHTS = ("thought", "thought_summary")


class InteractionsDialect(ProviderDialect):
    """Understands interaction.* and step.* events, and whole interactions."""

    name = "interactions"

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a delta of text or of thoughts."""
        delta = doc["delta"]
        if doc["event_type"] not in _DELTAS or type(doc["index"]) is not int:
            return None
        if not _PARTS.isdisjoint(delta):
            return None
        return self._targets[delta["type"], doc["index"]], delta, "text"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end, index = frame[1], count(doc.get("index"))
        kind = string(doc.get("event_type"))
        if kind in ("step.start", "content.start"):
            self._step(index, doc.get("step") or doc.get("content"), end, out)
        elif kind in _DELTAS:
            self._step(index, doc.get("delta"), end, out)
        elif kind.startswith("interaction.") and isinstance(doc.get("interaction"), dict):
            whole = kind in ("interaction.completed", "interaction.complete")
            self._interaction(doc["interaction"], end, out, ended=whole)
        elif doc.get("object") == "interaction":
            steps = doc.get("steps") or doc.get("outputs")
            for place, step in enumerate(objects(steps)):
                self._step(place, step, end, out)
            self._interaction(doc, end, out, ended=doc.get("status") != "in_progress")

    def _interaction(self, doc: dict[str, Any], end: int, out: Collector, *, ended: bool) -> None:
        self._meta.update(out, doc.get("id"), doc.get("model"))
        if not ended:
            return
        usage = doc.get("usage")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, end)
        out.add_event(Finish(0, string(doc.get("status")) or "completed"))
        out.add_event(Done())

    def _step(self, index: int, step: object, end: int, out: Collector) -> None:
        """Read a step, a part of one, or a delta: their text has the same places."""
        if not isinstance(step, dict):
            return
        kind = string(step.get("type"))
        if kind in ("function_call", "arguments_delta"):
            name, ident = string(step.get("name")), string(step.get("id"))
            self._calls.open(out, 0, index, name, ident, end)
            self._calls.add_whole(out, 0, index, step.get("arguments"), end)
            return
        thinks = kind in _THOUGHTS
        lane = Lane(Channel.REASONING if thinks else Channel.CONTENT, 0, index)
        if kind == "text" or thinks:
            self._know((kind, index), lane)
            out.add_member(lane, step.get("text"), end)
            out.add_member(lane, member(step, "content", "text"), end)
        if kind == "model_output" or thinks:
            for part in objects(step.get("content")) + objects(step.get("summary")):
                out.add_member(lane, part.get("text"), end)
