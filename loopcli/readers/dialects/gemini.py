"""Gemini generateContent: chunks with candidates, streamed or whole.

Source: the Gemini and Vertex AI APIs and recordings of both, as SSE and as the
JSON array. Rules:

- Each candidate is a choice. A part with ``thought`` is reasoning. ``text`` and
  ``executableCode`` are judged; signatures, inline data, citations and the results of
  code are not.
- A function call comes whole (``args``) or, on Vertex, as ``partialArgs``: pieces of
  the values, each with its JSON path.
- Old versions send ``STOP`` with every chunk, so the last finish reason counts. A
  blocked prompt has no candidates and a reason in ``promptFeedback``.
- Some proxies send the whole text so far in each chunk; see ``snapshots``.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Finish, Lane
from loopcli.lenient_json import count, dump_text, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect

_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
# A call has a handful of arguments; a stream with more is not kept whole.
_MAX_PATHS = 256
_MAX_VALUE = 64 * 1024


class GeminiDialect(ProviderDialect):
    """Understands GenerateContentResponse documents."""

    name = "gemini"
    meta_members = ("responseId", "modelVersion")

    def __init__(self) -> None:
        super().__init__()
        self._partial: dict[int, _Partial] = {}
        self._reasons: dict[int, str] = {}

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a chunk of one candidate with one part."""
        (candidate,) = doc["candidates"]
        (part,) = candidate["content"]["parts"]
        choice, reason = candidate.get("index", 0), candidate.get("finishReason")
        thought = False
        if len(part) > 1:
            thought = bool(part.get("thought"))
            if "functionCall" in part or "executableCode" in part:
                return None
        if (reason and reason != self._reasons.get(choice)) or "promptFeedback" in doc:
            return None
        for name in self._meta.missing:
            if doc.get(name):
                return None
        target, text = self._targets[thought, choice], part["text"]
        if type(choice) is not int or text.__class__ is not str or not text:
            return None
        usage = doc.get("usageMetadata")
        if usage and usage.__class__ is dict:
            out.add_usage(usage, frame[1])
        return target, part, "text"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        end = frame[1]
        self._meta.update(out, doc.get("responseId"), doc.get("modelVersion"))
        usage = doc.get("usageMetadata")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, end)
        for candidate in objects(doc.get("candidates")):
            choice = count(candidate.get("index"))
            for part in objects(member(candidate, "content", "parts")):
                self._part(choice, part, end, out)
            self._finish(choice, candidate.get("finishReason"), out)
        self._finish(0, member(doc, "promptFeedback", "blockReason"), out)

    def _finish(self, choice: int, reason: object, out: Collector) -> None:
        if reason and isinstance(reason, str) and self._reasons.get(choice) != reason:
            self._reasons[choice] = reason
            out.add_event(Finish(choice, reason))

    def _part(self, choice: int, part: dict[str, Any], end: int, out: Collector) -> None:
        text = string(part.get("text"))
        if text:
            channel = Channel.REASONING if part.get("thought") else Channel.CONTENT
            lane = Lane(channel, choice)
            if out.add_delta(lane, text, end):
                self._know((bool(part.get("thought")), choice), lane)
        call = part.get("functionCall")
        if isinstance(call, dict):
            self._call(choice, call, end, out)
        code = string(member(part, "executableCode", "code"))
        if code:
            place = len(self._calls.places(choice))
            self._calls.open(out, choice, place, "executableCode", "", end)
            self._calls.add_fragment(out, choice, place, code, end, free=True)

    def _call(self, choice: int, call: dict[str, Any], end: int, out: Collector) -> None:
        places = self._calls.places(choice)
        place = places[-1] if places else -1
        if string(call.get("name")) or not places:
            place += 1
            name, ident = string(call.get("name")), string(call.get("id"))
            self._calls.open(out, choice, place, name, ident, end)
            self._calls.add_whole(out, choice, place, call.get("args"), end)
            self._partial[choice] = _Partial()
        partial = self._partial.setdefault(choice, _Partial())
        for piece in objects(call.get("partialArgs")):
            self._calls.add_words(out, choice, place, partial.add(piece), end)
        if partial.values and not call.get("willContinue"):
            self._calls.add_words(out, choice, place, partial.end(), end)
            self._calls.keep(choice, place, partial.arguments())
            partial.values.clear()


class _Partial:
    """The arguments of one call that come in pieces, by their JSON path."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._open = ""

    def add(self, piece: dict[str, Any]) -> str:
        """Return the words that a piece adds; a newline follows a finished value."""
        path = string(piece.get("jsonPath"))
        value = next((piece[key] for key in _VALUES if piece.get(key) is not None), None)
        before = self.end() if path != self._open else ""
        self._keep(path, value)
        text = value if isinstance(value, str) else dump_text(value)
        if piece.get("willContinue"):
            self._open = path
            return before + text
        self._open = ""
        return before + text + "\n"

    def end(self) -> str:
        """Return the newline after a value that was still open."""
        was, self._open = self._open, ""
        return "\n" if was else ""

    def _keep(self, path: str, value: object) -> None:
        known = self.values.get(path)
        if isinstance(known, str) and isinstance(value, str):
            self.values[path] = (known + value)[:_MAX_VALUE]
        elif path in self.values or len(self.values) < _MAX_PATHS:
            self.values[path] = value

    def arguments(self) -> dict[str, Any]:
        """Return the arguments as an object; simple paths become members."""
        arguments: dict[str, Any] = {}
        for path, value in self.values.items():
            names = path.removeprefix("$").removeprefix(".").split(".")
            here = arguments
            for name in names[:-1]:
                inner = here.setdefault(name, {})
                here = inner if isinstance(inner, dict) else {}
            here[names[-1]] = value
        return arguments
