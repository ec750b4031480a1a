"""What agents hand to a hook before a call, kept one object a line.

Source: the inputs of PreToolUse (Claude Code, Codex), BeforeTool (Gemini CLI)
and ``tool.execute.before`` (OpenCode). A hook sees calls and nothing else, so
each call is a round by itself.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Done
from loopcli.lenient_json import member, string
from loopcli.sessions.base import RecordDialect
from loopcli.sessions.collector import SessionCollector

_BEFORE = ("PreToolUse", "BeforeTool")


class HookInput(RecordDialect):
    """Reads one call a line."""

    name = "hook-input"

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add the call that a hook was asked about."""
        agent = string(member(doc, "agent_id"))
        if member(doc, "hook_event_name") in _BEFORE:
            call = doc.get("tool_name"), doc.get("tool_input"), doc.get("tool_use_id")
        elif isinstance(member(doc, "input", "tool"), str):
            call = doc["input"]["tool"], member(doc, "output", "args"), doc["input"].get("callID")
        else:
            return
        out.begin(agent, f"call {out.calls}")
        out.call(*call, agent)
        out.end(agent)

    def close(self, out: SessionCollector) -> None:
        """A log has no end mark: it ends well wherever it ends."""
        out.add(Done())
