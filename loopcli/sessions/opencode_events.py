"""The events of an OpenCode server (``GET /event``), which streams what agents write.

Source: a recording of version 1.18. Rules of this file:

- Text comes as deltas of a part, after the part itself has come, empty. A part
  comes whole in the end, and again after other changes: of what has been read
  of it only what is new counts.
- Parts say neither who wrote them nor to which agent they belong: the message
  does (``role``), which comes first, and the session. The first session is the
  main agent's, others are its subagents'.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Meta, UpstreamError
from loopcli.lenient_json import member, string
from loopcli.sessions.base import RecordDialect
from loopcli.sessions.collector import SessionCollector
from loopcli.sessions.opencode import failure, tool

# Messages and parts that are remembered.
_MAX_KNOWN = 16 * 1024


class OpenCodeEvents(RecordDialect):
    """Reads the events of a server: of one session, and of the subagents it starts."""

    name = "opencode-events"

    def __init__(self) -> None:
        self._session = ""
        self._roles: dict[str, str] = {}
        # Of each part, its channel and how many characters of it have been read.
        self._parts: dict[str, tuple[Channel, int]] = {}
        self._blocks: dict[str, int] = {}

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what an event says."""
        kind, properties = member(doc, "type"), member(doc, "properties")
        if not isinstance(properties, dict):
            return
        session = string(properties.get("sessionID"))
        if not self._session and session:
            self._session = session
            out.add(Meta(session))
        agent = "" if session == self._session else session
        if kind == "message.updated":
            info = properties.get("info")
            _remember(self._roles, string(member(info, "id")), string(member(info, "role")))
        elif kind == "message.part.updated":
            part = properties.get("part")
            if isinstance(part, dict):
                self._part(part, agent, out)
        elif kind == "message.part.delta":
            self._delta(properties, agent, out)
        elif kind == "session.error":
            out.end(agent)
            out.add(UpstreamError(failure(properties.get("error")), out.line, out.byte))
        elif kind == "session.idle":
            out.end(agent)

    def _part(self, part: dict[str, Any], agent: str, out: SessionCollector) -> None:
        message, ident = string(part.get("messageID")), string(part.get("id"))
        role, kind = self._roles.get(message, ""), part.get("type")
        text = string(part.get("text"))
        if role == "user":
            if kind == "text" and text and not part.get("synthetic") and ident not in self._parts:
                _remember(self._parts, ident, (Channel.CONTENT, 0))
                out.user(text, agent)
        elif kind == "step-finish":
            out.end(agent)
        elif kind in ("step-start", "text", "reasoning", "tool"):
            if out.begin(agent, message):
                out.messages += 1
            channel = Channel.REASONING if kind == "reasoning" else Channel.CONTENT
            if kind == "tool":
                self._tool(part, ident, agent, out)
            elif kind != "step-start":
                read = self._parts.get(ident, (channel, 0))[1]
                out.delta(text[read:], channel, agent, self._block(ident))
                _remember(self._parts, ident, (channel, max(read, len(text))))

    def _tool(self, part: dict[str, Any], ident: str, agent: str, out: SessionCollector) -> None:
        """Add a call once it has come to something: before, its arguments may be incomplete."""
        done = member(part, "state", "status") in ("completed", "error")
        if done and ident not in self._parts:
            _remember(self._parts, ident, (Channel.TOOL_ARGS, 0))
            tool(part, agent, out)

    def _delta(self, delta: dict[str, Any], agent: str, out: SessionCollector) -> None:
        ident, text = string(delta.get("partID")), string(delta.get("delta"))
        if delta.get("field") != "text" or ident not in self._parts:
            return
        channel, read = self._parts[ident]
        self._parts[ident] = channel, read + len(text)
        out.begin(agent, string(delta.get("messageID")))
        out.delta(text, channel, agent, self._block(ident))

    def _block(self, ident: str) -> int:
        """Return the lane of a part's text."""
        if ident not in self._blocks:
            _remember(self._blocks, ident, len(self._blocks))
        return self._blocks[ident]


def _remember(known: dict[str, Any], name: str, value: Any) -> None:
    if name not in known and len(known) >= _MAX_KNOWN:
        del known[next(iter(known))]
    known[name] = value
