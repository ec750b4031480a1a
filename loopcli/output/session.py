"""What a report says of a session: its configuration, each round, each verdict, its end.

Inside ``config``, ``text``, ``server``, ``calls`` and ``state`` names are spelled
as the document and its engine spell them, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loopcli.session_verdicts import (
    EXEMPT,
    SERVER,
    JudgedItem,
    JudgedRound,
    SessionConfig,
    SessionOutput,
    SessionTotals,
    SessionVerdict,
    Uncounted,
)
from loopcli.verdicts import Peak

Record = dict[str, Any]


def session_records(output: SessionOutput, bytes_read: int) -> Iterator[Record]:
    """Yield the records of what a session's judge returned."""
    match output:
        case SessionConfig(session, options, warnings):
            yield {
                "type": "session",
                "session": session,
                "config": dict(options),
                "warnings": list(warnings),
            }
        case JudgedRound():
            for verdict in output.verdicts:
                yield _verdict(verdict, output, bytes_read)
            yield _round(output)
        case SessionTotals():
            yield _totals(output)


def _verdict(verdict: SessionVerdict, judged: JudgedRound, bytes_read: int) -> Record:
    """Return the record of a verdict: what is asked for, and the text for the model."""
    reading = verdict.reading
    return {
        "type": "verdict",
        "rule": reading.rule,
        "kind": reading.detection,
        "action": verdict.action,
        "effective": verdict.effective,
        "message": verdict.message,
        "streak": reading.streak,
        "ceiling": verdict.ceiling,
        "fingerprint": reading.fingerprint,
        "agent": judged.agent,
        "round": judged.number,
        "tool": reading.tool or None,
        "call_id": reading.call_id or None,
        "tool_input": reading.arguments,
        "standing": verdict is judged.standing,
        "line": judged.line,
        "cut_byte": judged.byte if verdict is judged.stop else None,
        "bytes_read": bytes_read,
    }


def _round(judged: JudgedRound) -> Record:
    """Return the record of a round, with all that was counted in it."""
    calls = [
        item
        for item in judged.items
        if isinstance(item.reading, Uncounted) or not item.reading.detection.is_text
    ]
    server = [item for item in calls if item.reading.tool.startswith(SERVER)]
    return {
        "type": "round",
        "agent": judged.agent,
        "round": judged.number,
        "line": judged.line,
        "text": _short(judged.text),
        "server": [_counted(item) for item in server],
        "calls": [_counted(item) for item in calls if item not in server],
        "warnings": list(judged.warnings),
    }


def _counted(item: JudgedItem) -> Record:
    reading, verdict = item
    if isinstance(reading, Uncounted):
        exempt = {"exempt": True} if reading.reason == EXEMPT else {"uncounted": reading.reason}
        return {"name": reading.tool, **exempt, "verdict": None}
    return {
        "name": reading.tool,
        "fingerprint": reading.fingerprint,
        "streak": reading.streak,
        "duplicateInRound": reading.duplicate,
        "verdict": _short(verdict),
    }


def _short(verdict: SessionVerdict | None) -> Record | None:
    """Return a verdict without what its own record has."""
    if verdict is None:
        return None
    fields = verdict.document()
    kept = ("detector", "action", "streak", "fingerprint", "toolName")
    return {name: fields[name] for name in kept if name in fields}


def _totals(totals: SessionTotals) -> Record:
    return {
        "type": "session-end",
        "session": totals.session,
        "rounds": totals.rounds,
        "state": totals.agents[""],
        "agents": {name: dict(state) for name, state in totals.agents.items() if name},
        "stopped": {name: verdict.document() for name, verdict in totals.stops.items()},
        "peak": {name: _peak(peak) for name, peak in totals.peaks.items()},
    }


def _peak(peak: Peak) -> Mapping[str, Any]:
    return {"value": peak.value, "ceiling": peak.ceiling, "repeated": list(peak.repeated)}
