"""The line that reports a loop, for every rule; and that its unit stands in the reply."""

from __future__ import annotations

import pytest

from loopcli.events import EventMarks, Lane, Text
from loopcli.output.trip_line import trip_line
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.novelty.rule import NoveltyRule
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.verdicts import Verdict


def verdict_of(rule: PeriodRule | NoveltyRule | SaturationRule, text: str) -> Verdict:
    """The verdict of a rule on a reply that arrives at once."""
    verdict = rule.update(Text(Lane(), text, EventMarks([text], [len(text.encode())])))
    assert verdict is not None
    return verdict


LINES = {
    "letters": (
        verdict_of(PeriodRule(), "No. " + "never again, " * 90),
        'stopped a loop (period, letters): "never again, " × 50 since character 3'
        "; not a loop? --period-letters 1300",
    ),
    "signs": (
        verdict_of(PeriodRule(), "-" * 2000),
        'stopped a loop (period, signs): "-" × 1201 since character 0'
        "; not a loop? --period-signs 2400",
    ),
    "saturation": (
        verdict_of(SaturationRule(SaturationConfig(min_saturated_run=50)), "void 0; " * 500),
        'stopped a loop (saturation): "0;" "void" repeated across 191 words in a row since '
        "character 261; not a loop? --min-saturated-run 390",
    ),
    "length": (
        verdict_of(SaturationRule(SaturationConfig(max_response_chars=5)), "one two"),
        "stopped a long reply (length): the reply passed 6 characters without finishing"
        "; longer on purpose? --max-response-chars 10",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_the_line_of_a_trip(name: str) -> None:
    verdict, wanted = LINES[name]
    assert trip_line(verdict, advice=True) == wanted
    plain = wanted.rpartition(";")[0]
    assert trip_line(verdict) == plain
    assert trip_line(verdict, dry_run=True) == f"would have {plain}"


@pytest.mark.parametrize("name", LINES)
def test_the_advised_knob_is_above_what_was_reached(name: str) -> None:
    verdict, _ = LINES[name]
    advised = int(trip_line(verdict, advice=True).rpartition(" ")[2])
    assert advised >= 2 * (verdict.ceiling if name == "length" else verdict.gauge)


def test_the_novelty_rule_names_its_knob() -> None:
    verdict = verdict_of(NoveltyRule(NoveltyConfig(novelty_words=40)), "one two three four " * 99)
    assert trip_line(verdict, advice=True).endswith("; not a loop? --novelty-words 80")


@pytest.mark.parametrize("line", ["Case {}: the sum is right.\n", "and then number {} went on, "])
@pytest.mark.parametrize("first", [1, 60, 930])
def test_the_unit_of_a_counter_stands_in_the_reply(line: str, first: int) -> None:
    reply = "".join(line.format(number) for number in range(first, first + 900))
    verdict = verdict_of(PeriodRule(), reply)
    (unit,) = verdict.repeated
    assert verdict.facts["unit_kind"] == "counter"
    assert unit in reply
    assert ", its numbers change, since character" in trip_line(verdict)
