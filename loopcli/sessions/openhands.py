"""OpenHands: lists of events, of the SDK (version 1) and of the first version.

Source: a public file of SDK events, and the projects' own converters of both.
Rules of this file:

- An event of the SDK says what it is in ``kind``; one of the first version has
  ``action`` or ``observation``.
- Each call of one reply is an event of its own. They share the reply's id:
  ``llm_response_id``, or ``tool_call_metadata.model_response.id``.
- The same words stand in ``message``, in ``args.thought`` and in the reply of
  the model: they are read once, with the first call of the reply.
- Evaluations keep the list as ``history``, one run a line; old ones in pairs.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done
from loopcli.lenient_json import member, objects, string
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

_LISTS = frozenset({"history", "trajectory", "events"})
# Actions that are no calls of the model, but the program's own steps.
_OWN = frozenset({"system", "recall", "change_agent_state", "condensation", "null", "start"})
# Members of an action's arguments that the program adds.
_ADDED = frozenset(
    {"thought", "hidden", "confirmation_state", "security_risk", "keep_prompt", "blocking"}
)


class OpenHands(RecordDialect):
    """Reads events, one a line or as a list."""

    name = "openhands"

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what an event says."""
        if isinstance(doc, list):
            for part in doc[:2]:  # an action and its observation
                self.take(part, out)
        elif isinstance(doc, dict):
            kind = doc.get("kind")
            if isinstance(kind, str):
                self._sdk_event(kind, doc, out)
            elif isinstance(doc.get("observation"), str):
                self._observation(doc, out)
            elif isinstance(doc.get("action"), str):
                self._action(doc["action"], doc, out)

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what an event says that is in a list of the object."""
        if name in _LISTS:
            self.take(doc, out)

    def close(self, out: SessionCollector) -> None:
        """A file has no end mark: it ends well wherever it ends."""
        out.add(Done())

    def _sdk_event(self, kind: str, doc: dict[str, Any], out: SessionCollector) -> None:
        ident = doc.get("tool_call_id")
        if kind == "ActionEvent":
            if out.begin("", string(doc.get("llm_response_id")) or string(doc.get("id"))):
                out.messages += 1
                self._thought(doc, out)
            call = doc.get("tool_call")
            arguments = member(call, "arguments") or member(call, "function", "arguments")
            if not isinstance(arguments, str):
                arguments = doc.get("action")
            out.call(doc.get("tool_name"), arguments, ident)
        elif kind == "MessageEvent":
            self._message(doc, out)
        elif kind == "ObservationEvent":
            observation = doc.get("observation")
            is_error = member(observation, "is_error") is True
            content = member(observation, "content")
            text = text_of(observation if content is None else content)
            out.result(ident, text, "", is_error)
        elif kind == "AgentErrorEvent":
            out.result(ident, text_of(doc.get("error")), "", True)
        elif kind == "UserRejectObservation":
            out.result(ident, text_of(doc.get("rejection_reason")), "", True, True)

    def _thought(self, doc: dict[str, Any], out: SessionCollector) -> None:
        reasoning = doc.get("reasoning_content")
        out.say(reasoning, Channel.REASONING)
        text = text_of(doc.get("thought"))
        # Without a channel of its own the reasoning stands in the text, too.
        if reasoning and text.startswith("<think>"):
            text = text.partition("</think>")[2].lstrip()
        out.say(text, Channel.CONTENT)

    def _message(self, doc: dict[str, Any], out: SessionCollector) -> None:
        message = doc.get("llm_message")
        text = text_of(member(message, "content"))
        if doc.get("source") == "user":
            out.user(text)
        elif doc.get("source") == "agent":
            if out.begin("", string(doc.get("llm_response_id")) or string(doc.get("id"))):
                out.messages += 1
            out.say(member(message, "reasoning_content"), Channel.REASONING)
            out.say(text, Channel.CONTENT)

    def _action(self, action: str, doc: dict[str, Any], out: SessionCollector) -> None:
        arguments = doc.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        if action == "message" and doc.get("source") == "user":
            out.user(text_of(arguments.get("content")))
            return
        if action in _OWN or doc.get("source") != "agent":
            return
        metadata = doc.get("tool_call_metadata")
        reply = member(metadata, "model_response")
        if out.begin("", string(member(reply, "id")) or f"event {text_of(doc.get('id'))}"):
            out.messages += 1
            content = arguments.get("content") if action == "message" else None
            out.say(content or arguments.get("thought") or _said(reply), Channel.CONTENT)
        if action != "message":
            ident = member(metadata, "tool_call_id") or f"event {text_of(doc.get('id'))}"
            written = _written(reply, ident)
            own = {key: value for key, value in arguments.items() if key not in _ADDED}
            name = string(member(metadata, "function_name")) or action
            out.call(name, own if written is None else written, ident)

    def _observation(self, doc: dict[str, Any], out: SessionCollector) -> None:
        ident = member(doc, "tool_call_metadata", "tool_call_id")
        if not ident and doc.get("cause") is None:
            return  # of no call: a change of the agent's state
        is_error = doc.get("observation") == "error" or doc.get("success") is False
        denied = doc.get("observation") == "user_rejected"
        ident = ident or f"event {text_of(doc.get('cause'))}"
        out.result(ident, text_of(doc.get("content")), "", is_error or denied, denied)


def _said(reply: Any) -> Any:
    """Return the text of a model's reply as its API answered."""
    choices = objects(member(reply, "choices"))
    return member(choices[0], "message", "content") if choices else None


def _written(reply: Any, ident: Any) -> str | None:
    """Return a call's arguments as the model wrote them."""
    choices = objects(member(reply, "choices"))
    for call in objects(member(choices[0], "message", "tool_calls")) if choices else ():
        arguments = member(call, "function", "arguments")
        if call.get("id") == ident and isinstance(arguments, str):
            return arguments
    return None
