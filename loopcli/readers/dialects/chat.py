"""OpenAI-style chat.completion.chunk documents, as a dozen servers send them.

Source: OpenAI's chat completions API, and recordings of OpenRouter, Groq,
DeepSeek, Qwen, Mistral, xAI, Azure, vLLM, llama.cpp and Ollama. Rules:

- Each choice is a lane of its own; ``choices`` may be empty or missing.
- Reasoning comes as ``reasoning_content`` or ``reasoning``. OpenRouter also sends
  ``reasoning_details`` with the same text, which counts only if the others are missing.
- The first non-empty finish_reason of a choice is its reason.
- ``<think>`` in the content stays content, because a loop may hold the closing tag.
- Azure's "on your data" has ``messages``, each with a ``delta``, in the choice.
- A whole answer has ``message`` in place of ``delta``.
- vLLM gives the reason ``repetition`` when it detected one and ended the reply.
- The first id is the generation's; the last usage block wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.events import Channel, Finish, Lane, ServerLoop
from loopcli.lenient_json import count, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.endings import REPETITION_REASON, REPETITION_STOP

_REASONING = ("reasoning_content", "reasoning")
# The members of a delta that add nothing to one of content, of reasoning, of arguments.
_CONTENT_ALONE = frozenset({"content", "role"})
_REASONING_ALONE = frozenset({*_REASONING, "reasoning_details", "role"})
_ARGUMENTS_ALONE = frozenset({"tool_calls", "role"})


class ChatDialect(ProviderDialect):
    """Understands chat.completion.chunk and text_completion documents."""

    name = "chat"
    meta_members: tuple[str, ...] = ("id", "model", "provider")

    def __init__(self) -> None:
        super().__init__()
        self._judged: set[int] = set()
        self._finished: set[int] = set()

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a chunk of one choice that is not its last."""
        (choice,) = doc["choices"]
        index = choice.get("index", 0)
        if type(index) is not int or choice.get("finish_reason") or "x_groq" in doc:
            return None
        for name in self._meta.missing:
            if doc.get(name):
                return None
        delta, usage = choice.get("delta"), doc.get("usage")
        if not isinstance(delta, dict):
            place: LoneDelta | None = (self._targets["content", index], choice, "text")
        elif delta.get("tool_calls"):
            place = self._lone_arguments(index, delta)
        else:
            place = self._lone_content(index, delta)
        if usage and place is not None:
            if usage.__class__ is not dict or place[1][place[2]].__class__ is not str:
                return None
            out.add_usage(usage, frame[1])
        return place

    def _lone_content(self, index: int, delta: dict[str, Any]) -> LoneDelta | None:
        """Return the place of content or reasoning, if the delta has nothing else."""
        allowed, key = _CONTENT_ALONE, "content"
        if not delta.get("content"):
            for key in _REASONING:
                if delta.get(key):
                    allowed = _REASONING_ALONE
                    break
            else:
                key = "content"
        if len(delta) > 1:
            for name, value in delta.items():
                if value and name not in allowed:
                    return None
        return self._targets["content" if key == "content" else "reasoning", index], delta, key

    def _lone_arguments(self, index: int, delta: dict[str, Any]) -> LoneDelta | None:
        """Return the place of a fragment of arguments, if the delta has nothing else."""
        (fragment,) = delta["tool_calls"]
        function = fragment["function"]
        call = self._calls.get(index, fragment["index"])
        if call is None or type(fragment["index"]) is not int or call.lane is None:
            return None
        for name, value in delta.items():
            if value and name not in _ARGUMENTS_ALONE:
                return None
        # An id or a name may begin another call at the same place.
        if fragment.get("id") or function.get("name") or function.get("input"):
            return None
        return call, function, "arguments"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one chunk, or of a whole answer."""
        self._meta.update(out, doc.get("id"), doc.get("model"), doc.get("provider"))
        usage = doc.get("usage") or member(doc, "x_groq", "usage")
        if usage and isinstance(usage, dict):
            out.add_usage(usage, frame[1])
        for choice in objects(doc.get("choices")):
            self._choice(choice, frame[1], out)

    def _choice(self, choice: dict[str, Any], end: int, out: Collector) -> None:
        index = count(choice.get("index"))
        delta = choice.get("delta")
        for message in objects(choice.get("messages")):
            self._data_message(index, message, end, out)
        if isinstance(delta, dict):
            self._delta(index, delta, end, out)
        elif isinstance(choice.get("text"), str):
            self._text(index, choice["text"], end, out)
        elif isinstance(choice.get("message"), dict) and index not in self._judged:
            # A whole answer. After deltas it repeats them: Perplexity adds it.
            self._delta(index, choice["message"], end, out)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str) and index not in self._finished:
            if len(self._finished) < MAX_LANES:
                self._finished.add(index)
            out.add_event(Finish(index, reason))
            self._add_server_loop(index, choice, reason, out)

    def _data_message(self, choice: int, message: dict[str, Any], end: int, out: Collector) -> None:
        """Read a message of Azure's "on your data", streamed or whole.

        Its messages with the role ``tool`` hold the documents that were searched.
        """
        delta = message.get("delta")
        delta = delta if isinstance(delta, dict) else message
        if delta.get("role") in (None, "assistant"):
            self._delta(choice, delta, end, out)
            if message.get("end_turn") is True and choice not in self._finished:
                self._finished.add(choice)
                out.add_event(Finish(choice, "stop"))

    def _add_server_loop(
        self, index: int, choice: dict[str, Any], reason: str, out: Collector
    ) -> None:
        """Add the server's own verdict, as vLLM states it."""
        stop = choice.get("stop_reason")
        if reason == REPETITION_REASON or stop == REPETITION_STOP:
            sign = f"finish_reason {reason}" + (f", stop_reason {stop}" if stop else "")
            out.add_event(ServerLoop(index, sign))

    def _delta(self, choice: int, delta: dict[str, Any], end: int, out: Collector) -> None:
        if len(self._judged) < MAX_LANES:
            self._judged.add(choice)
        for thought in _reasoning(delta):
            self._reason(choice, thought, end, out)
        content = delta.get("content")
        parts = [content] if isinstance(content, str) else content or ()
        for part in parts if isinstance(parts, list | tuple) else ():
            if isinstance(part, str):
                self._text(choice, part, end, out)
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                self._text(choice, part["text"], end, out)
            elif isinstance(part, dict):
                for thought in _texts(part.get("thinking")):
                    self._reason(choice, thought, end, out)
        self._text(choice, string(delta.get("refusal")), end, out)
        self._text(choice, string(member(delta, "audio", "transcript")), end, out)
        self._tools(choice, delta, end, out)

    def _text(self, choice: int, text: str, end: int, out: Collector) -> None:
        lane = Lane(Channel.CONTENT, choice)
        if out.add_delta(lane, text, end):
            self._know(("content", choice), lane)

    def _reason(self, choice: int, text: str, end: int, out: Collector) -> None:
        lane = Lane(Channel.REASONING, choice)
        if out.add_delta(lane, text, end):
            self._know(("reasoning", choice), lane)

    def _tools(self, choice: int, delta: dict[str, Any], end: int, out: Collector) -> None:
        fragments = objects(delta.get("tool_calls"))
        if isinstance(delta.get("function_call"), dict):
            fragments = [*fragments, {"index": 0, "function": delta["function_call"]}]
        for order, fragment in enumerate(fragments):
            index = fragment.get("index")
            if type(index) is not int:
                index = self._order(choice, order if len(fragments) > 1 else -1, fragment)
            # Custom tools take a text, functions an object.
            function = fragment.get("function") or fragment.get("custom")
            ident, name = string(fragment.get("id")), string(member(function, "name"))
            arguments = member(function, "arguments")
            if ident or name:
                self._template.forget()  # its target may be the call before
            begins = bool(name) and string(arguments).lstrip().startswith("{")
            self._calls.make_room(choice, index, ident, begins=begins)
            self._calls.open(out, choice, index, name, ident, end)
            self._calls.add_whole(out, choice, index, arguments, end)
            text = string(member(function, "input"))
            self._calls.add_fragment(out, choice, index, text, end, free=True)

    def _order(self, choice: int, order: int, fragment: dict[str, Any]) -> int:
        """Return the place of a fragment that has none: a new id begins a new call.

        ``order`` is its place among the fragments of its delta, -1 if it is alone there.
        """
        mine = self._calls.places(choice)
        new = fragment.get("id")
        for place in mine:
            call = self._calls.get(choice, place)
            if new and call is not None and call.id == new:
                return place
        if new and mine:
            return max(mine) + 1
        return order if order >= 0 else max(mine, default=0)


class CompletionsDialect(ChatDialect):
    """Understands the older text_completion documents: a text for each choice."""

    name = "completions"


def _texts(value: object) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _reasoning(delta: dict[str, Any]) -> Iterator[str]:
    plain = string(delta.get("reasoning_content")) or string(delta.get("reasoning"))
    if plain:
        yield plain
        return
    for detail in objects(delta.get("reasoning_details")):
        if detail.get("type") != "reasoning.encrypted":
            text = string(detail.get("text")) or string(detail.get("summary"))
            if text:
                yield text
