"""The streaks rule, registered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from loopcli.actions import Detection
from loopcli.rules.registration import (
    Judged,
    Knob,
    NoNotes,
    RerunEngine,
    RuleEntry,
    SweepPlan,
    no_warning,
)
from loopcli.rules.streaks.config import NAME, StreaksConfig

_knob = partial(Knob.of, StreaksConfig)
_rung = partial(_knob, zero="")


def _load() -> Callable[..., Any]:
    from loopcli.rules.streaks.rule import StreaksRule

    return StreaksRule


def _armed(config: StreaksConfig) -> str:
    return f"once the same call has come in {config.stop or 'any number of'} rounds in a row"


STREAKS = RuleEntry(
    name=NAME,
    title="the same tool call, or the same request to a server, in round after round",
    source="OpenRouter, Doom-loop detection",
    judges=Judged.SESSION,
    channels=(),
    watches=(),
    states=(Detection.TOOL, Detection.SERVER_TOOL, Detection.CYCLE),
    knobs=(
        _rung("observe", "At this streak note the repetition; 0 turns this rung off.", "observe"),
        _rung("steer", "At this streak hand the model a message; 0: off.", "steer"),
        _rung("escalate", "At this streak escalate the next turn; 0: off.", "escalate"),
        _rung("block", "At this streak refuse the call; 0: off.", "block"),
        _rung("stop", "At this streak stop the session; 0: off.", "stop"),
        _knob(
            "max_escalations",
            "How many turns of a conversation may be escalated.",
            "escalations",
            zero="that is what --escalate 0 is for",
        ),
        _knob(
            "max_cycle",
            "The longest cycle of rounds that counts as a repetition; 0 looks for none.",
            "cycle",
            zero="",
            maximum=64,
            too_wide="a cycle of more than 64 rounds is not looked for",
        ),
    ),
    config=StreaksConfig,
    ceiling_knob="stop",
    load=_load,
    armed=_armed,
    warning=no_warning,
    sweep=SweepPlan(
        engine=RerunEngine(NoNotes), suggested=("block=2,3,4,5", "stop=4,5,6,8,10"), columns=()
    ),
    blind_spots=(
        "calls whose arguments change each time, unless a loop key leaves out what changes",
        "calls that the caller's own code carries out, where the format marks them",
        "a call that comes back between others of the same tool, unless the whole is a cycle",
    ),
)
