"""One question of an agent: whether a tool call may run.

The guard fails open. Whatever goes wrong, the call runs, one line names the
reason, and the status is 0: an agent that cannot work because of its guard is
worse than one that loops.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from loopcli.guard import protocols, reasons
from loopcli.guard.own_commands import is_own_call
from loopcli.guard.store import CallStore
from loopcli.identity import fingerprint
from loopcli.lenient_json import parse
from loopcli.rules.calls.config import CallsConfig
from loopcli.rules.calls.keys import call_key
from loopcli.rules.calls.rule import CallVerdict, judge_call

# Arguments hold at most a file. A larger question is not read, and its call runs.
MAX_BYTES = 64 * 1024 * 1024


class HookAnswer(NamedTuple):
    """What to print, and the reason if the call is refused."""

    output: bytes
    reason: str = ""


def answer(raw: bytes, store: CallStore, config: CallsConfig) -> HookAnswer:
    """Answer one question. Raises ``ValueError`` and ``StoreError``: then the call runs."""
    if len(raw) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    call = protocols.read_call(parse(raw))
    if call is None:
        return HookAnswer(b"")
    allowed = HookAnswer(protocols.permission(call.protocol))
    key = call_key(call.tool, call.arguments)
    if key is None or is_own_call(call.tool, call.arguments):
        return allowed
    verdict = _counted(call, key, store, config)
    if verdict.allowed:
        return allowed
    reason = reasons.refused_because(call, verdict, config)
    return HookAnswer(protocols.refusal(call.protocol, reason), reason)


def _counted(
    call: protocols.HookCall, key: str, store: CallStore, config: CallsConfig
) -> CallVerdict:
    """Count a call, unless it is an event that was delivered before."""
    with store.calls(call.session, call.agent, time.time()) as calls:
        event = fingerprint([call.id, key]) if call.id else ""
        earlier = calls.answered(event) if event else None
        if earlier is not None:
            return earlier
        # Now, and not when the process began: it may have waited for others since.
        verdict = judge_call(calls, key, time.time() * 1000, config)
        if not verdict.allowed:
            calls.log("refused", call.tool)
        if event:
            calls.remember(event, verdict)
    return verdict
