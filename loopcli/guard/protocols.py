"""How each agent asks before a tool call, and which answer it takes for a refusal.

Every program reads the answer as JSON on standard output, with status 0. No
answer at all lets the call run, which is why the guard prints nothing then: text
that is no JSON, and statuses other than 0, mean different things to each.

- Claude Code and Codex send ``hook_event_name`` "PreToolUse". Codex ignores an
  answer that has a field it does not know, so the answer has no other.
- Gemini CLI sends "BeforeTool" and has no id for the call.
- OpenCode calls a plugin; the plugin that ``guard install`` writes sends the plain
  form ``{"session", "tool", "args"}`` and is answered in every case.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from re import compile as pattern
from typing import Any, NamedTuple

from loopcli.lenient_json import dump_line, member, string

_REFERENCE = pattern(r"[A-Za-z0-9][\w.:-]{0,127}")


class HookProtocol(StrEnum):
    """The forms in which a call is asked about."""

    PRE_TOOL_USE = "PreToolUse"  # Claude Code, Codex
    BEFORE_TOOL = "BeforeTool"  # Gemini CLI
    PLAIN = "plain"


class HookCall(NamedTuple):
    """A call that an agent is about to make.

    ``session`` and ``agent`` are references: safe to print and to put into a
    command line. ``agent`` is empty for the main agent, and ``id`` where the
    program has none for the call.
    """

    protocol: HookProtocol
    session: str
    agent: str
    tool: str
    arguments: Any
    id: str


def reference(name: str) -> str:
    """Return a name of a session or an agent, or its digest if it is not safe to print.

    >>> reference("4497f00a-eb5f"), reference("a; rm")
    ('4497f00a-eb5f', '090ef7f7a567a6efeccc736996f4047d')
    """
    if not name or _REFERENCE.fullmatch(name):
        return name
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def read_call(doc: Any) -> HookCall | None:
    """Return the call that a document asks about, ``None`` if it is another event.

    Raises ``ValueError`` if the document is in no form that is known.
    """
    event = member(doc, "hook_event_name")
    if event in (HookProtocol.PRE_TOOL_USE, HookProtocol.BEFORE_TOOL):
        session, agent = doc.get("session_id"), doc.get("agent_id")
        tool, arguments, id_ = doc.get("tool_name"), doc.get("tool_input"), doc.get("tool_use_id")
        protocol = HookProtocol(event)
    elif isinstance(event, str):
        return None
    elif isinstance(member(doc, "input", "tool"), str):  # as OpenCode hands it to a plugin
        asked, protocol = doc["input"], HookProtocol.PLAIN
        session, agent, tool, id_ = asked.get("sessionID"), "", asked["tool"], asked.get("callID")
        arguments = member(doc, "output", "args")
    elif isinstance(member(doc, "tool"), str):
        protocol, session, agent = HookProtocol.PLAIN, doc.get("session"), doc.get("agent")
        tool, arguments, id_ = doc["tool"], doc.get("args"), doc.get("id")
    else:
        raise ValueError("it asks about no tool call")
    if not (isinstance(session, str) and session and isinstance(tool, str) and tool):
        raise ValueError("it names no session or no tool")
    agent, id_ = string(agent), string(id_)
    return HookCall(protocol, reference(session), reference(agent), tool, arguments, id_)


def permission(protocol: HookProtocol) -> bytes:
    """Return the answer that lets a call run: nothing, except to our own plugin."""
    return dump_line({"decision": "allow"}) if protocol is HookProtocol.PLAIN else b""


def refusal(protocol: HookProtocol, reason: str) -> bytes:
    """Return the answer that refuses a call; the model reads the reason."""
    if protocol is HookProtocol.PRE_TOOL_USE:
        output = {
            "hookEventName": protocol.value,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
        return dump_line({"hookSpecificOutput": output})
    return dump_line({"decision": "deny", "reason": reason})
