"""The report on a corpus: the rows, and the figures over them that every format prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from loopcli.analyze import gates
from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ENDED, ReplayRow
from loopcli.analyze.scoring import Score, score
from loopcli.verdicts import Label


class Report(NamedTuple):
    """Rows in the order of their ids, what could not be read, and what failed a gate.

    ``limit`` is how many rows to print; ``None`` prints all of them.
    """

    rows: Sequence[ReplayRow]
    troubles: Sequence[str]
    failures: Sequence[Failure]
    limit: int | None

    @property
    def ranked(self) -> list[ReplayRow]:
        """The rows to print, the one that came nearest to its ceiling first."""
        return sorted(self.rows, key=lambda row: (-row.share, -row.peak))[: self.limit]

    @property
    def shown(self) -> Sequence[ReplayRow]:
        """The rows to print: in the order of their ids, or ranked if not all are printed."""
        return self.rows if self.limit is None else self.ranked

    def by_rule(self) -> dict[str, list[ReplayRow]]:
        """Return the rows of each rule."""
        rules: dict[str, list[ReplayRow]] = {}
        for row in self.rows:
            rules.setdefault(row.rule, []).append(row)
        return rules

    def totals(self) -> dict[str, Any]:
        """Return the figures over all rows as plain JSON."""
        rules = self.by_rule()
        first = next(iter(rules.values()), [])
        labels = [row.label for row in first]
        return {
            "transcripts": len(first),
            "labels": {str(label or "none"): labels.count(label) for label in (*Label, None)},
            "words": max((sum(row.words for row in rows) for rows in rules.values()), default=0),
            "chars": max((sum(row.chars for row in rows) for rows in rules.values()), default=0),
            "rules": {
                rule: {
                    "trips": sum(row.verdict is not None for row in rows),
                    "ended": sum(row.finding == ENDED for row in rows),
                    "peak": max(row.peak for row in rows),
                    "score": _score(score(gates.outcomes(rows))),
                }
                for rule, rows in rules.items()
            },
        }


def _score(result: Score) -> dict[str, Any]:
    rates = {
        "recall": result.recall,
        "false_per_1000_replies": result.false_per_1000_replies,
        "false_per_million_words": result.false_per_million_words,
    }
    values = {name: None if rate is None else rate._asdict() for name, rate in rates.items()}
    return values | {"delay_chars": result.delay}
