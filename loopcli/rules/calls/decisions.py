"""What an agent may decide about a call that was refused: continue, change or stop.

Source: OpenCode Infinity Loop Guard, "Decisions". The explanations are checked
for their length only; nothing can check whether they are true. Where the document
leaves a choice open: the length is that of the text without the blanks around
it, and a stop fails if no call is refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from loopcli.errors import ConfigError
from loopcli.lenient_json import parse
from loopcli.rules.calls.keys import call_key
from loopcli.rules.calls.rule import CallMemory

# The document's figure: shorter texts are "it failed" and "try again".
LEAST_CHARS = 20


class DecisionKind(StrEnum):
    """What is decided."""

    CONTINUE = "continue"  # run the call again, with a fresh count
    CHANGE = "change"  # make another call instead
    STOP = "stop"  # give up the call that was refused last


class DecisionForm(NamedTuple):
    """The six fields of a decision as an agent fills them in."""

    decision: str
    observed_result: str
    rationale: str
    expected_information: str
    next_tool: str = ""
    args_json: str = "{}"


class CallDecision(NamedTuple):
    """A decision that is valid as a form. ``key`` is empty for a stop that names no call."""

    kind: DecisionKind
    tool: str
    key: str


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a call. Raises ``ConfigError`` if the text is no JSON object."""
    try:
        value = parse(text.encode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise ConfigError(f"args-json: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError("args-json: has to be a JSON object")
    return value


def read_decision(form: DecisionForm) -> CallDecision:
    """Return the decision that a form states. Raises ``ConfigError`` with every defect."""
    defects = []
    if form.decision not in [*DecisionKind]:
        defects.append(f"decision = `{form.decision}`: has to be continue, change or stop")
    for name in ("observed_result", "rationale", "expected_information"):
        length = len(getattr(form, name).strip())
        if length < LEAST_CHARS:
            field = name.replace("_", "-")
            defects.append(f"{field}: has {length} characters; {LEAST_CHARS} are the least")
    if not form.next_tool and form.decision != DecisionKind.STOP:
        defects.append("next-tool: missing")
    key = None
    try:
        key = call_key(form.next_tool, parse_arguments(form.args_json))
        if key is None:
            defects.append("args-json: nested too deeply")
    except ConfigError as error:
        defects += error.defects
    if defects or key is None:
        raise ConfigError(*defects)
    return CallDecision(DecisionKind(form.decision), form.next_tool, key)


def apply_decision(memory: CallMemory, decision: CallDecision) -> str:
    """Record a decision; return a sentence about its effect.

    Raises ``ConfigError`` for a change to a call that was already made, and for a
    stop where no call is refused.
    """
    if decision.kind is DecisionKind.CONTINUE:
        record = memory.get(decision.key)
        memory.put(decision.key, record._replace(authorised=True))
        return "the next run of exactly this call starts a new count"
    if decision.kind is DecisionKind.CHANGE:
        if memory.get(decision.key).attempted:
            raise ConfigError("change: this call was already made; name another one")
        return "recorded; other calls run without a decision, too"
    key = memory.last_blocked
    if not key:
        raise ConfigError("stop: no call is refused")
    memory.put(key, memory.get(key)._replace(authorised=False, blocked=True))
    return "recorded; the call that was refused last stays refused"
