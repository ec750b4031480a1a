"""What a model reads when its call is refused: what happened, and how to go on."""

from __future__ import annotations

from loopcli.guard.protocols import HookCall
from loopcli.rules.calls.config import CallsConfig
from loopcli.rules.calls.rule import CallVerdict
from loopcli.wording import escaped

# Names of tools have up to 64 characters; a longer one is cut in the message.
_MAX_NAME = 100


def refused_because(call: HookCall, verdict: CallVerdict, config: CallsConfig) -> str:
    """Return the reason for a refusal."""
    tool = escaped(call.tool[:_MAX_NAME])
    if verdict.made:
        why = f"was already made {verdict.made} times within {config.window_ms / 1000:g} seconds"
    else:
        why = "was refused before and stays refused"
    agent = f" --agent {call.agent}" if call.agent else ""
    return (
        f"[ANTI-LOOP] `{tool}` was not run: the call with these arguments {why}. "
        "Only this call is refused; any other call runs. Use the results that you have, take "
        "a different step, or say what keeps you from going on. If the same call can bring "
        "something new, first run: loopcheck guard decide continue "
        f"--session {call.session}{agent} --next-tool TOOL --args-json ARGUMENTS "
        "--observed-result TEXT --rationale TEXT --expected-information TEXT "
        "(at least 20 characters for each text)."
    )
