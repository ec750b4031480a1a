"""What agents hand to a hook before a tool call, and the hook as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from processes import PATIENCE, environ


def claude(number: int = 0, tool: str = "Bash", /, agent: str = "", **arguments: Any) -> str:
    """A PreToolUse question of Claude Code."""
    doc = {
        "session_id": "4497f00a",
        "cwd": "/tmp/project",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": arguments or {"command": "ls"},
        "tool_use_id": f"toolu_{number}",
    }
    return json.dumps(doc | ({"agent_id": agent, "agent_type": "general"} if agent else {}))


def codex(number: int = 0) -> str:
    """A PreToolUse question of Codex."""
    return json.dumps(json.loads(claude(number)) | {"turn_id": "01a2", "model": "m"})


def gemini(number: int = 0) -> str:
    """A BeforeTool question of Gemini CLI, which has no id for the call."""
    doc = {
        "session_id": "7283fafb",
        "hook_event_name": "BeforeTool",
        "timestamp": f"2026-12-01T00:12:12.{number:03}Z",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "ls"},
    }
    return json.dumps(doc)


def opencode(number: int = 0) -> str:
    """A question as OpenCode hands it to a plugin."""
    asked = {"tool": "bash", "sessionID": "ses_1", "callID": f"call_{number}"}
    return json.dumps({"input": asked, "output": {"args": {"command": "ls"}}})


def plain(number: int = 0, session: str = "s", **more: Any) -> str:
    """The plain form."""
    doc = {"session": session, "tool": "bash", "args": {"command": "ls"}, "id": f"{number}"}
    return json.dumps(doc | more)


def started(store: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a hook; the caller writes the question."""
    return subprocess.Popen(
        [sys.executable, "-m", "loopcli", "guard", "hook", "--store", str(store), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ(),
        text=True,
    )


def asked(store: Path, question: str, *arguments: str) -> tuple[str, str]:
    """Ask a hook; return what it prints. Its status has to be 0 whatever it is asked."""
    process = started(store, *arguments)
    output, errors = process.communicate(question, timeout=PATIENCE)
    assert process.returncode == 0
    return output, errors
