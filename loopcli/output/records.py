"""The rows of a report as records for machines. A figure that is not defined is null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import Place, ReplayRow
from loopcli.analyze.session_replay import SessionFacts
from loopcli.wording import clean, spelled

Record = Mapping[str, Any]

# The members of a row that are printed, in this order.
ROW_FIELDS = (
    *("id", "label", "onset", "rule", "channel", "words", "chars"),
    *("peak", "ceiling", "margin", "peak_word", "peak_char", "peak_line", "repeated"),
    *("verdict", "trip_channel", "trip_word", "trip_char"),
    *("finding", "regions"),
)


def row_record(row: ReplayRow) -> dict[str, Any]:
    """Return a row as plain JSON."""
    record = {name: getattr(row, name) for name in ROW_FIELDS if name != "regions"}
    record["id"] = spelled(row.id)
    record["repeated"] = [clean(word) for word in row.repeated]
    record["regions"] = list(map(_region, row.places))
    if row.session is not None:
        record["session"] = _session(row.session)
    return record


def _session(facts: SessionFacts) -> dict[str, Any]:
    repeats = [
        repeat._asdict()
        | {name: clean(getattr(repeat, name)) for name in ("agent", "tool", "what")}
        | {"rungs": [rung._asdict() for rung in repeat.rungs]}
        for repeat in facts.repeats
    ]
    return {"rounds": facts.rounds, "calls": facts.calls, "repeats": repeats}


def repeat_records(row: ReplayRow) -> list[dict[str, Any]]:
    """Return a record for each agent and tool of a session's row."""
    facts = row.session
    if facts is None:
        return []
    common: Record = {
        "id": spelled(row.id),
        "label": row.label,
        "rule": row.rule,
        "verdict": row.verdict,
    }
    size = {"rounds": facts.rounds, "calls": facts.calls}
    return [
        {**common, **size, **repeat._asdict()}
        | {"what": clean(repeat.what), "tool": clean(repeat.tool), "agent": clean(repeat.agent)}
        | {"rungs": {rung.action: rung for rung in repeat.rungs}}
        for repeat in facts.repeats
    ]


def _region(place: Place) -> dict[str, Any]:
    region = place.region._asdict()
    kind, unit = region.pop("kind"), clean(region.pop("unit"))
    return {
        "channel": place.channel,
        "line": place.line,
        "unit": unit,
        "unit_kind": kind,
        **region,
    }


def failure_record(failure: Failure) -> dict[str, Any]:
    """Return a failed gate as plain JSON."""
    return {
        "id": spelled(failure.id),
        "gate": failure.gate,
        "rule": failure.rule or None,
        "message": spelled(failure.message),
    }
