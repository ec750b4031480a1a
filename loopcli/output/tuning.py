"""What a sweep and a suggestion show, as records and as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopcli.analyze.scoring import Estimate
from loopcli.analyze.sweep.rows import SweepRow
from loopcli.analyze.sweep.suggest import Suggestion
from loopcli.output.records import Record
from loopcli.output.table import UNDEFINED, Column, field, figure
from loopcli.rules.base import RuleConfig
from loopcli.rules.table import RULES
from loopcli.settings.arming import DEFAULT_RULES
from loopcli.verdicts import LENGTH
from loopcli.wording import kebab

_OF = "of"
_RATES = ("recall", "false_per_1000_replies", "false_per_million_words")
_COUNTS = (
    *("clean_peak", "clean_ceiling", "clean_trips", "loop_trips", "other_trips"),
    *("length_trips", "caught", "delay_words", "delay_chars", "saved_chars"),
)
_SCORES = tuple(f"{rate}{bound}" for rate in _RATES for bound in ("", "_low", "_high"))


def sweep_fields(knobs: RuleConfig) -> tuple[str, ...]:
    """Return the members of a combination, in order; the knobs are those of its rule."""
    return (*knobs._asdict(), *_COUNTS, *_SCORES)


def front_fields(knobs: RuleConfig) -> tuple[str, ...]:
    """Return the members of a point of the front, in order."""
    return (*sweep_fields(knobs), "missed", "headroom", "alike", "flags")


def sweep_record(row: SweepRow) -> dict[str, Any]:
    """Return one combination as plain JSON; a rate has its 95 % interval beside it."""
    record: dict[str, Any] = row.knobs._asdict()
    record |= {name: getattr(row, name) for name in _COUNTS if name != "delay_words"}
    record["delay_words"] = row.score.delay
    for rate in _RATES:
        estimate: Estimate | None = getattr(row.score, rate)
        value, low, high = (None, None, None) if estimate is None else estimate
        record |= {rate: value, f"{rate}_low": low, f"{rate}_high": high}
    return {name: record[name] for name in sweep_fields(row.knobs)}


def front_record(suggestion: Suggestion, rules: Sequence[str]) -> dict[str, Any]:
    """Return a point of the front as plain JSON; ``alike`` counts the combinations that equal it.

    ``rules`` are those that its flags arm. ``headroom`` is the ceiling as a multiple of the
    highest clean peak: not defined where no clean reply has a peak.
    """
    row, peak = suggestion.row, suggestion.row.clean_peak
    return sweep_record(row) | {
        "missed": suggestion.cost.missed,
        "headroom": row.clean_ceiling / peak if peak and row.clean_ceiling is not None else None,
        "alike": len(suggestion.alike),
        "flags": flags(row.knobs, rules),
    }


def flags(knobs: RuleConfig, rules: Sequence[str] = DEFAULT_RULES) -> str:
    """Return knobs as they stand on a command line, after what arms their rule.

    >>> flags(RULES["novelty"].config(), ["novelty"])
    '--rules novelty --novelty-words 1000 --novelty-seen 3'
    """
    arm = [] if set(rules) == set(DEFAULT_RULES) else [f"--rules {','.join(rules)}"]
    return " ".join([*arm, *(f"--{name} {value}" for name, value in _written(knobs))])


def config(rule: str, knobs: RuleConfig, rules: Sequence[str] = DEFAULT_RULES) -> str:
    """Return knobs as a block of TOML, after what arms their rule."""
    listed = ", ".join(f'"{name}"' for name in rules)
    arm = "" if set(rules) == set(DEFAULT_RULES) else f"rules = [{listed}]\n\n"
    lines = "".join(f"{name} = {value}\n" for name, value in _written(knobs))
    return f"{arm}[{rule}]\n{lines}"


def _written(knobs: RuleConfig) -> list[tuple[str, int]]:
    return [(kebab(name), value) for name, value in knobs._asdict().items()]


def sweep_columns(rule: str, tried: Sequence[str], *, labels: bool) -> list[Column]:
    """Return the columns of a grid; without labels there is nothing to say of loops."""
    columns = [
        *_knob_columns(rule, tried),
        field("clean peak", "clean_peak"),
        *_ceiling_column(rule),
        field("clean trips", "clean_trips"),
        field("loop trips", "loop_trips"),
        field("other trips", "other_trips"),
        *([field("by length", "length_trips")] if LENGTH in RULES[rule].states else []),
        _figure("delay, words", "delay_words"),
        _figure("chars", "delay_chars"),
        field("chars saved", "saved_chars"),
    ]
    unlabelled = {"clean peak", _OF, "clean trips", "loop trips", "delay, words", "chars"}
    return [column for column in columns if labels or column.head not in unlabelled]


def front_columns(rule: str, tried: Sequence[str]) -> list[Column]:
    """Return the columns of a front."""
    return [
        *_knob_columns(rule, tried),
        field("missed", "missed"),
        _estimate("recall, %", "recall", 100),
        field("false alarms", "clean_trips"),
        _estimate("per 1,000 replies", "false_per_1000_replies"),
        _estimate("per 1,000,000 words", "false_per_million_words"),
        _figure("delay, words", "delay_words"),
        _figure("chars", "delay_chars"),
        field("clean peak", "clean_peak"),
        *_ceiling_column(rule),
        _figure("headroom", "headroom"),
        field("alike", "alike"),
    ]


def _knob_columns(rule: str, tried: Sequence[str]) -> list[Column]:
    entry = RULES[rule]
    headings = {knob.name: knob.heading for knob in entry.knobs}
    names = dict.fromkeys((*entry.sweep.columns, *tried))
    return [field(headings[name], name) for name in names]


def _ceiling_column(rule: str) -> list[Column]:
    """Where the ceiling of the peak is not one of the knobs beside it."""
    return [field(_OF, "clean_ceiling")] if RULES[rule].ceiling_knob is None else []


def _figure(head: str, name: str) -> Column:
    return Column(head, lambda record: figure(record[name]))


def _estimate(head: str, name: str, scale: float = 1) -> Column:
    def cell(record: Record) -> str:
        if record[name] is None:
            return UNDEFINED
        value, low, high = (figure(record[name + bound] * scale) for bound in ("", "_low", "_high"))
        return f"{value} ({low} to {high})"

    return Column(head, cell)
