"""``--format table``: aligned columns for people, and lines that sum them up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from loopcli.analyze import gates
from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.scoring import score
from loopcli.output import escape
from loopcli.output.columns import (
    figure,
    front_columns,
    interval,
    row_columns,
    session_columns,
    sweep_columns,
    table,
)
from loopcli.output.formats.base import OutputFormat
from loopcli.output.records import Record, repeat_records, row_record
from loopcli.output.report import Report, ranked
from loopcli.output.tuning import (
    FrontReport,
    SweepReport,
    config,
    flags,
    front_record,
    sweep_record,
)
from loopcli.wording import counted, shown

# Repetitions of one reply that ended; the formats for machines have all of them.
_ENDED_SHOWN = 3


def table_format(*, markdown: bool) -> OutputFormat:
    """Return the format whose tables are plain text, or Markdown."""
    return OutputFormat(
        report=partial(_report, markdown=markdown),
        sweep=partial(_sweep, markdown=markdown),
        front=partial(_front, markdown=markdown),
        # More rows than anybody reads would scroll the summary away.
        limit=100,
    )


def _report(report: Report, *, markdown: bool) -> bytes:
    sessions = report.sessions
    text = "" if sessions and not report.replies else _replies(report, markdown)
    text += _sessions(report, markdown) if sessions else ""
    text += _totals(report) + "\n"
    for rule, rows in report.by_rule().items():
        if any(row.label is not None for row in rows):
            text += f"{rule}: {_scores(rows)}\n"
    return text.encode("utf-8", "replace")


def _replies(report: Report, markdown: bool) -> str:
    replies = report.replies
    labels = any(row.label is not None for row in replies)
    columns = row_columns(labels=labels, rules=len({row.rule for row in replies}) > 1)
    rows = ranked(replies)[: report.limit]
    text = table(list(map(row_record, rows)), columns, markdown=markdown) + "\n\n"
    text += _unshown(len(replies) - len(rows), "row", "with a lower peak")
    return text + "".join(f"{line}\n" for row in rows for line in _ended(row, markdown=markdown))


def _sessions(report: Report, markdown: bool) -> str:
    records = list(_repeats(ranked(report.sessions)))
    shown = records[: report.limit]
    text = table(shown, session_columns(shown), markdown=markdown) + "\n\n"
    return text + _unshown(len(records) - len(shown), "row", "with a lower streak")


def _repeats(rows: Iterable[ReplayRow]) -> Iterator[Record]:
    """Yield what came more than once in a row; of a session without such, one record."""
    told: set[str] = set()
    for row in rows:
        for record in repeat_records(row):
            if record["streak"] > 1 or record["id"] not in told:
                told.add(record["id"])
                yield record


def _sweep(sweep: SweepReport, *, markdown: bool) -> bytes:
    columns = sweep_columns(sweep.rule, sweep.tried, labels=sweep.labelled)
    text = table(list(map(sweep_record, sweep.shown)), columns, markdown=markdown)
    cut = _unshown(sweep.total - len(sweep.shown), "combination", "after these")
    return f"{text}\n\n{cut}{counted(sweep.total, 'combination')}\n".encode()


def _front(front: FrontReport, *, markdown: bool) -> bytes:
    columns = front_columns(front.rule, front.tried)
    replies = "reply" if front.clean == 1 else "replies"
    text = f"{counted(front.loops, 'loop')}, {front.clean} clean {replies}; "
    text += f"headroom {front.headroom:g}; fewest missed loops first\n\n"
    records = [front_record(point, front.rules) for point in front.shown]
    text += table(records, columns, markdown=markdown) + "\n"
    cut = _unshown(len(front.points) - len(front.shown), "suggestion", "after these")
    text += f"\n{cut}" if cut else ""
    if front.best is not None:
        fence = "```\n" if markdown else ""
        block = f"{flags(front.best, front.rules)}\n\n{config(front.rule, front.best, front.rules)}"
        text += f"\nThe first of them:\n\n{fence}{block}{fence}"
    return text.encode()


def _unshown(left: int, thing: str, which: str) -> str:
    """Return the line for rows that a table leaves out, or nothing.

    >>> _unshown(1, "row", "after these"), _unshown(0, "row", "after these")
    ('1 row after these is not shown (--top 0).\\n', '')
    """
    verb = "is" if left == 1 else "are"
    return f"{counted(left, thing)} {which} {verb} not shown (--top 0).\n" if left > 0 else ""


def _ended(row: ReplayRow, *, markdown: bool) -> Iterator[str]:
    """Yield a line for each repetition of a reply that ended before the reply did."""
    safe = escape.markdown if markdown else escape.terminal
    ended = [place for place in row.places if place.region.ended]
    for place in ended[:_ENDED_SHOWN]:
        region = place.region
        where = f"characters {region.onset_char} to {region.end_char}"
        if place.line is not None:
            where += f", from line {place.line}"
        yield safe(f"{row.id}: ended: {shown(region.unit)} {region.copies} times, {where}")
    if len(ended) > _ENDED_SHOWN:
        yield safe(f"{row.id}: ended: {len(ended) - _ENDED_SHOWN} more")


def _totals(report: Report) -> str:
    totals = report.totals()
    labels = [f"{count} {name}" for name, count in totals["labels"].items() if name != "none"]
    labels.append(f"{totals['labels']['none']} unlabelled")
    parts = [
        f"{counted(totals['transcripts'], 'transcript')} ({', '.join(labels)})",
        f"{counted(totals['words'], 'word')}, {counted(totals['chars'], 'character')}",
    ]
    if "sessions" in totals:
        parts = parts if report.replies else []
        its = totals["sessions"]
        parts.append(
            f"{counted(its['sessions'], 'session')}, {counted(its['rounds'], 'round')}, "
            f"{counted(its['calls'], 'call')}"
        )
    parts += [
        *(_trips(rule, figures) for rule, figures in totals["rules"].items()),
    ]
    if report.troubles:
        parts.append(counted(len(report.troubles), "trouble"))
    if report.failures:
        parts.append(counted(len(report.failures), "gate failure"))
    return "; ".join(parts)


def _trips(rule: str, figures: Mapping[str, Any]) -> str:
    ended = f" ({figures['ended']} on what ended)" if figures["ended"] else ""
    trips, peak = counted(figures["trips"], "trip"), figures["peak"]
    return f"{trips}{ended}, highest peak {peak} ({rule})"


def _scores(rows: Sequence[ReplayRow]) -> str:
    result = score(gates.outcomes(rows))
    if rows[0].session is not None:
        return (
            f"recall {interval(result.recall, 100)} %, "
            f"false alarms {interval(result.false_per_1000_replies)} per 1,000 sessions"
        )
    return (
        f"recall {interval(result.recall, 100)} %, "
        f"false alarms {interval(result.false_per_1000_replies)} per 1,000 replies, "
        f"{interval(result.false_per_million_words)} per 1,000,000 words, "
        f"median delay {figure(result.delay)} characters"
    )


FORMAT = table_format(markdown=False)
