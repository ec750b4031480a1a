"""OpenCode: what ``opencode run --format json`` and ``opencode export`` print.

Source: recordings of version 1.18. Rules of this file:

- A part is printed once it is complete: a text when all of it is there, a call
  together with its result. A call that was running when the program was killed
  shows in an export only.
- A step is a round; retries of one step show as more ``step_start`` with the
  same ``messageID`` and nothing between them.
- The order of the parts of a message is that of their ids.
- Parts of another session in a stream are those of a subagent.
- A part that the program wrote itself is ``synthetic`` and not the user's.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Finish, Meta, UpstreamError
from loopcli.lenient_json import member, objects, string
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

_DENIALS = (
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "Error: The user rejected permission",
)


def tool(part: dict[str, Any], agent: str, out: SessionCollector) -> None:
    """Add a call and, if it has come to something, its result."""
    state = part.get("state")
    ident = part.get("callID")
    arguments = member(state, "input")
    out.call(part.get("tool"), {} if arguments is None else arguments, ident, agent)
    status = member(state, "status")
    if status == "completed":
        out.result(ident, text_of(member(state, "output")), agent)
    elif status == "error":
        text = text_of(member(state, "error"))
        out.result(ident, text, agent, True, text.startswith(_DENIALS))


def failure(error: Any) -> str:
    """Return what an error object says."""
    message = member(error, "data", "message") or member(error, "message") or member(error, "name")
    return string(message) or "the session failed"


class OpenCodeRun(RecordDialect):
    """Reads what the program prints as it runs."""

    name = "opencode-run-json"

    def __init__(self) -> None:
        self._session = ""
        self._messages: dict[str, str] = {}  # of each session, the message in hand

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what an event says."""
        kind = member(doc, "type")
        if not isinstance(kind, str):
            return
        session = string(doc.get("sessionID"))
        if not self._session and session:
            self._session = session
            out.add(Meta(session))
        agent = "" if session == self._session else session
        if kind == "error":
            out.end(agent)
            out.add(UpstreamError(failure(doc.get("error")), out.line, out.byte))
            return
        part = doc.get("part")
        if isinstance(part, dict):
            self._part(kind, part, agent, out)

    def _part(self, kind: str, part: dict[str, Any], agent: str, out: SessionCollector) -> None:
        message = string(part.get("messageID"))
        if self._messages.get(agent) != message:
            if len(self._messages) >= _MAX_SESSIONS:
                del self._messages[next(iter(self._messages))]
            self._messages[agent] = message
            out.messages += 1
        out.begin(agent, message)
        if kind == "text":
            out.say(part.get("text"), Channel.CONTENT, agent)
        elif kind == "reasoning":
            out.say(part.get("text"), Channel.REASONING, agent)
        elif kind == "tool_use":
            tool(part, agent, out)
        elif kind == "step_finish":
            out.end(agent)
            if not agent and part.get("reason") == "stop":
                out.add(Finish(0, "stop"))


# Sessions whose parts may come in turns: one, and its subagents.
_MAX_SESSIONS = 256


class OpenCodeExport(RecordDialect):
    """Reads an exported session, which is one document."""

    name = "opencode-export"

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a message says that stands by itself."""
        self.member("messages", doc, out)

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what the head or a message says."""
        if name == "info":
            out.add(Meta(string(member(doc, "id")), string(member(doc, "model", "id"))))
        if name != "messages":
            return
        info, parts = member(doc, "info"), objects(member(doc, "parts"))
        parts.sort(key=lambda part: string(part.get("id")))
        if member(info, "role") == "user":
            texts = [string(part.get("text")) for part in parts if not part.get("synthetic")]
            out.user("\n".join(filter(None, texts)))
        elif member(info, "role") == "assistant":
            self._reply(info, parts, out)

    def _reply(self, info: Any, parts: list[dict[str, Any]], out: SessionCollector) -> None:
        out.messages += 1
        for part in parts:
            kind = part.get("type")
            if kind == "step-finish":
                out.end()
                continue
            if kind in ("step-start", "text", "reasoning", "tool"):
                out.begin("", string(info.get("id")))
            if kind == "text" and not part.get("synthetic"):
                out.say(part.get("text"), Channel.CONTENT)
            elif kind == "reasoning":
                out.say(part.get("text"), Channel.REASONING)
            elif kind == "tool":
                tool(part, "", out)
        out.end()
        if info.get("error"):
            out.add(UpstreamError(failure(info.get("error")), out.line, out.byte))

    def close(self, out: SessionCollector) -> None:
        """A file has no end mark: it ends well wherever it ends."""
        out.add(Done())
