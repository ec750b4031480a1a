"""Which program or format a session is of, told by one of its first records.

A reader needs one dialect, so the others are not even imported. The signs below
are members that no answer of a model's API has beside each other: a stream of
an API is never taken for a session.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from loopcli.lenient_json import member, objects, string

if TYPE_CHECKING:
    from loopcli.sessions.base import SessionDialect


class SessionFormat(NamedTuple):
    """Where a dialect stands, and how its input is cut.

    ``documents`` says that one object holds a whole session, so that it is read
    by its members. ``program`` says that nothing else looks like it: a list of
    messages, and what is little more, may just as well be an evaluation's replies.
    """

    module: str
    kind: str
    documents: bool = False
    program: bool = True


FORMATS = {
    "turns": SessionFormat("turns", "Turns"),
    "claude-code-jsonl": SessionFormat("claude", "ClaudeSession"),
    "claude-code-stream-json": SessionFormat("claude_stream", "ClaudeStream"),
    "codex-rollout-jsonl": SessionFormat("codex", "CodexRollout"),
    "codex-exec-json": SessionFormat("codex", "CodexExec"),
    "gemini-cli-session": SessionFormat("gemini", "GeminiSession"),
    "gemini-cli-session-json": SessionFormat("gemini", "GeminiSession", documents=True),
    "gemini-cli-stream-json": SessionFormat("gemini", "GeminiStream"),
    "gemini-cli-responses": SessionFormat("gemini_responses", "GeminiResponses", program=False),
    "opencode-export": SessionFormat("opencode", "OpenCodeExport", documents=True),
    "opencode-run-json": SessionFormat("opencode", "OpenCodeRun"),
    "opencode-events": SessionFormat("opencode_events", "OpenCodeEvents"),
    "openhands": SessionFormat("openhands", "OpenHands"),
    "openhands-history": SessionFormat("openhands", "OpenHands", documents=True),
    "swe-agent": SessionFormat("swe_agent", "SweAgent", documents=True),
    "mini-swe-agent": SessionFormat("messages", "MiniSweAgent", documents=True, program=False),
    "pi-session": SessionFormat("pi", "PiSession"),
    "aider": SessionFormat("aider", "AiderHistory"),
    "litellm": SessionFormat("messages", "LiteLlmLog", documents=True, program=False),
    "inspect": SessionFormat("messages", "InspectLog", documents=True),
    "agent-steps": SessionFormat("steps", "AgentSteps"),
    "request-log": SessionFormat("request_log", "RequestLog"),
    "hook-input": SessionFormat("hook_input", "HookInput"),
    "openai-messages": SessionFormat("messages", "MessageList", documents=True, program=False),
    "anthropic-messages": SessionFormat(
        "messages", "AnthropicMessages", documents=True, program=False
    ),
}
NAMES = tuple(FORMATS)
# How an input of lines of text begins that is a session.
AIDER_START = b"# aider chat started at "


def dialect(name: str) -> SessionDialect:
    """Return a fresh dialect by its name."""
    form = FORMATS[name]
    made: SessionDialect = getattr(import_module(f"loopcli.sessions.{form.module}"), form.kind)()
    return made


def holds_session(name: str) -> bool:
    """Return whether in a format one object holds a whole session."""
    return name in FORMATS and FORMATS[name].documents


# Items of an array that are looked at: a program's own notes may stand first.
_ITEMS_LOOKED_AT = 20


def recognise(doc: Any) -> str:
    """Return the name of the format that a record is in, or nothing.

    >>> recognise({"type": "user", "uuid": "1", "sessionId": "2", "message": {"role": "user"}})
    'claude-code-jsonl'
    >>> recognise({"type": "message_start", "message": {"role": "assistant"}})
    ''
    """
    if isinstance(doc, list):
        return next(filter(None, map(recognise, doc[:_ITEMS_LOOKED_AT])), "")
    if not isinstance(doc, dict):
        return ""
    kind = string(doc.get("type"))
    return next(filter(None, (sign(doc, kind) for sign in _SIGNS)), "")


_CLAUDE = frozenset({"system", "assistant", "user", "result", "stream_event"})
_CLAUDE_NOTES = frozenset(
    {"summary", "file-history-snapshot", "queue-operation", "last-prompt", "progress", "attachment"}
)


def _claude(doc: dict[str, Any], kind: str) -> str:
    if kind in _CLAUDE_NOTES and {"sessionId", "leafUuid", "snapshot", "uuid"} & doc.keys():
        return "claude-code-jsonl"
    if kind not in _CLAUDE:
        return ""
    if "session_id" in doc or "parent_tool_use_id" in doc:
        return "claude-code-stream-json"
    if "uuid" in doc and ("sessionId" in doc or "parentUuid" in doc):
        return "claude-code-jsonl"
    begins = kind == "system" and doc.get("subtype") == "init"
    speaks = kind in ("assistant", "user") and member(doc, "message", "content") is not None
    return "claude-code-stream-json" if begins or speaks else ""


_CODEX_ROLLOUT = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
_CODEX_ITEMS = frozenset({"function_call", "function_call_output", "local_shell_call"})
_CODEX_EVENTS = ("thread.", "turn.", "item.")


def _codex(doc: dict[str, Any], kind: str) -> str:
    if kind in _CODEX_ROLLOUT and isinstance(doc.get("payload"), dict):
        return "codex-rollout-jsonl"
    parts = objects(doc.get("content")) if kind == "message" and "role" in doc else []
    bare = {"id", "timestamp", "instructions"} <= doc.keys() or "record_type" in doc
    if bare or (kind in _CODEX_ITEMS and "call_id" in doc):
        return "codex-rollout-jsonl"
    if any(part.get("type") in ("input_text", "output_text") for part in parts):
        return "codex-rollout-jsonl"
    streamed = kind.startswith(_CODEX_EVENTS) and kind.count(".") == 1
    known = {"thread_id", "item", "usage", "error"} & doc.keys() or kind == "turn.started"
    return "codex-exec-json" if streamed and known else ""


def _gemini(doc: dict[str, Any], kind: str) -> str:
    if "sessionId" in doc and "projectHash" in doc:
        return "gemini-cli-session-json" if "messages" in doc else "gemini-cli-session"
    if kind == "gemini" and {"id", "content"} <= doc.keys():
        return "gemini-cli-session"
    if isinstance(member(doc, "$set"), dict):
        return "gemini-cli-session"
    if "timestamp" in doc and (
        (kind == "init" and "session_id" in doc)
        or (kind == "tool_use" and "tool_id" in doc)
        or (kind == "tool_result" and "tool_id" in doc)
        or (kind == "message" and "role" in doc and isinstance(doc.get("content"), str))
    ):
        return "gemini-cli-stream-json"
    recorded = string(doc.get("method")).startswith("generateContent")
    return "gemini-cli-responses" if recorded and "response" in doc else ""


_OPENCODE = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use"})

_OPENCODE_EVENTS = ("server.", "session.", "message.")


def _opencode(doc: dict[str, Any], kind: str) -> str:
    if "sessionID" in doc and (
        (kind in _OPENCODE and isinstance(doc.get("part"), dict))
        or (kind == "error" and "error" in doc)
    ):
        return "opencode-run-json"
    if kind.startswith(_OPENCODE_EVENTS) and isinstance(doc.get("properties"), dict):
        return "opencode-events"
    messages = objects(doc.get("messages"))
    exported = isinstance(doc.get("info"), dict) and (
        any("info" in message for message in messages)
        or {"projectID", "slug", "directory"} & doc["info"].keys()
    )
    return "opencode-export" if exported else ""


def _trajectory(doc: dict[str, Any], kind: str) -> str:
    history = objects(doc.get("history"))
    if "source" in doc and "timestamp" in doc and "id" in doc:
        if string(doc.get("kind")).endswith(("Event", "Observation")):
            return "openhands"
        if isinstance(doc.get("action"), str) or isinstance(doc.get("observation"), str):
            return "openhands"
    if any(map(recognise, history[:_ITEMS_LOOKED_AT])) and "instance_id" in doc:
        return "openhands-history"
    if {"trajectory", "history", "replay_config"} & doc.keys() and (
        {"environment", "info"} & doc.keys()
    ):
        return "swe-agent"
    if string(doc.get("trajectory_format")).startswith("mini-swe-agent"):
        return "mini-swe-agent"
    mini = (
        "messages" in doc
        and {"exit_status", "submission", "mini_version"} & (member(doc, "info") or {}).keys()
    )
    return "mini-swe-agent" if mini else ""


def _turns(doc: dict[str, Any], kind: str) -> str:
    return "turns" if "doomLoop" in doc or isinstance(doc.get("turns"), list) else ""


def _log(doc: dict[str, Any], kind: str) -> str:
    if kind == "session" and {"id", "timestamp"} <= doc.keys():
        return "pi-session"
    if kind == "message" and member(doc, "message", "role"):
        return "pi-session"
    if isinstance(doc.get("eval"), dict) and {"version", "status"} <= doc.keys():
        return "inspect"
    if isinstance(doc.get("text"), str) and (
        {"tool_events", "token_logprobs"} & doc.keys() and "action" in doc
    ):
        return "agent-steps"
    asked = doc.get("hook_event_name") in ("PreToolUse", "BeforeTool") and "tool_name" in doc
    if asked or {"tool", "sessionID", "callID"} <= (_object(doc, "input")).keys():
        return "hook-input"
    body = _object(doc, "body")
    if {"path", "url", "headers"} & doc.keys() and {"messages", "contents", "input"} & body.keys():
        return "request-log"
    return ""


def _messages(doc: dict[str, Any], kind: str) -> str:
    listed = doc.get("messages", doc.get("traj"))
    answered = isinstance(doc.get("response"), dict) and "choices" in doc["response"]
    if isinstance(listed, list) and answered:
        return "litellm"
    messages = objects(listed if isinstance(listed, list) else [doc])
    if not any(isinstance(message.get("role"), str) for message in messages):
        return ""
    blocks = [block for message in messages for block in objects(message.get("content"))]
    anthropic = any(block.get("type") in ("tool_use", "tool_result") for block in blocks)
    return "anthropic-messages" if anthropic else "openai-messages"


def _object(doc: dict[str, Any], name: str) -> dict[str, Any]:
    value = doc.get(name)
    return value if isinstance(value, dict) else {}


# From the signs that nothing else has to those that many documents have.
_SIGNS: tuple[Callable[[dict[str, Any], str], str], ...] = (
    _turns,
    _claude,
    _codex,
    _gemini,
    _opencode,
    _trajectory,
    _log,
    _messages,
)
