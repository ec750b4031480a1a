"""The report of ``analyze``: a row for each reply and rule, the totals, and the gates."""

from __future__ import annotations

from collections.abc import Sequence

from loopcli import baseline, gates
from loopcli.commands.request import Request, Teller
from loopcli.gates import Failure
from loopcli.output.report import Report
from loopcli.replay import Row
from loopcli.status import Status
from loopcli.survey import Survey


def run(request: Request) -> int:
    """Replay the corpus, print the report, hold the gates; return the exit status."""
    old = None
    if request.baseline and not request.update_baseline:
        old = baseline.load(request.baseline)  # before all the work
    teller = Teller()
    survey = teller.survey(request, request.plan)
    rows = sorted(survey.rows, key=_place)
    failures, statuses = _gates(request, rows, old, teller, survey)
    for failure in failures:
        teller.line(str(failure))
    errors = [str(trouble) for trouble in survey.troubles if trouble.status is not Status.CLEAN]
    if request.junit:
        _write(request.junit, _junit(rows, failures, errors))
    if failures:
        statuses.append(Status.LOOP)
    report = Report(rows, errors, failures)
    return teller.end(survey, report.render(request.format, request.shown), statuses)


def _place(row: Row) -> tuple[str, int]:
    """Return what replies are ordered by: their file, then their number in it."""
    path, _, number = row.id.rpartition("#")
    return path, int(number)


def _gates(
    request: Request,
    rows: Sequence[Row],
    old: baseline.Baseline | None,
    teller: Teller,
    survey: Survey,
) -> tuple[list[Failure], list[Status]]:
    failures: list[Failure] = []
    statuses: list[Status] = []
    if request.check:
        failures += gates.labels(rows)
        if all(row.label is None for row in rows):
            teller.line("check: no transcript is labelled, so there is nothing to check")
            statuses.append(Status.TROUBLE)
    failures += gates.peaks(rows, request.max_peak)
    new = baseline.of(rows, request.settings)
    if old is not None:
        failures += baseline.failures(old, new)
        for note in baseline.notes(old, new):
            teller.line(f"baseline: {note}")
    elif request.baseline and not survey.interrupted:
        baseline.save(request.baseline, new)
    return failures, statuses


def _junit(rows: Sequence[Row], failures: Sequence[Failure], errors: Sequence[str]) -> bytes:
    """Return the JUnit document."""
    from loopcli.output.junit import junit

    return junit(rows, failures, errors)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
