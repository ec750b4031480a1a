"""OpenAI-style chat.completion.chunk documents, as a dozen servers send them.

Source: OpenAI's chat completions API, and recordings of OpenRouter, Groq,
DeepSeek, Qwen, Mistral, xAI, Azure, vLLM, llama.cpp and Ollama. Rules:

- Each choice is a lane of its own; ``choices`` may be empty or missing.
- Reasoning comes as ``reasoning_content`` or ``reasoning``; OpenRouter sends
  ``reasoning_details`` with the same text beside it, which counts only where
  the others are missing.
- The first non-empty finish_reason of a choice is its reason; ``""`` is none.
- The first id is the generation's; the last usage block wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.events import (
    Channel,
    Done,
    Finish,
    Lane,
    Meta,
    ToolCall,
    ToolStart,
    UpstreamError,
    Usage,
)
from loopcli.readers.base import DONE, Collector, Frame, upstream_error

# A document with one of these has more to say than its content.
_UNUSUAL = frozenset({"error", "x_groq"})
# Arguments are kept whole for whoever wants the call; no call is this long
# unless it loops.
_MAX_ARGUMENTS = 1024 * 1024


class ChatDialect:
    """Understands chat.completion.chunk and text_completion documents."""

    name = "chat"

    def __init__(self) -> None:
        self._meta = Meta()
        self._content: dict[int, Lane] = {}
        self._finished: set[int] = set()
        self._calls: dict[tuple[int, int], _Call] = {}

    def take(self, frames: list[Frame], out: Collector) -> None:
        """Add what the documents say."""
        rest = iter(frames)
        known = self._meta.generation_id and self._meta.model
        for frame in self._usual(rest, out) if known else rest:
            self._take(frame, out)
            if out.stopped:
                return

    def _usual(self, frames: Iterator[Frame], out: Collector) -> Iterator[Frame]:
        """Take the chunks of one choice with content and nothing else; yield all others."""
        open_choice = None
        parts: list[str] = []
        ends: list[int] = []
        unusual = _UNUSUAL if self._meta.provider else _UNUSUAL | {"provider"}
        for frame in frames:
            doc, end, _, name, _ = frame
            try:
                (choice,) = doc["choices"]
                delta = choice["delta"]
                content = delta["content"]
                if (
                    len(delta) == 1
                    and choice["finish_reason"] is None
                    and content.__class__ is str
                    and not doc.get("usage")
                    and doc.keys().isdisjoint(unusual)
                    and not name
                ):
                    # By identity: 1.0 and True are equal to 1 and are no index.
                    if choice["index"] is not open_choice:
                        open_choice = choice["index"]
                        parts, ends = out.open(self._lane(open_choice))
                    if content:
                        parts.append(content)
                        ends.append(end)
                        out.progress += 1
                    continue
            except (KeyError, TypeError, ValueError):
                pass
            open_choice = None
            yield frame

    def _lane(self, index: object) -> Lane:
        """Return the content lane of a choice that has had content; ``KeyError`` for others."""
        if type(index) is not int:
            raise KeyError(index)
        return self._content[index]

    def close(self, out: Collector) -> None:
        """Add the assembled tool calls, in the order of their index."""
        for (choice, index), call in sorted(self._calls.items()):
            arguments = "".join(call.arguments)
            complete = call.size <= _MAX_ARGUMENTS
            out.add(
                ToolCall(choice, index, call.name, call.id, arguments.strip() or "{}", complete)
            )

    def _take(self, frame: Frame, out: Collector) -> None:
        doc, end, line, name, raw = frame
        if doc is DONE:
            out.add(Done())
            return
        if doc is None and name == "error":
            out.add(UpstreamError(raw.decode("utf-8", "replace").strip(), line, end))
            return
        if doc is None:
            shown = raw[:60].decode("utf-8", "replace")
            out.problem(f"a data line that is neither JSON nor [DONE]: {shown}", line, end)
            return
        error = upstream_error(doc, name, line, end)
        if error is not None:
            out.add(error)
        if not isinstance(doc, dict):
            return
        self._describe(doc, out)
        choices = doc.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                self._choice(choice, end, out)

    def _describe(self, doc: dict[str, Any], out: Collector) -> None:
        meta = Meta(
            self._meta.generation_id or _string(doc.get("id")),
            self._meta.model or _string(doc.get("model")),
            self._meta.provider or _string(doc.get("provider")),
        )
        if meta != self._meta:
            self._meta = meta
            out.add(meta)
        extension = doc.get("x_groq")
        usage = doc.get("usage") or (isinstance(extension, dict) and extension.get("usage"))
        if usage and isinstance(usage, dict):
            out.add(Usage(usage))

    def _choice(self, choice: dict[str, Any], end: int, out: Collector) -> None:
        index = _index(choice, 0)
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._delta(index, delta, end, out)
        elif isinstance(choice.get("text"), str):
            self._text(index, choice["text"], end, out)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str) and index not in self._finished:
            self._finished.add(index)
            out.add(Finish(index, reason))

    def _delta(self, choice: int, delta: dict[str, Any], end: int, out: Collector) -> None:
        for thought in _reasoning(delta):
            out.text(Lane(Channel.REASONING, choice), thought, end)
        content = delta.get("content")
        parts = [content] if isinstance(content, str) else content or ()
        for part in parts if isinstance(parts, list | tuple) else ():
            if isinstance(part, str):
                self._text(choice, part, end, out)
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                self._text(choice, part["text"], end, out)
            elif isinstance(part, dict):
                for thought in _texts(part.get("thinking")):
                    out.text(Lane(Channel.REASONING, choice), thought, end)
        self._text(choice, _string(delta.get("refusal")), end, out)
        audio = delta.get("audio")
        if isinstance(audio, dict):
            self._text(choice, _string(audio.get("transcript")), end, out)
        self._tools(choice, delta, end, out)

    def _text(self, choice: int, text: str, end: int, out: Collector) -> None:
        lane = self._content.setdefault(choice, Lane(Channel.CONTENT, choice))
        if text:
            out.text(lane, text, end)

    def _tools(self, choice: int, delta: dict[str, Any], end: int, out: Collector) -> None:
        fragments = delta.get("tool_calls")
        fragments = fragments if isinstance(fragments, list) else []
        if isinstance(delta.get("function_call"), dict):
            fragments = [*fragments, {"index": 0, "function": delta["function_call"]}]
        for order, fragment in enumerate(fragments):
            if not isinstance(fragment, dict):
                continue
            order = order if len(fragments) > 1 else -1
            index = _index(fragment, self._order(choice, order, fragment))
            call = self._calls.setdefault((choice, index), _Call())
            function = fragment.get("function")
            function = function if isinstance(function, dict) else {}
            known = call.name, call.id
            call.id = _string(fragment.get("id")) or call.id
            call.name = _string(function.get("name")) or call.name
            if known != (call.name, call.id):
                out.progress += 1
                out.add(ToolStart(choice, index, call.name, call.id))
            arguments = _string(function.get("arguments"))
            if arguments:
                call.add(arguments)
                out.text(Lane(Channel.TOOL_ARGS, choice, index, call.name), arguments, end)

    def _order(self, choice: int, order: int, fragment: dict[str, Any]) -> int:
        """Return the index of a fragment that has none: a new id begins a new call.

        ``order`` is its place among the fragments of its delta, -1 if it is alone there.
        """
        mine = [index for owner, index in self._calls if owner == choice]
        new = fragment.get("id")
        for index in mine:
            if new and self._calls[choice, index].id == new:
                return index
        if new and mine:
            return max(mine) + 1
        return order if order >= 0 else max(mine, default=0)


class _Call:
    __slots__ = ("arguments", "id", "name", "size")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.size = 0

    def add(self, arguments: str) -> None:
        self.size += len(arguments)
        if self.size <= _MAX_ARGUMENTS:
            self.arguments.append(arguments)


def _index(part: dict[str, Any], default: int) -> int:
    index = part.get("index")
    return index if type(index) is int else default


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _reasoning(delta: dict[str, Any]) -> Iterator[str]:
    plain = _string(delta.get("reasoning_content")) or _string(delta.get("reasoning"))
    if plain:
        yield plain
        return
    details = delta.get("reasoning_details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and detail.get("type") != "reasoning.encrypted":
            text = _string(detail.get("text")) or _string(detail.get("summary"))
            if text:
                yield text
