"""``--format csv``: quoted as RFC 4180 says, with a header, in lines as Unix ends them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from loopcli.lenient_json import dump_line
from loopcli.output.escape import cell
from loopcli.output.formats.base import OutputFormat
from loopcli.output.records import ROW_FIELDS, Record, row_record
from loopcli.output.report import Report
from loopcli.output.tuning import (
    FrontReport,
    SweepReport,
    front_fields,
    front_record,
    sweep_fields,
    sweep_record,
)


def _rows(records: Iterable[Record], fields: Sequence[str]) -> bytes:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for record in records:
        writer.writerow([_cell(record[field]) for field in fields])
    return out.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> object:
    if isinstance(value, list | dict):
        return dump_line(value).decode()
    return cell(value) if isinstance(value, str) else value


def _report(report: Report) -> bytes:
    fields = (*ROW_FIELDS, "session") if report.sessions else ROW_FIELDS
    return _rows(({"session": None} | row_record(row) for row in report.shown), fields)


def _sweep(sweep: SweepReport) -> bytes:
    return _rows(map(sweep_record, sweep.shown), sweep_fields(sweep.now))


def _front(front: FrontReport) -> bytes:
    records = (front_record(point, front.rules) for point in front.shown)
    return _rows(records, front_fields(front.now))


FORMAT = OutputFormat(report=_report, sweep=_sweep, front=_front, limit=None)
