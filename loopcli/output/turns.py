"""The table of ``loopcheck journal``: a row for each session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopcli.output.columns import UNDEFINED, Column, table

Summary = Mapping[str, Any]


def _errors(head: str, name: str) -> Column:
    return Column(head, lambda summary: f"{summary['errors'][name]:,}")


def _cost(summary: Summary) -> str:
    """Return the known cost; what has no price is named beside it, and never counts as 0."""
    cost, unpriced = summary["totalCost"], summary["loopAbortUnpriced"]
    shown = UNDEFINED if cost is None else f"{cost:.6g}"
    return f"{shown} + {unpriced} unpriced" if cost is not None and unpriced else shown


_COLUMNS = [
    Column("session", lambda summary: summary["session"], left=True),
    Column("models", lambda summary: ", ".join(summary["models"]) or UNDEFINED, left=True),
    _errors("turns", "turns"),
    _errors("failed", "errors"),
    _errors("loops", "loopAborts"),
    _errors("words lost", "loopAbortWords"),
    _errors("characters", "loopAbortChars"),
    Column("cost", _cost),
]


def turns_table(summaries: Sequence[Summary]) -> str:
    """Return the table of some summaries, safe for a terminal."""
    return table([dict(summary) for summary in summaries], _COLUMNS)
