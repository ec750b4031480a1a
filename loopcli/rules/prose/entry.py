"""The prose rule, registered."""

from __future__ import annotations

from collections.abc import Callable

from loopcli.events import Channel
from loopcli.rules.base import Rule
from loopcli.rules.prose.config import NAME, ProseConfig
from loopcli.rules.registration import (
    Judged,
    Knob,
    NoNotes,
    RerunEngine,
    RuleEntry,
    SweepPlan,
    no_warning,
)
from loopcli.verdicts import REPETITION


def _load() -> Callable[..., Rule]:
    from loopcli.rules.prose.rule import ProseRule

    return ProseRule


def _armed(config: ProseConfig) -> str:
    return f"once the same sentences were written {config.stream_threshold} times in a row"


PROSE = RuleEntry(
    name=NAME,
    title="the same sentences again and again",
    source="OpenCode Infinity Loop Guard",
    judges=Judged.TEXT,
    channels=(Channel.CONTENT, Channel.REASONING),
    # The document's: who thinks aloud comes back to a sentence.
    watches=(Channel.CONTENT,),
    states=(REPETITION,),
    knobs=(
        Knob.of(
            ProseConfig,
            "stream_threshold",
            "How often 1 to 8 sentences have to be written in a row, from 3 to 10.",
            "times",
            zero="every reply would be a loop",
            minimum=3,
            maximum=10,
            too_wide="has to be from 3 to 10",
        ),
    ),
    config=ProseConfig,
    ceiling_knob="stream_threshold",
    load=_load,
    armed=_armed,
    warning=no_warning,
    sweep=SweepPlan(
        engine=RerunEngine(NoNotes), suggested=("stream-threshold=3:10:1",), columns=()
    ),
    blind_spots=(
        "sentences that are worded differently each time",
        "text without marks at the ends of sentences and without line breaks",
        "loops in fenced code and in block quotes",
    ),
)
