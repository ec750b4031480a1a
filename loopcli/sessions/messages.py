r"""Lists of messages, as OpenAI's and Anthropic's APIs have them, and as logs keep them.

Source: fine-tuning files, eval outputs, requests of both APIs, and the logs of
programs that put such a list into a document of their own (mini-swe-agent,
LiteLLM, Inspect). Rules of this file:

- A message of the assistant is a round. What others say is not the model's.
- Where a model has no tools, its calls stand in the text. Two notations are
  read: ``<function=NAME>`` with ``<parameter=NAME>`` in it, and a fenced block
  of mini-swe-agent, which is a command for a shell. The answer to such a call
  is the next message of the user.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.events import Channel, Done
from loopcli.lenient_json import member, objects, string
from loopcli.session_events import CallKind
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_FENCE = re.compile(r"^```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL | re.MULTILINE)
_MINI = "```mswea_bash_command"


class MessageList(RecordDialect):
    """Reads a list, or an object that has one: a session a document."""

    name = "openai-messages"
    # The members of an object that hold the list.
    lists = frozenset({"messages", "traj", "input"})

    def __init__(self) -> None:
        # The user's next message answers a call that stood in the text.
        self._asked = False
        self._fences = False

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a message says, or of a list of lists, what one of them holds."""
        if not isinstance(doc, dict):
            return
        if "role" in doc:
            self._message(doc, out)
            return
        if out.messages:
            out.start(text_of(doc.get("id")))
        for name, value in doc.items():
            for part in value if isinstance(value, list) else (value,):
                self.member(name, part, out)

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what a message says that is in a list of the object."""
        if name in self.lists and isinstance(doc, dict):
            self._message(doc, out)

    def close(self, out: SessionCollector) -> None:
        """A list has no end mark: it ends well wherever it ends."""
        out.add(Done())

    def _message(self, message: dict[str, Any], out: SessionCollector) -> None:
        role = message.get("role")
        if role in ("assistant", "model", "ai"):
            self._reply(message, out)
        elif role in ("tool", "function"):
            self._result(message, out)
        elif role == "user":
            self._user(message, out)

    def _user(self, message: dict[str, Any], out: SessionCollector) -> None:
        content = message.get("content")
        for block in objects(content):
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                text = text_of(block.get("content"))
                out.result(block.get("tool_use_id"), text, "", is_error)
        if isinstance(content, list):
            content = [block for block in content if member(block, "type") != "tool_result"]
        text = text_of(content)
        if self._asked:
            self._asked = False
            out.result("", text)
        elif text:
            out.user(text)

    def _result(self, message: dict[str, Any], out: SessionCollector) -> None:
        ident = message.get("tool_call_id")
        if not isinstance(ident, str):
            idents = message.get("tool_call_ids")
            ident = idents[0] if isinstance(idents, list) and idents else ""
        text, error = text_of(message.get("content")), message.get("error")
        out.result(ident, text or text_of(error), "", bool(error))

    def _reply(self, message: dict[str, Any], out: SessionCollector) -> None:
        self._asked = False
        out.messages += 1
        out.begin("", f"message {out.messages}")
        for name in ("reasoning_content", "reasoning", "thinking"):
            if isinstance(message.get(name), str):
                out.say(message[name], Channel.REASONING)
                break
        content = message.get("content")
        called = out.calls
        if isinstance(content, str):
            out.say(content, Channel.CONTENT)
        else:
            self._blocks(content, out)
        for call in objects(message.get("tool_calls")):
            self._call(call, out)
        legacy = message.get("function_call")
        if isinstance(legacy, dict):
            out.call(legacy.get("name"), _arguments(legacy), "")
        if called == out.calls and isinstance(content, str):
            self._written(content, out)
        out.end()

    def _blocks(self, content: Any, out: SessionCollector) -> None:
        if isinstance(content, dict):  # an evaluation's wrapper
            out.say(content.get("answer") or content.get("text"), Channel.CONTENT)
        for block in objects(content):
            kind = string(block.get("type"))
            if kind in ("text", "output_text"):
                out.say(block.get("text"), Channel.CONTENT)
            elif kind in ("thinking", "reasoning"):
                out.say(block.get(kind), Channel.REASONING)
            elif kind in ("tool_use", "mcp_tool_use"):
                out.call(block.get("name"), block.get("input"), block.get("id"))
            elif kind == "server_tool_use":
                name, ident = block.get("name"), block.get("id")
                out.call(name, block.get("input"), ident, "", CallKind.SERVER)
            elif kind.endswith("_tool_result"):
                out.result(block.get("tool_use_id"), text_of(block.get("content")))

    def _call(self, call: dict[str, Any], out: SessionCollector) -> None:
        function = call.get("function")
        if isinstance(function, dict):
            out.call(function.get("name"), _arguments(function), call.get("id"))
        else:  # Inspect's own form
            out.call(function or call.get("name"), _arguments(call), call.get("id"))

    def _written(self, content: str, out: SessionCollector) -> None:
        """Add the calls that a text has in it."""
        self._fences = self._fences or _MINI in content
        for name, body in _FUNCTION.findall(content):
            out.call(name, dict(_PARAMETER.findall(body)))
            self._asked = True
        for command in _FENCE.findall(content) if self._fences else ():
            out.call("bash", {"command": command})
            self._asked = True


def _arguments(call: dict[str, Any]) -> Any:
    arguments = call.get("arguments")
    return {} if arguments is None else arguments


class AnthropicMessages(MessageList):
    """The same under the name of the other API: its blocks are read in both."""

    name = "anthropic-messages"


class MiniSweAgent(MessageList):
    """A trajectory of mini-swe-agent: every message has a command in a fenced block."""

    name = "mini-swe-agent"

    def __init__(self) -> None:
        super().__init__()
        self._fences = True


class LiteLlmLog(MessageList):
    """The log of one call: the messages that led to it, and the answer.

    ``raw_messages`` and ``raw_response`` say the same again.
    """

    name = "litellm"

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add a message, or the answer."""
        if name == "response":
            for choice in objects(member(doc, "choices")):
                if isinstance(choice.get("message"), dict):
                    self._reply(choice["message"], out)
        else:
            super().member(name, doc, out)


class InspectLog(MessageList):
    """A log of Inspect: each sample is a session.

    Its events repeat the whole conversation with every call of the model, so
    they are read only where a sample has no messages, and of a call only the
    output.
    """

    name = "inspect"

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what a sample says."""
        if name != "samples" or not isinstance(doc, dict):
            return
        out.start(f"sample {text_of(doc.get('id'))} epoch {text_of(doc.get('epoch'))}")
        messages = objects(doc.get("messages"))
        for message in messages:
            self._message(message, out)
        for event in () if messages else objects(doc.get("events")):
            self._event(event, out)

    def _event(self, event: dict[str, Any], out: SessionCollector) -> None:
        kind = event.get("event")
        if kind == "model":
            for choice in objects(member(event, "output", "choices")):
                if isinstance(choice.get("message"), dict):
                    self._reply(choice["message"], out)
        elif kind == "tool":
            error = event.get("error")
            text = text_of(event.get("result")) or text_of(member(error, "message"))
            out.result(event.get("id"), text, "", bool(error))
