"""What a sweep and a suggestion show, as records and as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loopcli.output.records import Record
from loopcli.output.table import UNDEFINED, Column, field, figure
from loopcli.scoring import Estimate

if TYPE_CHECKING:
    from loopcli.sweep.grid import Knobs
    from loopcli.sweep.suggest import Suggestion
    from loopcli.sweep.tally import Row

KNOBS = (
    *("window_words", "repeat_threshold", "min_offenders", "min_saturated_run"),
    "max_response_chars",
)
_RATES = ("recall", "false_per_1000_replies", "false_per_million_words")
_COUNTS = (
    *("clean_peak", "clean_trips", "loop_trips", "other_trips", "length_trips", "caught"),
    *("delay_words", "delay_chars", "saved_chars"),
)
SWEEP_FIELDS = (
    *KNOBS,
    *_COUNTS,
    *(f"{rate}{bound}" for rate in _RATES for bound in ("", "_low", "_high")),
)
FRONT_FIELDS = (*SWEEP_FIELDS, "missed", "headroom", "alike", "flags")


def sweep_record(row: Row) -> dict[str, Any]:
    """Return one combination as plain JSON; a rate has its 95 % interval beside it."""
    record: dict[str, Any] = row.knobs._asdict()
    record |= {name: getattr(row, name) for name in _COUNTS if name != "delay_words"}
    record["delay_words"] = row.score.delay
    for rate in _RATES:
        estimate: Estimate | None = getattr(row.score, rate)
        value, low, high = (None, None, None) if estimate is None else estimate
        record |= {rate: value, f"{rate}_low": low, f"{rate}_high": high}
    return {name: record[name] for name in SWEEP_FIELDS}


def front_record(suggestion: Suggestion) -> dict[str, Any]:
    """Return a point of the front as plain JSON; ``alike`` counts the combinations that equal it.

    ``headroom`` is the ceiling as a multiple of the highest clean peak: not
    defined where no clean reply has a peak.
    """
    row, peak = suggestion.row, suggestion.row.clean_peak
    return sweep_record(row) | {
        "missed": suggestion.cost.missed,
        "headroom": row.knobs.min_saturated_run / peak if peak else None,
        "alike": len(suggestion.alike),
        "flags": flags(row.knobs),
    }


def flags(knobs: Knobs) -> str:
    """Return knobs as they stand on a command line."""
    return " ".join(f"--{_kebab(name)} {getattr(knobs, name)}" for name in KNOBS)


def config(knobs: Knobs) -> str:
    """Return knobs as a block of TOML."""
    lines = [f"{_kebab(name)} = {getattr(knobs, name)}" for name in KNOBS]
    return "[saturation]\n" + "\n".join(lines) + "\n"


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def sweep_columns(*, labels: bool) -> list[Column]:
    """Return the columns of a grid; without labels there is nothing to say of loops."""
    columns = [
        *_knob_columns(),
        field("clean peak", "clean_peak"),
        field("clean trips", "clean_trips"),
        field("loop trips", "loop_trips"),
        field("other trips", "other_trips"),
        field("by length", "length_trips"),
        _figure("delay, words", "delay_words"),
        _figure("chars", "delay_chars"),
        field("chars saved", "saved_chars"),
    ]
    unlabelled = {"clean peak", "clean trips", "loop trips", "delay, words", "chars"}
    return [column for column in columns if labels or column.head not in unlabelled]


def front_columns() -> list[Column]:
    """Return the columns of a front."""
    return [
        *_knob_columns(),
        field("missed", "missed"),
        _estimate("recall, %", "recall", 100),
        field("false alarms", "clean_trips"),
        _estimate("per 1,000 replies", "false_per_1000_replies"),
        _estimate("per 1,000,000 words", "false_per_million_words"),
        _figure("delay, words", "delay_words"),
        _figure("chars", "delay_chars"),
        field("clean peak", "clean_peak"),
        _figure("headroom", "headroom"),
        field("alike", "alike"),
    ]


def _knob_columns() -> Sequence[Column]:
    heads = ("window", "threshold", "offenders", "run", "backstop")
    return [field(head, name) for head, name in zip(heads, KNOBS, strict=True)]


def _figure(head: str, name: str) -> Column:
    return Column(head, lambda record: figure(record[name]))


def _estimate(head: str, name: str, scale: float = 1) -> Column:
    def cell(record: Record) -> str:
        if record[name] is None:
            return UNDEFINED
        value, low, high = (figure(record[name + bound] * scale) for bound in ("", "_low", "_high"))
        return f"{value} ({low} to {high})"

    return Column(head, cell)
