"""``--format json``: one indented document, with totals."""

from __future__ import annotations

from typing import Any

import orjson

from loopcli.lenient_json import harmless
from loopcli.output.formats.base import OutputFormat
from loopcli.output.records import failure_record, row_record
from loopcli.output.report import Report
from loopcli.output.tuning import FrontReport, SweepReport, front_record, sweep_record
from loopcli.wording import spelled


def _dump(document: dict[str, Any]) -> bytes:
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return harmless(orjson.dumps(document, option=options))


def _report(report: Report) -> bytes:
    return _dump(
        {
            "transcripts": list(map(row_record, report.shown)),
            "totals": report.totals(),
            "troubles": list(map(spelled, report.troubles)),
            "failures": list(map(failure_record, report.failures)),
        }
    )


def _sweep(sweep: SweepReport) -> bytes:
    return _dump({"combinations": list(map(sweep_record, sweep.shown))})


def _front(front: FrontReport) -> bytes:
    points = [
        front_record(point, front.rules)
        | {"combinations": [row.knobs._asdict() for row in point.alike]}
        for point in front.shown
    ]
    best = front.best
    return _dump({"front": points, "suggested": None if best is None else best._asdict()})


FORMAT = OutputFormat(report=_report, sweep=_sweep, front=_front, limit=None)
