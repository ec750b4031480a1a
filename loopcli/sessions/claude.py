"""Claude Code: its session files, and what they share with what it prints.

Source: recordings of version 2.1 and older files. Rules of this file:

- A record holds one block of a reply, seldom more; the records of one reply
  share ``message.id``. So a round ends where another id begins, where the user
  speaks, and with the end: nothing in a record says that it is the reply's
  last. ``stop_reason`` is no sign: it is mostly null.
- Subagents are lanes of their own: by ``agentId`` in a file, and in older files
  by the record that their side chain goes back to.
- A resumed session may copy records, which keep their ``uuid``.
- Of ``user`` records only texts that a person or a caller wrote are the user's;
  what the program itself adds (``isMeta``, reminders) is neither.
- A reply of the model ``<synthetic>`` is the program's own: an API failure.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Meta
from loopcli.lenient_json import string
from loopcli.session_events import CallKind
from loopcli.sessions.base import Recent, RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

# Records remembered by their ``uuid``: more than the longest sessions have.
_MAX_RECENT = 128 * 1024
MAX_AGENTS = 256
# How the program words that a person, or the permission mode, refused a call.
_DENIALS = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "Permission to use ",
    "Claude requested permissions to ",
)
# What the program writes in the user's name.
_PROGRAM = ("<system-reminder>", "<local-command-", "<command-name>", "<task-notification>")


class ClaudeRecords(RecordDialect):
    """What both forms share."""

    name = "claude-code"

    def __init__(self) -> None:
        self._seen = Recent(_MAX_RECENT)
        self.meta = Meta()
        self.session = ""
        # The calls that subagents work for.
        self.tasks: set[str] = set()

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a record says."""
        if not isinstance(doc, dict):
            return
        kind = doc.get("type")
        if kind != "assistant" and kind != "user":
            if isinstance(kind, str):
                self.other(kind, doc, out)
            return
        message, ident = doc.get("message"), doc.get("uuid")
        if not isinstance(message, dict):
            return
        if isinstance(ident, str) and self._seen.seen(ident):
            return
        agent = self.agent_of(doc, out)
        if kind == "user":
            self._user(doc, message, agent, out)
        else:
            self._assistant(message, agent, out)

    def agent_of(self, doc: dict[str, Any], out: SessionCollector) -> str:
        """Return the agent that wrote a record, or that it was written to."""
        raise NotImplementedError

    def other(self, kind: str, doc: dict[str, Any], out: SessionCollector) -> None:
        """Take a record that is no message."""
        raise NotImplementedError

    def has_streamed(self, agent: str, ident: str) -> bool:
        """Return whether a reply has come as events already."""
        return False

    def tell(self, session: str, model: str, out: SessionCollector) -> None:
        """Add what is new of the session's id and the model; the first of each stay."""
        meta = Meta(self.meta.generation_id or session, self.meta.model or model)
        if meta != self.meta:
            self.meta = meta
            out.add(meta)

    def _assistant(self, message: dict[str, Any], agent: str, out: SessionCollector) -> None:
        ident = string(message.get("id"))
        if self.has_streamed(agent, ident):
            return
        if out.begin(agent, ident):
            out.messages += 1
        if message.get("model") == "<synthetic>":
            return
        if not self.meta.model:
            self.tell("", string(message.get("model")), out)
        content = message.get("content")
        if isinstance(content, str):
            out.say(content, Channel.CONTENT, agent)
        elif isinstance(content, list):
            for block in content:
                if isinstance(block, dict):
                    self._block(block, agent, out)

    def _block(self, block: dict[str, Any], agent: str, out: SessionCollector) -> None:
        """Add a block of a reply."""
        kind = block.get("type")
        if kind == "text":
            out.say(block.get("text"), Channel.CONTENT, agent)
        elif kind == "thinking":
            out.say(block.get("thinking"), Channel.REASONING, agent)
        elif kind == "tool_use" or kind == "mcp_tool_use":
            out.call(block.get("name"), block.get("input"), block.get("id"), agent)
        elif kind == "server_tool_use":
            name, ident = block.get("name"), block.get("id")
            out.call(name, block.get("input"), ident, agent, CallKind.SERVER)
        elif string(kind).endswith("_tool_result"):
            out.result(block.get("tool_use_id"), text_of(block.get("content")), agent)

    def _user(
        self, doc: dict[str, Any], message: dict[str, Any], agent: str, out: SessionCollector
    ) -> None:
        content = message.get("content")
        said = [content] if isinstance(content, str) else []
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else ""
            if kind == "tool_result":
                self._result(block, agent, out)
            elif kind == "text":
                said.append(string(block.get("text")))
        if said and not doc.get("isMeta") and not doc.get("isCompactSummary"):
            text = "\n".join(text for text in said if not text.startswith(_PROGRAM))
            if text:
                out.user(text, agent)

    def _result(self, block: dict[str, Any], agent: str, out: SessionCollector) -> None:
        text = block.get("content")
        if not isinstance(text, str):
            text = text_of(text)
        ident, is_error = block.get("tool_use_id"), block.get("is_error") is True
        denied = is_error and text.startswith(_DENIALS)
        out.result(ident, text, agent, is_error, denied)
        if self.tasks and isinstance(ident, str) and ident in self.tasks:
            # The call was a task for a subagent, which says no more.
            self.tasks.discard(ident)
            out.end(ident)


class ClaudeSession(ClaudeRecords):
    """Reads the files under ``~/.claude/projects``."""

    name = "claude-code-jsonl"

    def __init__(self) -> None:
        super().__init__()
        # Of the records of a side chain, the agent that wrote them.
        self._chains: dict[str, str] = {}

    def agent_of(self, doc: dict[str, Any], out: SessionCollector) -> str:
        """Return the agent that a record names, or the side chain that it goes back to."""
        parent = doc.get("parentUuid")
        if parent is None:
            self._root(string(doc.get("sessionId")), doc, out)
        if doc.get("isSidechain") is not True:
            return ""
        agent = doc.get("agentId")
        if isinstance(agent, str):
            return agent
        ident = string(doc.get("uuid"))
        agent = self._chains.get(parent, "") if isinstance(parent, str) else ""
        agent = agent or f"side chain {ident}"
        if len(self._chains) >= _MAX_RECENT:
            self._chains.clear()
        self._chains[ident] = agent
        return agent

    def _root(self, session: str, doc: dict[str, Any], out: SessionCollector) -> None:
        """Take a record that follows none: of a session, after a compaction, or of a side chain."""
        if doc.get("isSidechain") is True and self.session:
            return
        if session and session != self.session:
            if self.session:
                out.start(session)
            self.session = session
            self.tell(session, "", out)

    def other(self, kind: str, doc: dict[str, Any], out: SessionCollector) -> None:
        """Ignore the program's notes: summaries, snapshots, queued prompts."""

    def close(self, out: SessionCollector) -> None:
        """A file has no end mark: it ends well wherever it ends."""
        out.add(Done())
