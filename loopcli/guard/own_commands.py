"""Recognises the guard's own commands when an agent runs them through its shell tool.

An agent leaves a loop with ``loopcheck guard decide``, so that call is neither
counted nor refused. Only a command line that does nothing else counts as one:
with an operator, a substitution or a redirection it could carry any other
command past the guard.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.rules.calls.keys import is_own, is_shell

# A word without anything that a shell carries out.
_WORD = r"""(?:'[^']*'|"[^"$`\\]*"|[^\s'"$`\\;&|<>()#{}*?~!]+)+"""
_OWN = re.compile(
    rf"\s*(?:\S*/)?loopcheck[ \t]+guard[ \t]+(?:check|decide|status)(?:[ \t]+{_WORD})*"
    r"(?:[ \t]+2>&1)?\s*"
)
_PLAIN_PATH = re.compile(r"[\w./ \t-]*")
# Names of the argument that holds the command line.
_FIELDS = ("command", "cmd", "script")
# Longer command lines are not looked at: explanations and arguments are short.
_MAX_CHARS = 100_000


def is_own_call(tool: str, arguments: Any) -> bool:
    """Return whether a call does nothing but check or decide.

    >>> is_own_call("Bash", {"command": "loopcheck guard decide stop --rationale 'a; b'"})
    True
    >>> is_own_call("Bash", {"command": "loopcheck guard check read '{}'; ls"})
    False
    """
    if is_own(tool):
        return True
    if not (is_shell(tool) and isinstance(arguments, dict)):
        return False
    command = next((arguments[name] for name in _FIELDS if name in arguments), "")
    if isinstance(command, list):  # ["bash", "-lc", "the command line"]
        command = command[2] if len(command) == 3 and command[1] in ("-c", "-lc") else ""
    if not isinstance(command, str) or len(command) > _MAX_CHARS:
        return False
    before = command.partition("loopcheck")[0]
    return bool(_PLAIN_PATH.fullmatch(before) and _OWN.fullmatch(command))
