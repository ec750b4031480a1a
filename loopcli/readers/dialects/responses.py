"""OpenAI Responses: events by type, or one response.

Source: the Responses API and recordings of it, of xAI and LM Studio. Rules:

- Only ``*.delta`` events are judged. ``.done``, ``content_part.done``,
  ``output_item.done`` and ``response.completed`` repeat the same text. An item is read
  from its ``output_item.done`` only if it had no delta, and from the final response
  only if nothing of it came before.
- Items may interleave; each is a lane of its own, by its ``output_index``.
- ``encrypted_content`` and the results of tools are not judged.
- The end is ``response.completed``, ``.incomplete`` (with its reason) or
  ``.failed``; there is no ``[DONE]``.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Lane, UpstreamError
from loopcli.lenient_json import count, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.errors import report, upstream_error

_CHANNELS = {
    "response.output_text.delta": Channel.CONTENT,
    "response.refusal.delta": Channel.CONTENT,
    "response.output_audio_transcript.delta": Channel.CONTENT,
    "response.audio.transcript.delta": Channel.CONTENT,
    "response.reasoning_summary_text.delta": Channel.REASONING,
    "response.reasoning_text.delta": Channel.REASONING,
}
# Arguments by the event that brings them; whether they are JSON.
_ARGUMENTS = {
    "response.function_call_arguments.delta": True,
    "response.mcp_call_arguments.delta": True,
    "response.custom_tool_call_input.delta": False,
    "response.code_interpreter_call_code.delta": False,
    "response.apply_patch_call_operation_diff.delta": False,
    "response.shell_call_command.delta": False,
}
# Arguments by the member of an item that holds them. An action is an object: the commands
# of a shell, the query of a search (whose ``sources`` are its result). So is an operation.
_INPUTS = {"arguments": True, "input": False, "code": False, "action": True, "operation": True}
_ENDS = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)


class ResponsesDialect(ProviderDialect):
    """Understands response.* events and whole responses."""

    name = "responses"

    def __init__(self) -> None:
        super().__init__()
        # The output indexes of which something has been judged.
        self._judged: set[int] = set()
        self._error = ""

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a ``*.delta`` event."""
        if type(doc["output_index"]) is not int:
            return None
        return self._targets[doc["type"], doc["output_index"]], doc, "delta"

    def document(self, frame: Frame, out: Collector) -> dict[str, Any] | None:
        """Return the document to read; errors have shapes of their own here."""
        doc = frame[0]
        if isinstance(doc, dict):
            kind = string(doc.get("type"))
            if kind == "error" or frame[3] == "error":
                self._fail(doc, frame, out)
                return None
            if doc.get("object") == "response" or kind in _ENDS:
                return doc  # the error in it is read with its status
        return super().document(frame, out)

    def _fail(self, doc: object, frame: Frame, out: Collector) -> None:
        error = upstream_error(doc, "error", frame[2], frame[1])
        # `error` and `response.failed` report the same error twice.
        if isinstance(error, UpstreamError) and error.message != self._error:
            self._error = error.message
            report(error, out)

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        kind, end = string(doc.get("type")), frame[1]
        index = count(doc.get("output_index"))
        if kind in _CHANNELS:
            self._add_text(_CHANNELS[kind], index, doc.get("delta"), end, out)
            if index in self._judged:
                self._know((kind, index), Lane(_CHANNELS[kind], 0, index))
        elif kind in _ARGUMENTS:
            fragment, free = string(doc.get("delta")), not _ARGUMENTS[kind]
            self._mark_judged(index)
            self._calls.add_fragment(out, 0, index, fragment, end, free=free)
            if not free:
                self._know((kind, index), self._calls.get(0, index))
        elif kind == "response.output_item.added":
            item = doc.get("item")
            if _is_call(item):
                name = string(member(item, "name")) or string(member(item, "type"))
                ident = string(member(item, "call_id")) or string(member(item, "id"))
                self._calls.open(out, 0, index, name, ident, end)
        elif kind == "response.output_item.done":
            self._item(index, doc.get("item"), end, out)
        elif doc.get("object") == "response":
            self._response(doc, frame, out)
        elif kind.startswith("response."):
            self._response(doc.get("response"), frame, out, final=kind in _ENDS)

    def _mark_judged(self, index: int) -> None:
        if len(self._judged) < MAX_LANES:
            self._judged.add(index)

    def _add_text(
        self, channel: Channel, index: int, text: object, end: int, out: Collector
    ) -> None:
        if text and isinstance(text, str):
            self._mark_judged(index)
            out.add_text(Lane(channel, 0, index), text, end)

    def _response(
        self, response: object, frame: Frame, out: Collector, *, final: bool = True
    ) -> None:
        if not isinstance(response, dict):
            return
        self._meta.update(out, response.get("id"), response.get("model"))
        usage = response.get("usage")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, frame[1])
        if not final:
            return
        for index, item in enumerate(objects(response.get("output"))):
            self._item(index, item, frame[1], out)
        if response.get("error"):
            self._fail(response, frame, out)
        reason = string(member(response, "incomplete_details", "reason"))
        status = string(response.get("status"))
        if status not in ("in_progress", "queued"):
            out.add_event(Finish(0, reason or status or "completed"))
            out.add_event(Done())

    def _item(self, index: int, item: object, end: int, out: Collector) -> None:
        """Add the text of an item that had no deltas."""
        if not isinstance(item, dict) or index in self._judged:
            return
        if _is_call(item):
            name = string(item.get("name")) or string(item.get("type"))
            ident = string(item.get("call_id")) or string(item.get("id"))
            self._calls.open(out, 0, index, name, ident, end)
            for key, is_json in _INPUTS.items():
                value = item.get(key)
                if is_json and isinstance(value, dict) and value:
                    self._mark_judged(index)
                    written = {k: v for k, v in value.items() if k != "sources"}
                    self._calls.add_whole(out, 0, index, written, end)
                elif string(value):
                    self._mark_judged(index)
                    self._calls.add_fragment(out, 0, index, item[key], end, free=not is_json)
        elif item.get("type") == "message":
            for part in objects(item.get("content")):
                text = part.get("text") or part.get("refusal") or part.get("transcript")
                self._add_text(Channel.CONTENT, index, text, end, out)
        elif item.get("type") == "reasoning":
            for part in objects(item.get("content")) or objects(item.get("summary")):
                self._add_text(Channel.REASONING, index, part.get("text"), end, out)


def _is_call(item: object) -> bool:
    # function_call, custom_tool_call, mcp_call, code_interpreter_call, …
    return string(member(item, "type")).endswith("_call")
