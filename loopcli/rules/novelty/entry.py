"""The novelty rule, registered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from loopcli.events import Channel
from loopcli.rules.base import Rule
from loopcli.rules.novelty.config import NAME, NoveltyConfig
from loopcli.rules.registration import (
    Judged,
    Knob,
    RerunEngine,
    RuleEntry,
    SweepPlan,
    no_warning,
)
from loopcli.verdicts import REPETITION

_knob = partial(Knob.of, NoveltyConfig)


def _load() -> Callable[..., Rule]:
    from loopcli.rules.novelty.rule import NoveltyRule

    return NoveltyRule


class NoveltyNotes:
    """What one run of the rule tells about others: what it measures has no part in its ceiling.

    A reply that does not trip trips at no higher ceiling.
    """

    def __init__(self, config: NoveltyConfig) -> None:
        self.config = config

    def ceiling_under(
        self, other: NoveltyConfig, peak: int, ceiling: int, tripped: bool
    ) -> int | None:
        """Return the ceiling of the same outcome under other knobs, ``None`` if it may differ."""
        if tripped or other.novelty_seen != self.config.novelty_seen:
            return None
        higher = other.novelty_words >= self.config.novelty_words
        return other.novelty_words if higher else None


def _armed(config: NoveltyConfig) -> str:
    return (
        f"after {config.novelty_words} words in excess of new ones "
        f"that it had used {config.novelty_seen} times before, four in a row"
    )


NOVELTY = RuleEntry(
    name=NAME,
    title="the reply only uses groups of four words that it has used before",
    source="loopcheck's own",
    judges=Judged.TEXT,
    channels=tuple(Channel),
    watches=tuple(Channel),
    states=(REPETITION,),
    knobs=(
        _knob(
            "novelty_words",
            "How many recycled words, less four for each new group of words, are too many.",
            "words",
            zero="every reply would be a loop",
        ),
        _knob(
            "novelty_seen",
            "A group of four words is recycled when it has occurred this often before.",
            "seen",
            zero="every word would be a recycled one",
        ),
    ),
    config=NoveltyConfig,
    ceiling_knob="novelty_words",
    load=_load,
    armed=_armed,
    warning=no_warning,
    sweep=SweepPlan(
        engine=RerunEngine(NoveltyNotes),
        # 60 combinations, the defaults among them.
        suggested=(
            "novelty-words=50,100,150,200,300,400,600,800,1000,1500,2000,3000",
            "novelty-seen=1:5:1",
        ),
        columns=(),
    ),
    blind_spots=(
        "loops that an output cap ends before a thousand recycled words",
        "data and tables, whose words it does not count",
        "texts in which every fifth group of words is new",
    ),
)
