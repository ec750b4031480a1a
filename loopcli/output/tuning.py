"""What a sweep and a suggestion print, and their records for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from loopcli.analyze.scoring import Estimate
from loopcli.analyze.sweep.rows import SweepRow
from loopcli.analyze.sweep.suggest import Suggestion
from loopcli.rules.base import RuleConfig
from loopcli.settings.arming import DEFAULT_RULES
from loopcli.wording import kebab

_RATES = ("recall", "false_per_1000_replies", "false_per_million_words")
_COUNTS = (
    *("clean_peak", "clean_ceiling", "clean_trips", "loop_trips", "other_trips"),
    *("length_trips", "caught", "delay_words", "delay_chars", "saved_chars"),
)
_SCORES = tuple(f"{rate}{bound}" for rate in _RATES for bound in ("", "_low", "_high"))


class SweepReport(NamedTuple):
    """The combinations of a grid that are printed, of ``total``.

    rule: the rule whose knobs were swept.  tried: the names of these knobs.  now: the knobs in
    use.  labelled: whether any reply has a label, without which nothing can be said about loops.
    """

    rule: str
    tried: Sequence[str]
    now: RuleConfig
    shown: Sequence[SweepRow]
    total: int
    labelled: bool


class FrontReport(NamedTuple):
    """The combinations that no other one beats, fewest missed loops first.

    rule, tried, now: as in ``SweepReport``.  rules: those that are armed.  loops, clean: the
    numbers of labelled replies.  headroom: what was asked for.  limit: how many points to print;
    None prints all of them.
    """

    rule: str
    tried: Sequence[str]
    now: RuleConfig
    rules: Sequence[str]
    points: Sequence[Suggestion]
    loops: int
    clean: int
    headroom: float
    limit: int | None

    @property
    def shown(self) -> Sequence[Suggestion]:
        """The points to print."""
        return self.points[: self.limit]

    @property
    def best(self) -> RuleConfig | None:
        """The knobs that are suggested: those of the first point."""
        return self.points[0].row.knobs if self.points else None


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
    """Return a point of the front as plain JSON.

    ``rules`` are those that its flags arm. ``headroom`` is the ceiling as a multiple of the
    highest clean peak; it is not defined if no clean reply has a peak. ``alike`` counts the
    combinations with the same figures, this one included.
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

    >>> from loopcli.rules.table import RULES
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
