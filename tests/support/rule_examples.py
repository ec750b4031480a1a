"""A text on which each rule fires: what the contract of all rules is tested with."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from loopcli.rules import table
from loopcli.rules.base import Rule, RuleConfig
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.prose.config import ProseConfig
from loopcli.rules.saturation.config import SaturationConfig


class RuleExample(NamedTuple):
    """A configuration, and a text on which the rule fires.

    After ``near`` characters of it the gauge has risen, but not to its ceiling.
    ``full`` characters of any text fill the memory, whose snapshot has at most
    ``most`` characters.
    """

    config: RuleConfig
    loop: str
    near: int
    full: int = 100_000
    most: int = 10_000


EXAMPLES = {
    "saturation": RuleExample(SaturationConfig(), "void 0;\n" * 2000, 8000),
    "period": RuleExample(PeriodConfig(), "Well, " + "round and " * 800, 600, 400_000, 140_000),
    "novelty": RuleExample(
        NoveltyConfig(novelty_words=40), "over and out again, " * 400, 200, 400_000, 1_500_000
    ),
    "prose": RuleExample(ProseConfig(), "Let me check it. I will look now. " * 100, 40),
}


def example_rule(name: str, *, past_trip: bool = False) -> Rule:
    """A fresh rule, with the configuration of its example."""
    return partial(table.RULES[name].load(), EXAMPLES[name].config)(past_trip=past_trip)
