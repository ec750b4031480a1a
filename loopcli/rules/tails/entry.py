"""The tails rule, registered."""

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
from loopcli.rules.tails.config import NAME, TailsConfig

_knob = partial(Knob.of, TailsConfig)


def _load() -> Callable[..., Any]:
    from loopcli.rules.tails.rule import TailsRule

    return TailsRule


def _armed(config: TailsConfig) -> str:
    return f"once it ends in a phrase repeated {config.min_repeats} times or more, or says the same"


TAILS = RuleEntry(
    name=NAME,
    title="a reply ends in a repeated phrase, or is the same as the reply before",
    source="OpenRouter, Doom-loop detection",
    judges=Judged.SESSION,
    channels=(),
    watches=(),
    states=(Detection.REPETITION, Detection.TEXT_STREAK),
    knobs=(
        _knob(
            "max_period_tokens",
            "The longest phrase, in words between blanks, that is looked for.",
            "period",
            zero="a phrase of no words is none",
        ),
        _knob(
            "min_repeats",
            "How often a phrase must stand at the end of a reply.",
            "repeats",
            zero="every reply would be a loop",
        ),
        _knob(
            "min_covered_tokens",
            "How many words the repetition must cover.",
            "covered",
            zero="every reply would be a loop",
        ),
        _knob(
            "max_window_tokens",
            "How many words at the end of a reply are looked at.",
            "window",
            zero="a window of no words leaves nothing to look at",
        ),
    ),
    config=TailsConfig,
    ceiling_knob="min_repeats",
    load=_load,
    armed=_armed,
    warning=no_warning,
    sweep=SweepPlan(
        engine=RerunEngine(NoNotes),
        suggested=("min-repeats=3,4,6,8", "min-covered-tokens=8,12,24"),
        columns=(),
    ),
    blind_spots=(
        "the same thing said in other words",
        "a repetition that is followed by even one other word",
    ),
)
