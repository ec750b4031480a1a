"""The saturation rule, registered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from loopcli.events import Channel
from loopcli.rules.base import Rule
from loopcli.rules.registration import (
    U32,
    IntervalEngine,
    Judged,
    Knob,
    RuleEntry,
    Spelling,
    SweepPlan,
)
from loopcli.rules.saturation.config import NAME, SaturationConfig
from loopcli.verdicts import LENGTH, REPETITION

_knob = partial(Knob.of, SaturationConfig)


def _load() -> Callable[..., Rule]:
    from loopcli.rules.saturation.rule import SaturationRule

    return SaturationRule


def _armed(config: SaturationConfig) -> str:
    crowd = f"{config.min_offenders} or more words have each occurred"
    often = f"more than {config.repeat_threshold} times in the last {config.window_words}"
    line = f"after {config.min_saturated_run} "
    line += f"consecutive words during which {crowd} {often}"
    if config.min_saturated_run == 0:
        line = f"as soon as {crowd} {often}"
    if config.max_response_chars:
        return line + f", or once it passes {config.max_response_chars} characters"
    return line + "; there is no length backstop"


def _warning(config: SaturationConfig, spelling: Spelling) -> str:
    if config.min_offenders <= config.window_words:
        return ""
    return (
        f"{spelling('min_offenders')} ({config.min_offenders}) is larger than "
        f"{spelling('window_words')} ({config.window_words}), so the repetition rule can never "
        "fire; only the length backstop is left"
    )


SATURATION = RuleEntry(
    name=NAME,
    title="several words over-represented for a long, unbroken stretch",
    source="gg, Loop detection",
    judges=Judged.TEXT,
    channels=tuple(Channel),
    watches=(Channel.CONTENT,),
    states=(REPETITION, LENGTH),
    knobs=(
        _knob(
            "window_words",
            "How many recent words the frequency is measured over.",
            "window",
            zero="a window of no words leaves nothing to look back over",
        ),
        _knob(
            "repeat_threshold",
            "A word offends while it occurs in the window more often than this.",
            "threshold",
            zero="every word would be an offender",
            maximum=U32,
            too_wide="does not fit the 32-bit counter of a word's occurrences",
        ),
        _knob(
            "min_offenders",
            "How many different words must offend at the same time.",
            "offenders",
            zero="a window without any offender would count as saturated",
        ),
        _knob(
            "min_saturated_run",
            "How many words in a row must arrive while that lasts; 0 fires at once.",
            "run",
            zero="",
        ),
        _knob(
            "max_response_chars",
            "Length backstop: fire after this many characters; 0 turns it off.",
            "backstop",
            zero="",
        ),
    ),
    config=SaturationConfig,
    ceiling_knob="min_saturated_run",
    load=_load,
    armed=_armed,
    warning=_warning,
    sweep=SweepPlan(
        engine=IntervalEngine(),
        # 3,456 combinations, the defaults among them.
        suggested=(
            "window-words=64,128,256,512,1024,2048",
            "repeat-threshold=3,4,6,8,12,16,24,32,48,64,96,128",
            "min-offenders=1:4:1",
            "min-saturated-run=50,100,150,200,300,400,600,800,1000,1500,2000,3000",
        ),
        # There is room for all of them.
        columns=SaturationConfig._fields,
    ),
    blind_spots=(
        "one word repeated for ever (it is one offender, and two are needed)",
        "a repeated unit of eight or more different words (none exceeds 32 in 256)",
        "a unit without whitespace whose length divides 128 (every slice is the same)",
        "blanks and newlines (they hold no words)",
        "loops that an output cap ends before 3,000 words",
    ),
)
