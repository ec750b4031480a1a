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
from loopcli.wording import near

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
        replies = record["type"] == "abandoned_replies"
        priced = count(record.get("loopAbortPriced"), LARGEST) if replies else 0
        for name, costs in self._costs.items():
            cost = amount(record.get(name))
            # A sum of no prices is written as 0, and is not known.
            if cost is not None and (not replies or (priced and name == "totalCost")):
                costs.append(cost)
        if replies:
            self._priced += priced
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
        """Return the summary as plain JSON; a cost of which nothing is known is ``None``."""
        return {
            "errors": self.errors,
            **{name: math.fsum(costs) if costs else None for name, costs in self._costs.items()},
            "loopAbortUnpriced": max(0, self.errors["loopAborts"] - self._priced),
        }


class Rollup:
    """Summaries of all sessions; with ``by``, one for each group within each session."""

    def __init__(self, by: str | None = None) -> None:
        self._by = by
        self._parts: dict[tuple[str, str], SessionSummary] = {}
        self._models: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, record: Record, file: str) -> bool:
        """Count a record of a file, if it is of a type that counts; return whether it is."""
        if record.get("type") not in COUNTED:
            return False
        session = _name(record, "session")
        group = "" if self._by is None else file if self._by == "file" else _name(record, self._by)
        key = session, group
        self._parts.setdefault(key, SessionSummary()).add(record)
        if record.get("model"):
            self._models.setdefault(key, {})[_name(record, "model")] = None
        return True

    def summaries(self) -> Iterator[dict[str, Any]]:
        """Yield each session's summary, in the order of their first records."""
        for key, summary in self._parts.items():
            label = {"session": key[0], "models": list(self._models.get(key, ()))}
            yield {"type": "summary", **label, **summary.to_json()}

    def sums(self, field: str) -> list[tuple[str, float | None]]:
        """Return the sum of a field for each group, the largest first.

        A sum of costs of which none is known is ``None``. ``field`` is a path in gg's
        notation (``summary.errors.loopAbortChars``).
        Raises ``ConfigError`` for an unknown field.
        """
        known = fields()
        if field not in known:
            hint = near(field, known)
            raise ConfigError(
                f"--sum: there is no field `{field}` (there is: {', '.join(known)}){hint}"
            )
        groups: dict[str, list[float | None]] = {}
        for (_, group), summary in self._parts.items():
            groups.setdefault(group, []).append(_flat(summary.to_json())[field])
        sums = [(group, _sum(values)) for group, values in groups.items()]
        return sorted(sums, key=lambda pair: (-(pair[1] or 0), pair[0]))


def fields() -> list[str]:
    """Return the path of every figure of a summary."""
    return list(_flat(SessionSummary().to_json()))


def _flat(summary: Mapping[str, Any]) -> dict[str, float | None]:
    flat: dict[str, float | None] = {}
    for name, value in summary.items():
        if isinstance(value, dict):
            flat |= {f"summary.{name}.{inner}": figure for inner, figure in value.items()}
        else:
            flat[f"summary.{name}"] = value
    return flat


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return sum(known) if all(isinstance(value, int) for value in known) else math.fsum(known)


def _name(record: Record, key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) and value else UNNAMED
