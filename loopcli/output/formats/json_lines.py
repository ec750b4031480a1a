"""``--format jsonl``: one object a line, ``"type"`` first."""

from __future__ import annotations

from collections.abc import Iterable

from loopcli.lenient_json import dump_line
from loopcli.output.formats.base import OutputFormat
from loopcli.output.records import Record, row_record
from loopcli.output.report import Report
from loopcli.output.tuning import FrontReport, SweepReport, front_record, sweep_record


def _lines(kind: str, records: Iterable[Record]) -> bytes:
    lines = bytearray()
    for record in records:
        # Added at once: what orjson returns occupies kilobytes, however short it is.
        lines += dump_line({"type": kind, **record})
        lines += b"\n"
    return bytes(lines)


def _report(report: Report) -> bytes:
    return _lines("transcript", map(row_record, report.shown))


def _sweep(sweep: SweepReport) -> bytes:
    return _lines("combination", map(sweep_record, sweep.shown))


def _front(front: FrontReport) -> bytes:
    return _lines("suggestion", (front_record(point, front.rules) for point in front.shown))


FORMAT = OutputFormat(report=_report, sweep=_sweep, front=_front, limit=None)
