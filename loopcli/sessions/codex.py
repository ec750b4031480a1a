"""Codex CLI: its rollout files, and what ``codex exec --json`` prints.

Source: recordings of version 0.171, public samples and older files. Rules:

- In a rollout only ``response_item`` is the conversation. ``event_msg`` says the
  same again for the screen, and so does ``item_completed``. Files of the first
  versions have the items bare, without the envelope.
- A reply's items come first, then its token count, then the outputs of its
  calls: either of the two ends the round.
- In the event stream nothing says which items belong to one reply. Calls that
  run at the same time do; a call that begins after another has ended begins a
  round. So equal calls in one reply look like a loop of that many rounds.
- Of an output for the model, the head with its random chunk id and its wall
  time is the program's; what follows ``Output:`` is the tool's.
- Of ``exec``, an item of type ``error`` may be a mere notice, and ``error`` a
  retry; only ``turn.failed`` is a failure.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Meta, UpstreamError, Usage
from loopcli.lenient_json import member, objects, string
from loopcli.session_events import CallKind
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

# Texts that the program writes in the user's name.
_PROGRAM = ("<environment_context>", "<user_instructions>", "<permissions", "# AGENTS.md", "<skill")
_DENIALS = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "Command blocked by PreToolUse hook",
)
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})


class CodexRollout(RecordDialect):
    """Reads the files under ``~/.codex/sessions``."""

    name = "codex-rollout-jsonl"

    def __init__(self) -> None:
        self._session = ""

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a record says."""
        if not isinstance(doc, dict):
            return
        payload = doc.get("payload")
        if not isinstance(payload, dict):
            self._item(doc, out)
            return
        kind = doc.get("type")
        if kind == "response_item":
            self._item(payload, out)
        elif kind == "session_meta":
            # A fork repeats the head of the session that it goes on with.
            if not self._session:
                self._session = string(payload.get("id"))
                out.add(Meta(self._session))
        elif kind == "token_usage_record" or (
            kind == "event_msg" and payload.get("type") in ("token_count", "turn_aborted")
        ):
            out.end()

    def _item(self, item: dict[str, Any], out: SessionCollector) -> None:
        kind = string(item.get("type"))
        if kind == "message":
            self._message(item, out)
        elif kind == "reasoning":
            out.begin()
            for part in (*objects(item.get("summary")), *objects(item.get("content"))):
                out.say(part.get("text"), Channel.REASONING)
        elif kind in _CALLS:
            out.begin()
            arguments = item.get(_CALLS[kind])
            out.call(item.get("name"), "" if arguments is None else arguments, item.get("call_id"))
        elif kind == "local_shell_call":
            out.begin()
            out.call("local_shell", item.get("action"), item.get("call_id") or item.get("id"))
        elif kind in _OUTPUTS:
            out.end()
            self._output(item, out)
        elif kind.endswith("_call"):
            out.begin()
            out.call(kind, item, item.get("id"), "", CallKind.SERVER)

    def _message(self, item: dict[str, Any], out: SessionCollector) -> None:
        role = item.get("role")
        parts = objects(item.get("content"))
        if role == "assistant":
            out.begin()
            out.messages += 1
            for part in parts:
                out.say(part.get("text"), Channel.CONTENT)
        elif role == "user":
            texts = [string(part.get("text")) for part in parts]
            text = "\n".join(text for text in texts if not text.startswith(_PROGRAM))
            if text:
                out.user(text)

    def _output(self, item: dict[str, Any], out: SessionCollector) -> None:
        raw = item.get("output")
        text = text_of(member(raw, "content") if isinstance(raw, dict) else raw)
        is_error = isinstance(raw, dict) and raw.get("success") is False
        head, mark, rest = text.partition("\nOutput:\n")
        if mark and head.startswith(("Chunk ID:", "Wall time:", "Exit code:", "Process exited")):
            text = rest
            is_error = "code" in head and "code 0" not in head and "code: 0" not in head
        denied = text.startswith(_DENIALS)
        out.result(item.get("call_id"), text, "", is_error or denied, denied)

    def close(self, out: SessionCollector) -> None:
        """A file has no end mark: it ends well wherever it ends."""
        out.add(Done())


# What an item of the event stream asks for, by its type: the members that are
# the tool's arguments. A command's tool is a shell.
_ITEMS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("server", "arguments"),
    "web_search": ("query", "action"),
    "collab_tool_call": ("tool", "prompt", "receiver_thread_ids"),
}


class CodexExec(RecordDialect):
    """Reads what the program prints as it runs."""

    name = "codex-exec-json"

    def __init__(self) -> None:
        self._running: set[str] = set()
        self._said = False

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what an event says."""
        kind = string(member(doc, "type"))
        if kind == "thread.started":
            out.add(Meta(string(doc.get("thread_id"))))
        elif kind.startswith("item."):
            item = doc.get("item")
            if isinstance(item, dict):
                self._item(kind, item, out)
        elif kind == "turn.completed":
            self._end(out)
            usage = doc.get("usage")
            if isinstance(usage, dict):
                out.add(Usage(usage))
            out.add(Done())
        elif kind == "turn.failed":
            self._end(out)
            message = string(member(doc, "error", "message")) or "the turn failed"
            out.add(UpstreamError(message, out.line, out.byte))
            out.add(Done())

    def _end(self, out: SessionCollector) -> None:
        self._running.clear()
        self._said = False
        out.end()

    def _item(self, kind: str, item: dict[str, Any], out: SessionCollector) -> None:
        what = string(item.get("type"))
        if what == "agent_message":
            if kind == "item.completed":
                self._message(item, out)
        elif what == "reasoning":
            if kind == "item.completed":
                out.begin()
                out.say(item.get("text"), Channel.REASONING)
        elif what == "todo_list":
            # One item all along; each new state of it is a call.
            if kind != "item.completed":
                out.begin()
                out.call("update_plan", {"items": item.get("items")}, item.get("id"))
        elif what in _ITEMS:
            self._call(kind, what, item, out)

    def _message(self, item: dict[str, Any], out: SessionCollector) -> None:
        if self._said and not self._running:
            out.end()  # a reply has one message, and its calls after it
        out.begin()
        self._said = True
        out.messages += 1
        out.say(item.get("text"), Channel.CONTENT)

    def _call(self, kind: str, what: str, item: dict[str, Any], out: SessionCollector) -> None:
        ident = string(item.get("id"))
        if ident not in self._running:
            out.begin()
            self._said = False
            name = string(item.get("tool")) if what == "mcp_tool_call" else ""
            arguments = {key: item.get(key) for key in _ITEMS[what]}
            out.call(name or ("shell" if what == "command_execution" else what), arguments, ident)
            if len(self._running) < _MAX_RUNNING:
                self._running.add(ident)
        if kind == "item.completed":
            self._running.discard(ident)
            out.end()
            text = text_of(item.get("aggregated_output"))
            if what != "command_execution":
                text = text_of(item.get("result") or item.get("error"))
            is_error = item.get("status") in ("failed", "declined")
            out.result(ident, text, "", is_error, item.get("status") == "declined")


# Calls that run at the same time.
_MAX_RUNNING = 1024
