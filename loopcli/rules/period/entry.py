"""The period rule, registered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from loopcli.events import Channel
from loopcli.rules.base import Rule
from loopcli.rules.period.config import NAME, PeriodConfig
from loopcli.rules.registration import (
    Judged,
    Knob,
    RerunEngine,
    RuleEntry,
    RunNotes,
    SweepPlan,
    no_warning,
)
from loopcli.verdicts import REPETITION

_knob = partial(Knob.of, PeriodConfig)
_ceiling = partial(_knob, zero="every reply would be a loop")


def _load() -> Callable[..., Rule]:
    from loopcli.rules.period.rule import PeriodRule

    return PeriodRule


def _notes(config: PeriodConfig) -> RunNotes:
    from loopcli.rules.period.notes import PeriodNotes

    return PeriodNotes(config)


def _armed(config: PeriodConfig) -> str:
    return (
        f"after {config.period_letters} characters that only copy what "
        f"stood one period before ({config.period_signs} of signs, "
        f"{config.period_art} of drawings, {config.period_table} of table rows, "
        f"{config.period_data} of data, {config.period_counter} with a counter)"
    )


PERIOD = RuleEntry(
    name=NAME,
    title="the end of the reply only copies what stood one period before",
    source="loopcheck's own",
    judges=Judged.TEXT,
    channels=tuple(Channel),
    watches=tuple(Channel),
    states=(REPETITION,),
    knobs=(
        _ceiling(
            "period_letters",
            "How many copied characters are too many of a unit with letters in it.",
            "letters",
        ),
        _ceiling(
            "period_signs",
            "The ceiling for signs, blanks or one number on a line: dividers, emoji, 0000.",
            "signs",
        ),
        _ceiling(
            "period_art",
            "The ceiling for several lines of signs: drawings, boards. At least 150 rows.",
            "art",
        ),
        _ceiling(
            "period_table",
            "The ceiling for rows of a Markdown, CSV or HTML table. At least 150 rows.",
            "table",
        ),
        _ceiling(
            "period_data",
            "The ceiling for data: separated numbers, escapes, null, base64.",
            "data",
        ),
        _ceiling(
            "period_counter",
            "The ceiling for text that is equal except for its numbers: Case 59, Case 60.",
            "counter",
        ),
        _knob(
            "period_copies",
            "How many whole periods must be copied, however long the unit is.",
            "copies",
            zero="a unit that came once is no repetition",
        ),
    ),
    config=PeriodConfig,
    ceiling_knob=None,
    load=_load,
    armed=_armed,
    warning=no_warning,
    sweep=SweepPlan(
        engine=RerunEngine(_notes),
        # 1,008 combinations, the defaults among them. The ceilings of tables and
        # data are far from any reply, and are left where they are.
        suggested=(
            "period-letters=160,240,320,480,640,960,1280",
            "period-signs=300,600,1200,2400",
            "period-art=1200,2400,4800",
            "period-counter=1000,2000,4000,8000",
            "period-copies=1,2,3",
        ),
        columns=(),
    ),
    blind_spots=(
        "loops whose copies differ in wording, or come in changing order",
        "a unit longer than 4,096 characters",
        "data, code and table rows that are equal but for their numbers",
        "repeated numbers and other data, until there are 40,000 characters of them",
        "that a repetition was asked for: 2,000 times one syllable, a form of 40 equal parts",
    ),
)
