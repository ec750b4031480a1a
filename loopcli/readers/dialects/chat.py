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

from collections.abc import Iterable, Iterator
from typing import Any

from loopcli.events import Channel, Finish, Lane, ServerLoop, Usage
from loopcli.lenient_json import count, member, objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.provider import ProviderDialect
from loopcli.readers.dialects.template import Delta, Template
from loopcli.readers.endings import REPETITION_REASON, REPETITION_STOP

# A document with one of these has more to say than its content.
_UNUSUAL = frozenset({"error", "x_groq"})
# No choice is open; `None` will not do, because documents hold it.
_NOWHERE = object()


class ChatDialect(ProviderDialect):
    """Understands chat.completion.chunk and text_completion documents."""

    name = "chat"

    def __init__(self) -> None:
        super().__init__()
        self._template = Template()
        self.loads = self._template.loads
        # The lanes whose deltas are known to be plain, by choice.
        self._plain: dict[int, Lane] = {}
        self._judged: set[int] = set()
        self._finished: set[int] = set()

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add what the documents say."""
        rest = iter(frames)
        meta = self._meta.current
        super().take(self._usual(rest, out) if meta.generation_id and meta.model else rest, out)

    def _usual(self, frames: Iterator[Frame], out: Collector) -> Iterator[Frame]:
        """Take the chunks of one choice with content and nothing else; yield all others."""
        open_choice: object = _NOWHERE
        parts: list[str] = []
        ends: list[int] = []
        template = self._template
        unusual = _UNUSUAL if self._meta.current.provider else _UNUSUAL | {"provider"}
        for frame in frames:
            doc, end, _, name, _ = frame
            if doc.__class__ is Delta:  # from the template, which is of a usual chunk
                if template.choice is not open_choice:
                    open_choice = template.choice
                    parts, ends = out.lane_buffers(self._lane(open_choice))
                if doc:
                    parts.append(doc)
                    ends.append(end)
                continue
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
                    and "error" not in (doc.get("object"), doc.get("type"))
                    and not name
                ):
                    # By identity: 1.0 and True are equal to 1 and are no index.
                    if choice["index"] is not open_choice:
                        open_choice = choice["index"]
                        parts, ends = out.lane_buffers(self._lane(choice["index"]))
                    if content:
                        parts.append(content)
                        ends.append(end)
                    template.learn(doc, delta, choice["index"])
                    continue
            except (KeyError, TypeError, ValueError):
                pass
            open_choice = _NOWHERE
            yield frame

    def _lane(self, index: object) -> Lane:
        """Return the content lane of a choice known to be plain; ``KeyError`` for others."""
        if type(index) is not int:
            raise KeyError(index)
        return self._plain[index]

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one chunk, or of a whole answer."""
        self._meta.update(out, doc.get("id"), doc.get("model"), doc.get("provider"))
        usage = doc.get("usage") or member(doc, "x_groq", "usage")
        if usage and isinstance(usage, dict):
            out.add_event(Usage(usage))
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
            out.add_delta(Lane(Channel.REASONING, choice), thought, end)
        content = delta.get("content")
        parts = [content] if isinstance(content, str) else content or ()
        for part in parts if isinstance(parts, list | tuple) else ():
            if isinstance(part, str):
                self._text(choice, part, end, out)
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                self._text(choice, part["text"], end, out)
            elif isinstance(part, dict):
                for thought in _texts(part.get("thinking")):
                    out.add_delta(Lane(Channel.REASONING, choice), thought, end)
        self._text(choice, string(delta.get("refusal")), end, out)
        self._text(choice, string(member(delta, "audio", "transcript")), end, out)
        self._tools(choice, delta, end, out)

    def _text(self, choice: int, text: str, end: int, out: Collector) -> None:
        lane = Lane(Channel.CONTENT, choice)
        if out.add_delta(lane, text, end):
            # From now on plain: `_usual` may take it.
            self._plain[choice] = lane

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
