"""The report on a corpus, in every format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from loopcli.analyze import gates
from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ENDED, ReplayRow
from loopcli.analyze.scoring import Estimate, Score, score
from loopcli.output import records
from loopcli.output.records import ROW_FIELDS, row_record
from loopcli.output.table import UNDEFINED, figure, row_columns, table, unshown
from loopcli.verdicts import Label
from loopcli.wording import counted, escaped, shown, spelled

_LABELS = (*Label, None)
# Of one reply, in a table; the formats for machines have all of them.
_REGIONS_SHOWN = 3


class Report(NamedTuple):
    """Rows in the order of their ids, what could not be read, and what failed."""

    rows: Sequence[ReplayRow]
    troubles: Sequence[str]
    failures: Sequence[Failure]

    def render(self, form: str, shown: int | None) -> bytes:
        """Return the report; with ``shown`` only so many rows, the highest."""
        if form == "json":
            return records.json_document(self._document(shown))
        if form == "jsonl":
            return records.json_lines("transcript", map(row_record, self._picked(shown)))
        if form == "csv":
            return records.csv(map(row_record, self._picked(shown)), ROW_FIELDS)
        return self._text(shown, markdown=form == "markdown").encode("utf-8", "replace")

    def _ranked(self) -> list[ReplayRow]:
        """Return the rows, the one that came nearest to its ceiling first."""
        return sorted(self.rows, key=lambda row: (-row.share, -row.peak))

    def _picked(self, shown: int | None) -> Sequence[ReplayRow]:
        return self.rows if shown is None else self._ranked()[:shown]

    def _by_rule(self) -> dict[str, list[ReplayRow]]:
        rules: dict[str, list[ReplayRow]] = {}
        for row in self.rows:
            rules.setdefault(row.rule, []).append(row)
        return rules

    def _document(self, shown: int | None) -> Mapping[str, Any]:
        return {
            "transcripts": list(map(row_record, self._picked(shown))),
            "totals": self._totals(),
            "troubles": list(map(spelled, self.troubles)),
            "failures": [
                {
                    "id": spelled(failure.id),
                    "gate": failure.gate,
                    "rule": failure.rule or None,
                    "message": spelled(failure.message),
                }
                for failure in self.failures
            ],
        }

    def _totals(self) -> dict[str, Any]:
        rules = self._by_rule()
        first = next(iter(rules.values()), [])
        labels = [row.label for row in first]
        return {
            "transcripts": len(first),
            "labels": {str(label or "none"): labels.count(label) for label in _LABELS},
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

    def _text(self, shown: int | None, *, markdown: bool) -> str:
        rules, ranked = self._by_rule(), self._ranked()
        labels = any(row.label is not None for row in self.rows)
        columns = row_columns(labels=labels, rules=len(rules) > 1)
        picked = ranked[:shown]
        text = table(list(map(row_record, picked)), columns, markdown=markdown) + "\n\n"
        text += unshown(len(ranked) - len(picked), "row", "with a lower peak")
        text += "".join(f"{line}\n" for row in picked for line in _ended(row))
        text += self._line(self._totals()) + "\n"
        if labels:
            text += "".join(_scored(rule, rows) + "\n" for rule, rows in rules.items())
        return text

    def _line(self, totals: Mapping[str, Any]) -> str:
        named = [f"{count} {name}" for name, count in totals["labels"].items() if name != "none"]
        named.append(f"{totals['labels']['none']} unlabelled")
        peaks = [
            f"{found['trips']} trip{_of_these(found['ended'])}, "
            f"highest peak {found['peak']} ({rule})"
            for rule, found in totals["rules"].items()
        ]
        parts = [
            f"{counted(totals['transcripts'], 'transcript')} ({', '.join(named)})",
            f"{counted(totals['words'], 'word')}, {counted(totals['chars'], 'character')}",
            *peaks,
        ]
        if self.troubles:
            parts.append(counted(len(self.troubles), "trouble"))
        if self.failures:
            parts.append(counted(len(self.failures), "gate failure"))
        return "; ".join(parts)


def _of_these(ended: int) -> str:
    return f" ({ended} on what ended)" if ended else ""


def _ended(row: ReplayRow) -> Iterator[str]:
    """Yield a line for each repetition of a reply that ended before the reply did."""
    ended = [place for place in row.places if place.region.ended]
    for place in ended[:_REGIONS_SHOWN]:
        region = place.region
        where = f"characters {region.onset_char} to {region.end_char}"
        if place.line is not None:
            where += f", from line {place.line}"
        yield f"{escaped(row.id)}: ended: {shown(region.unit)} {region.copies} times, {where}"
    if len(ended) > _REGIONS_SHOWN:
        yield f"{escaped(row.id)}: ended: {len(ended) - _REGIONS_SHOWN} more"


def _score(found: Score) -> dict[str, Any]:
    rates = (
        ("recall", found.recall),
        ("false_per_1000_replies", found.false_per_1000_replies),
        ("false_per_million_words", found.false_per_million_words),
    )
    values = {name: None if rate is None else rate._asdict() for name, rate in rates}
    return values | {"delay_chars": found.delay}


def _scored(rule: str, rows: Sequence[ReplayRow]) -> str:
    return f"{rule}: " + ", ".join(_figures(score(gates.outcomes(rows))))


def _figures(found: Score) -> Iterator[str]:
    yield f"recall {_rate(found.recall, 100)} %"
    yield f"false alarms {_rate(found.false_per_1000_replies)} per 1,000 replies"
    yield f"{_rate(found.false_per_million_words)} per 1,000,000 words"
    yield f"median delay {figure(found.delay)} characters"


def _rate(rate: Estimate | None, scale: float = 1) -> str:
    if rate is None:
        return UNDEFINED
    value, low, high = (figure(bound * scale) for bound in rate)
    return f"{value} ({low} to {high})"
