"""The settings with which each agent runs the hook, and what else a user may want to write.

The functions here change documents, never files. A hook of ours is recognised by
its command, so that a second installation replaces the first one.

The command ends in ``2>/dev/null || true``: to Claude Code and Gemini CLI a missing
program looks like a refusal of every call, and Gemini CLI takes any text with a
status for one. The answer is on standard output alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from loopcli.errors import ConfigError

_OURS = re.compile(r"(?:loopcheck|loopcli)['\"]? guard hook\b")
MARK = "// Written by `loopcheck guard install opencode`."


class AgentProgram(NamedTuple):
    """Where a program reads its hooks.

    ``variable`` names the environment variable for its folder, if it has one, and
    ``folder`` is the default in the home; ``file`` stands in it. ``event`` is the
    hook's, empty for a program that takes plugins. ``timeout`` is in the unit of
    the program. ``note`` is what the user has to do beside.
    """

    variable: str
    folder: str
    file: str
    event: str
    timeout: int
    note: str = ""


# A hook takes a tenth of a second, and 10 s at most where the store is busy.
_SECONDS = 30
PROGRAMS: Mapping[str, AgentProgram] = {
    "claude-code": AgentProgram(
        "CLAUDE_CONFIG_DIR", ".claude", "settings.json", "PreToolUse", _SECONDS
    ),
    "codex": AgentProgram(
        "CODEX_HOME",
        ".codex",
        "hooks.json",
        "PreToolUse",
        _SECONDS,
        "codex skips a hook that is not trusted: start it, type /hooks, and trust this one",
    ),
    "gemini-cli": AgentProgram("", ".gemini", "settings.json", "BeforeTool", 1000 * _SECONDS),
    "opencode": AgentProgram(
        "XDG_CONFIG_HOME", ".config", "opencode/plugin/loopcheck-guard.js", "", _SECONDS
    ),
}


def hook_command(arguments: str) -> str:
    """Return the shell command of the hook; ``arguments`` is the quoted command line."""
    return f"{arguments} 2>/dev/null || true"


def parse_settings(text: str) -> dict[str, Any]:
    """Return the settings in a file. Raises ``ConfigError`` if they cannot be changed safely."""
    try:
        settings = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not plain JSON: {error}; add the hook by hand") from error
    if not isinstance(settings, dict):
        raise ConfigError("not a JSON object; add the hook by hand")
    return settings


def dump_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as the text of a file."""
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def our_commands(settings: Mapping[str, Any], program: AgentProgram) -> list[str]:
    """Return the commands of our hooks in settings."""
    return [
        hook["command"]
        for group in _groups(settings, program)
        for hook in _hooks(group)
        if _is_ours(hook)
    ]


def with_hook(settings: Mapping[str, Any], program: AgentProgram, command: str) -> dict[str, Any]:
    """Return settings with our hook for every tool, in place of an earlier one.

    Raises ``ConfigError`` for hooks of another shape than the program's.
    """
    changed = without_hook(settings, program)
    hooks = changed.setdefault("hooks", {})
    groups = hooks.setdefault(program.event, []) if isinstance(hooks, dict) else None
    if not isinstance(groups, list):
        raise ConfigError("its hooks are of an unknown shape; add this one by hand")
    entry = {"type": "command", "command": command, "timeout": program.timeout}
    groups.append({"hooks": [entry]})
    return changed


def without_hook(settings: Mapping[str, Any], program: AgentProgram) -> dict[str, Any]:
    """Return settings without our hook, and without what is empty because of that."""
    changed = deepcopy(dict(settings))
    if not our_commands(settings, program):
        return changed
    groups = []
    for group in changed["hooks"][program.event]:
        kept = [hook for hook in _hooks(group) if not _is_ours(hook)]
        if len(kept) == len(_hooks(group)):
            groups.append(group)
        elif kept:
            groups.append(group | {"hooks": kept})
    changed["hooks"][program.event] = groups
    if not groups:
        del changed["hooks"][program.event]
    if not changed["hooks"]:
        del changed["hooks"]
    return changed


def _groups(settings: Mapping[str, Any], program: AgentProgram) -> list[Any]:
    hooks = settings.get("hooks")
    groups = hooks.get(program.event) if isinstance(hooks, dict) else None
    return groups if isinstance(groups, list) else []


def _hooks(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and bool(_OURS.search(command))


def plugin(arguments: list[str], milliseconds: int) -> str:
    """Return the plugin for OpenCode, which runs a command and throws what it refuses."""
    program, *rest = arguments
    return f"""{MARK}
// It asks before each tool call. Whatever goes wrong here, the call runs.
import {{ spawn }} from "node:child_process"

const ask = (question) =>
  new Promise((resolve) => {{
    const options = {{ stdio: ["pipe", "pipe", "ignore"], timeout: {milliseconds} }}
    const child = spawn({json.dumps(program)}, {json.dumps(rest)}, options)
    let answer = ""
    child.stdout.on("data", (data) => (answer += data))
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(answer))
    child.stdin.on("error", () => {{}})
    child.stdin.end(JSON.stringify(question))
  }})

const refusal = async (question) => {{
  try {{
    const answer = JSON.parse(await ask(question))
    return answer.decision === "deny" ? String(answer.reason) : ""
  }} catch {{
    return ""
  }}
}}

export const LoopcheckGuard = async () => ({{
  "tool.execute.before": async (input, output) => {{
    const {{ tool, sessionID, callID }} = input
    const question = {{ session: sessionID, tool, id: callID, args: output.args }}
    const reason = await refusal(question)
    if (reason) throw new Error(reason)
  }},
}})
"""


CONTEXT = """\
## Repeated tool calls

Before you repeat a tool call, name what has changed since the last one and what you expect to
learn. If nothing has changed, use the result that you have.

A message that begins with [ANTI-LOOP] means that one call, with exactly these arguments, was not
run. Every other call works. Do not alter the wording, the description or the time limit of the
call to get around it.

If the same call can bring something new, state why with `loopcheck guard decide continue`; the
message has the whole command. If three attempts at a problem have failed, stop that approach,
report what you tried and what is missing, and go on with work that does not depend on it.
"""
