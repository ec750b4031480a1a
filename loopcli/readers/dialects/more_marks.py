"""The marks of the servers' own dialects, which few clients speak.

``table.recognise`` asks here after it has asked for the dialects that many servers imitate.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.lenient_json import member, string

# Patterns as text: most streams need none of them, and compiling takes time at every start.
_LMSTUDIO = (
    r"(chat|model_load|prompt_processing|reasoning|message|tool_call)"
    r"\.(start|progress|delta|arguments|result|end)"
)
_AGUI = (
    r"(RUN|STEP|TEXT_MESSAGE|TOOL_CALL|THINKING|THINKING_TEXT_MESSAGE|REASONING|REASONING_MESSAGE)"
    r"_(STARTED|FINISHED|ERROR|START|CONTENT|ARGS|CHUNK|RESULT|END)"
)
_INTERACTIONS = r"(interaction|step|content)\.(\w+)"
_DIFY = frozenset(
    (
        *("message", "agent_message", "agent_thought", "text_chunk", "message_end"),
        *("message_replace", "workflow_started", "workflow_finished", "node_started"),
        *("node_finished", "error"),
    )
)
_DIFY_IDS = frozenset({"task_id", "conversation_id", "workflow_run_id"})
_TGI = frozenset({"generated_text", "details", "index", "token", "top_tokens"})
_CLOUDFLARE = frozenset({"response", "p", "usage", "tool_calls"})


def by_event(doc: dict[str, Any]) -> str | None:
    """Return the dialect whose events are named like this document."""
    kind = string(doc.get("type"))
    if kind.startswith("transcript.text."):
        return "transcript"
    if re.fullmatch(_LMSTUDIO, kind):
        return "lmstudio"
    if re.fullmatch(_AGUI, kind):
        return "agui"
    if re.fullmatch(_INTERACTIONS, string(doc.get("event_type"))):
        return "interactions"
    if doc.get("object") == "interaction" and "status" in doc:
        return "interactions"
    if string(doc.get("event")) in _DIFY and doc.keys() & _DIFY_IDS:
        return "dify"
    if isinstance(doc.get("result"), str) and {"is_truncated", "need_clear_history"} & doc.keys():
        return "qianfan"
    return None


def by_members(doc: dict[str, Any]) -> str | None:
    """Return the dialect whose documents have these members."""
    output = doc.get("output")
    if isinstance(output, dict) and "request_id" in doc and {"choices", "text"} & output.keys():
        return "dashscope"
    if isinstance(output, list) and "model_instance_id" in doc:
        return "lmstudio"
    if "generated_text" in doc and not doc.keys() - _TGI:
        return "tgi"
    if isinstance(doc.get("text"), str):
        if isinstance(doc.get("meta_info"), dict):
            return "sglang"
        if doc.get("task") == "transcribe" or member(doc, "usage", "type") in _MEASURES:
            return "transcript"
    if isinstance(doc.get("response"), str) and not doc.keys() - _CLOUDFLARE:
        return "cloudflare"
    if isinstance(member(doc, "result", "response"), str) and "success" in doc:
        return "cloudflare"
    if "error_code" in doc and "error_msg" in doc:
        return "qianfan"
    return None


# What a transcript is billed by.
_MEASURES = ("tokens", "duration")
