"""What identifies a call for the calls rule: its tool, and its arguments without their notes.

Shell tools take a description and a time limit beside the command. An agent can
vary those for ever without doing anything else, so they do not count. The
command itself counts character by character: nothing here understands it.

Source: OpenCode Infinity Loop Guard, "Exact behavior". The document names three
shell tools of one program; the others are those of the programs that have hooks.
"""

from __future__ import annotations

from loopcli.identity import UnhashableError, fingerprint

SHELL_TOOLS = frozenset(
    {
        *("bash", "shell", "powershell"),  # the document's
        *(
            "exec_command",
            "local_shell",
            "run_shell_command",
            "run_terminal_cmd",
            "execute_command",
        ),
    }
)
COSMETIC = frozenset({"description", "justification", "timeout", "timeout_ms", "yield_time_ms"})
# The guard's own tools. They are how an agent leaves a loop, so nothing may refuse them.
OWN_TOOLS = frozenset({"loop_check", "loop_decide"})


def is_shell(tool: str) -> bool:
    """Return whether a tool runs commands.

    >>> is_shell("Bash"), is_shell("read")
    (True, False)
    """
    return tool.lower() in SHELL_TOOLS


def is_own(tool: str) -> bool:
    """Return whether a tool is the guard's own, also as an MCP server offers it.

    >>> is_own("loop_check"), is_own("mcp__guard__loop_decide"), is_own("my_loop_check")
    (True, True, False)
    """
    return tool.rpartition("__")[2] in OWN_TOOLS


def call_key(tool: str, arguments: object) -> str | None:
    """Return the fingerprint of a call, or ``None`` if its arguments cannot be hashed.

    ``arguments`` is the parsed JSON; a missing value is the same as no arguments.

    >>> call_key("bash", {"command": "ls", "timeout": 1}) == call_key("bash", {"command": "ls"})
    True
    >>> call_key("read", {"path": "a", "timeout": 1}) == call_key("read", {"path": "a"})
    False
    """
    if arguments is None:
        arguments = {}
    if isinstance(arguments, dict) and is_shell(tool):
        arguments = {name: value for name, value in arguments.items() if name not in COSMETIC}
    try:
        return fingerprint(arguments, tool)
    except UnhashableError:
        return None
