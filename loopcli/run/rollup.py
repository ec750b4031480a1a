"""Sums over journals: each session's summary, and one figure by model or session.

Source: gg's session summary. The counters transpile, programFault, sandboxLimit
and missingCompletion are 0 unless an agent's harness wrote such records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from loopcli.errors import ConfigError
from loopcli.lenient_json import amount, count
from loopcli.run.journal import LARGEST, Record

# The error kinds as the event has them, and the counter of each.
_KINDS = {
    "model_api": "modelApi",
    "transpile": "transpile",
    "program_fault": "programFault",
    "sandbox_limit": "sandboxLimit",
    "missing_completion": "missingCompletion",
}
_LOOPS = ("loopAborts", "loopAbortWords", "loopAbortChars")
COUNTED = ("turn_outcome", "abandoned_replies")
BY = ("file", "model", "session")
# What a record that names no session or model is counted under.
UNNAMED = "-"


class SessionSummary:
    """The figures of one session (or a part of it), gathered record by record."""

    def __init__(self) -> None:
        self.errors = dict.fromkeys(
            ("turns", "errors", "maxConsecutive", *_KINDS.values(), *_LOOPS), 0
        )
        self._costs: dict[str, list[float]] = {"totalCost": [], "workCost": []}
        self._priced = 0

    def add(self, record: Record) -> None:
        """Count a record whose type is in ``COUNTED``."""
        for name, costs in self._costs.items():
            costs.append(amount(record.get(name)) or 0.0)
        if record["type"] == "abandoned_replies":
            self._priced += count(record.get("loopAbortPriced"), LARGEST)
            return
        errors = self.errors
        errors["turns"] += 1
        if record.get("error"):
            errors["errors"] += 1
        counter = _KINDS.get(str(record.get("error")))
        if counter:
            errors[counter] += 1
        consecutive = count(record.get("consecutiveErrors"), LARGEST)
        errors["maxConsecutive"] = max(errors["maxConsecutive"], consecutive)
        for name in _LOOPS:
            errors[name] += count(record.get(name), LARGEST)

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON."""
        return {
            "errors": self.errors,
            **{name: math.fsum(costs) for name, costs in self._costs.items()},
            "loopAbortUnpriced": max(0, self.errors["loopAborts"] - self._priced),
        }


class Rollup:
    """Summaries of all sessions; with ``by``, one for each group within each session."""

    def __init__(self, by: str | None = None) -> None:
        self._by = by
        self._parts: dict[tuple[str, str], SessionSummary] = {}
        self._models: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, record: Record, file: str) -> None:
        """Count a record of a file; ignore records of other types."""
        if record.get("type") not in COUNTED:
            return
        session = _name(record, "session")
        group = "" if self._by is None else file if self._by == "file" else _name(record, self._by)
        key = session, group
        self._parts.setdefault(key, SessionSummary()).add(record)
        if record.get("model"):
            self._models.setdefault(key, {})[_name(record, "model")] = None

    def summaries(self) -> Iterator[dict[str, Any]]:
        """Yield each session's summary, in the order of their first records."""
        for key, summary in self._parts.items():
            label = {"session": key[0], "models": list(self._models.get(key, ()))}
            yield {"type": "summary", **label, **summary.to_json()}

    def sums(self, field: str) -> list[tuple[str, float]]:
        """Return the sum of a field for each group, the largest first.

        ``field`` is a path in gg's notation (``summary.errors.loopAbortChars``).
        Raises ``ConfigError`` for an unknown field.
        """
        known = fields()
        if field not in known:
            raise ConfigError(f"--sum: there is no field `{field}` (there is: {', '.join(known)})")
        groups: dict[str, list[float]] = {}
        for (_, group), summary in self._parts.items():
            groups.setdefault(group, []).append(_flat(summary.to_json())[field])
        sums = [(group, _sum(values)) for group, values in groups.items()]
        return sorted(sums, key=lambda pair: (-pair[1], pair[0]))


def fields() -> list[str]:
    """Return the path of every figure of a summary."""
    return list(_flat(SessionSummary().to_json()))


def _flat(summary: Mapping[str, Any]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for name, value in summary.items():
        if isinstance(value, dict):
            flat |= {f"summary.{name}.{inner}": figure for inner, figure in value.items()}
        else:
            flat[f"summary.{name}"] = value
    return flat


def _sum(values: list[float]) -> float:
    return sum(values) if all(isinstance(value, int) for value in values) else math.fsum(values)


def _name(record: Record, key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) and value else UNNAMED
