"""The shout rule, registered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from loopcli.events import Channel
from loopcli.rules.base import Rule
from loopcli.rules.registration import (
    Judged,
    Knob,
    NoNotes,
    RerunEngine,
    RuleEntry,
    Spelling,
    SweepPlan,
)
from loopcli.verdicts import REPETITION
from toy_rule.config import NAME, ShoutConfig

_knob = partial(Knob.of, ShoutConfig)


def _load() -> Callable[..., Rule]:
    from toy_rule.rule import ShoutRule

    return ShoutRule


def _armed(config: ShoutConfig) -> str:
    return f"after {config.shout_marks} exclamation marks in a row"


def _warning(config: ShoutConfig, spelling: Spelling) -> str:
    wide = config.shout_gap > 1000
    return f"{spelling('shout_gap')} ({config.shout_gap}) is a page of text" if wide else ""


SHOUT = RuleEntry(
    name=NAME,
    title="exclamation marks in a row",
    source="a test",
    judges=Judged.TEXT,
    channels=tuple(Channel),
    watches=(Channel.CONTENT, Channel.REASONING),
    states=(REPETITION,),
    knobs=(
        _knob("shout_marks", "How many marks are too many.", "marks", zero="every reply shouts"),
        _knob("shout_gap", "How many other characters may stand between.", "gap", zero=""),
    ),
    config=ShoutConfig,
    ceiling_knob="shout_marks",
    load=_load,
    armed=_armed,
    warning=_warning,
    sweep=SweepPlan(
        engine=RerunEngine(NoNotes), suggested=("shout-marks=4,8,10", "shout-gap=0,1"), columns=()
    ),
    blind_spots=("capital letters",),
)
