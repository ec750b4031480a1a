"""Claude Code: what ``--output-format stream-json`` prints.

Source: recordings of version 2.1, with and without partial messages. Rules of
this file, beside those of ``claude``:

- With ``--include-partial-messages`` the reply comes as the events of the API
  (``stream_event``), and then again in records: those are skipped. Its
  ``message_stop`` ends the round at once. A reply whose ``message_stop`` never
  came has been given up for the next one.
- Subagents are told apart by ``parent_tool_use_id``, the call that they work for.
- ``result`` ends a turn, and says whether the API failed: ``is_error``, while
  ``subtype`` may say success.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, UpstreamError, Usage
from loopcli.lenient_json import count, member, string
from loopcli.readers.arguments import Unescaper
from loopcli.session_events import CallKind
from loopcli.sessions.claude import MAX_AGENTS, ClaudeRecords
from loopcli.sessions.collector import SessionCollector

# Of one reply: what a reply that is no loop stays far below.
_MAX_CALLS = 1024
_MAX_ARGUMENTS = 1024 * 1024


class _StreamedCall:
    """A tool call whose arguments arrive in fragments."""

    __slots__ = ("fragments", "ident", "kind", "name", "size", "unescaper")

    def __init__(self, name: str, ident: str, kind: CallKind) -> None:
        self.name = name
        self.ident = ident
        self.kind = kind
        self.fragments: list[str] = []
        self.size = 0
        self.unescaper = Unescaper()

    def add(self, fragment: str) -> str:
        """Keep a fragment, up to the cap; return the words in it."""
        self.size += len(fragment)
        if self.size <= _MAX_ARGUMENTS:
            self.fragments.append(fragment)
        return self.unescaper.feed(fragment)


class _StreamedReply:
    """The reply of one agent that arrives as events of the API."""

    __slots__ = ("calls", "done", "ident")

    def __init__(self, ident: str) -> None:
        self.ident = ident
        self.done = False
        self.calls: dict[int, _StreamedCall] = {}


class ClaudeStream(ClaudeRecords):
    """Reads what the program prints as it runs."""

    name = "claude-code-stream-json"

    def __init__(self) -> None:
        super().__init__()
        self._replies: dict[str, _StreamedReply] = {}

    def agent_of(self, doc: dict[str, Any], out: SessionCollector) -> str:
        """Return the call that a subagent works for."""
        agent = doc.get("parent_tool_use_id")
        if not isinstance(agent, str):
            return ""
        if len(self.tasks) < MAX_AGENTS:
            self.tasks.add(agent)
        return agent

    def has_streamed(self, agent: str, ident: str) -> bool:
        """Return whether a reply has come as events already."""
        reply = self._replies.get(agent)
        if reply is not None and not reply.ident:
            reply.ident = ident  # its beginning was missed
        return reply is not None and reply.ident == ident

    def other(self, kind: str, doc: dict[str, Any], out: SessionCollector) -> None:
        """Take an event of the API, the head of a session, or its end."""
        if kind == "stream_event":
            event = doc.get("event")
            if isinstance(event, dict):
                self._event(event, string(doc.get("parent_tool_use_id")), out)
        elif kind == "system":
            if doc.get("subtype") == "init":
                self._begin(string(doc.get("session_id")), string(doc.get("model")), out)
        elif kind == "result":
            self._end(doc, out)

    def _begin(self, session: str, model: str, out: SessionCollector) -> None:
        """Take the first record of a session, or of another turn of the same one."""
        if self.session and session and session != self.session:
            out.start(session)
            self._replies.clear()
        self.session = session or self.session
        self.tell(session, model, out)

    def _end(self, doc: dict[str, Any], out: SessionCollector) -> None:
        out.end()
        usage = doc.get("usage")
        if isinstance(usage, dict):
            out.add(Usage(usage))
        if doc.get("is_error") is True:
            message = string(doc.get("result")) or string(doc.get("subtype"))
            code = count(doc.get("api_error_status"))
            out.add(UpstreamError(message, out.line, out.byte, str(code) if code else ""))
        out.add(Done())

    def _event(self, event: dict[str, Any], agent: str, out: SessionCollector) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._start(string(member(event, "message", "id")), agent, out)
            return
        if agent not in self._replies and kind in ("content_block_start", "content_block_delta"):
            self._start("", agent, out)  # whoever saved the stream began in the middle of it
        reply = self._replies.get(agent)
        if reply is None or reply.done:
            return
        if kind == "content_block_delta":
            self._delta(reply, count(event.get("index")), event.get("delta"), agent, out)
        elif kind == "content_block_start":
            self._start_block(
                reply, count(event.get("index")), event.get("content_block"), agent, out
            )
        elif kind == "content_block_stop":
            self._stop(reply, count(event.get("index")), agent, out)
        elif kind == "message_stop":
            reply.done = True
            out.end(agent)

    def _start(self, ident: str, agent: str, out: SessionCollector) -> None:
        before = self._replies.pop(agent, None)
        if before is not None and not before.done:
            out.restart(agent)
        elif len(self._replies) >= MAX_AGENTS:
            del self._replies[next(iter(self._replies))]
        self._replies[agent] = _StreamedReply(ident)
        if out.begin(agent, ident):
            out.messages += 1

    def _start_block(
        self, reply: _StreamedReply, index: int, block: Any, agent: str, out: SessionCollector
    ) -> None:
        kind = member(block, "type")
        if kind == "tool_use" or kind == "mcp_tool_use" or kind == "server_tool_use":
            who = CallKind.SERVER if kind == "server_tool_use" else CallKind.CLIENT
            if len(reply.calls) < _MAX_CALLS:
                name, ident = string(block.get("name")), string(block.get("id"))
                reply.calls[index] = _StreamedCall(name, ident, who)
        elif kind == "text":
            out.delta(block.get("text"), Channel.CONTENT, agent, index)

    def _delta(
        self, reply: _StreamedReply, index: int, delta: Any, agent: str, out: SessionCollector
    ) -> None:
        kind = member(delta, "type")
        if kind == "text_delta":
            out.delta(delta.get("text"), Channel.CONTENT, agent, index)
        elif kind == "thinking_delta":
            out.delta(delta.get("thinking"), Channel.REASONING, agent, index)
        elif kind == "input_json_delta" and index in reply.calls:
            call = reply.calls[index]
            words = call.add(string(delta.get("partial_json")))
            out.delta(words, Channel.TOOL_ARGS, agent, index, call.name)

    def _stop(self, reply: _StreamedReply, index: int, agent: str, out: SessionCollector) -> None:
        call = reply.calls.pop(index, None)
        if call is not None:
            arguments = "".join(call.fragments) or "{}"
            out.call(call.name, arguments, call.ident, agent, call.kind, spoken=True)
