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
    def replies(self) -> list[ReplayRow]:
        """The rows of replies."""
        return [row for row in self.rows if row.session is None]

    @property
    def sessions(self) -> list[ReplayRow]:
        """The rows of sessions."""
        return [row for row in self.rows if row.session is not None]

    @property
    def ranked(self) -> list[ReplayRow]:
        """The rows to print, the one that came nearest to its ceiling first."""
        return ranked(self.rows)[: self.limit]

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
        count, labels, words, chars = _size(self.replies)
        totals = {"transcripts": count, "labels": labels, "words": words, "chars": chars}
        if self.sessions:
            count, labels, rounds, calls = _size(self.sessions)
            sessions = {"sessions": count, "labels": labels, "rounds": rounds, "calls": calls}
            totals["sessions"] = sessions
        return totals | {
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


def ranked(rows: Sequence[ReplayRow]) -> list[ReplayRow]:
    """Return rows, the one that came nearest to its ceiling first."""
    return sorted(rows, key=lambda row: (-row.share, -row.peak))


def _size(rows: Sequence[ReplayRow]) -> tuple[int, dict[str, int], int, int]:
    """Return how many replies there are, of which label, and the sizes that the rows have."""
    by_rule: dict[str, list[ReplayRow]] = {}
    for row in rows:
        by_rule.setdefault(row.rule, []).append(row)
    first = next(iter(by_rule.values()), [])
    labels = [row.label for row in first]
    return (
        len(first),
        {str(label or "none"): labels.count(label) for label in (*Label, None)},
        max((sum(row.words for row in each) for each in by_rule.values()), default=0),
        max((sum(row.chars for row in each) for each in by_rule.values()), default=0),
    )


def _score(result: Score) -> dict[str, Any]:
    rates = {
        "recall": result.recall,
        "false_per_1000_replies": result.false_per_1000_replies,
        "false_per_million_words": result.false_per_million_words,
    }
    values = {name: None if rate is None else rate._asdict() for name, rate in rates.items()}
    return values | {"delay_chars": result.delay}
