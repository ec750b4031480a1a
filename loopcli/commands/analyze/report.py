"""The report of ``analyze``: a row for each reply and rule, the totals, and the gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from loopcli.analyze import baseline, gates
from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.survey import Survey
from loopcli.commands.analyze.request import Messages, Request
from loopcli.output.report import Report
from loopcli.status import Status
from loopcli.system import writing


class _Held(NamedTuple):
    """What the gates found: replies that failed, and what kept a gate from judging."""

    failures: list[Failure]
    troubles: list[str]


def run(request: Request) -> int:
    """Replay the corpus, print the report, hold the gates; return the exit status."""
    old = _old(request)  # before all the work
    teller = Messages()
    survey = teller.survey(request, request.plan)
    rows = sorted(survey.rows, key=_place)
    held = _gates(request, rows, old, teller)
    if request.update_baseline:
        held.troubles.extend(_update(request, rows, survey))
    for message in (*held.troubles, *map(str, held.failures)):
        teller.line(message)
    errors = [str(trouble) for trouble in survey.troubles if trouble.status is not Status.CLEAN]
    errors += [survey.interruption] if survey.interrupted else []
    errors += held.troubles
    if request.junit:
        from loopcli.output.junit import junit

        unwritten = _written(request.junit, junit(rows, held.failures, errors))
        for message in unwritten:
            teller.line(message)
        errors += unwritten
        held.troubles.extend(unwritten)
    statuses = [Status.TROUBLE] if held.troubles else []
    statuses += [Status.LOOP] if held.failures else []
    report = Report(rows, errors, held.failures)
    return teller.end(survey, report.render(request.format, request.shown), statuses)


def _old(request: Request) -> baseline.Baseline | None:
    """Return the baseline to compare with; one to be written must be able to be."""
    if not request.baseline:
        return None
    if request.update_baseline:
        baseline.refuse_other(request.baseline)
        return None
    return baseline.load(request.baseline)


def _place(row: ReplayRow) -> tuple[str, int]:
    """Return what replies are ordered by: their file, then their number in it."""
    path, _, number = row.id.rpartition("#")
    return path, int(number)


def _gates(
    request: Request, rows: Sequence[ReplayRow], old: baseline.Baseline | None, teller: Messages
) -> _Held:
    held = _Held([], [])
    if request.check:
        held.failures.extend(gates.labels(rows))
        if all(row.label is None for row in rows):
            held.troubles.append("check: no transcript is labelled, so there is nothing to check")
    held.failures.extend(gates.peaks(rows, request.max_peak))
    held.troubles.extend(
        f"max-peak: {rule} judged no reply that is not labelled loop, so there is nothing to hold"
        for rule in gates.unjudged(rows, request.max_peak)
    )
    if old is not None:
        new = baseline.of(rows, request.settings)
        held.failures.extend(baseline.failures(old, new))
        if not baseline.in_common(old, new):
            held.troubles.append("baseline: it has no transcript in common with what was read")
        for note in baseline.notes(old, new):
            teller.line(f"baseline: {note}")
    return held


def _update(request: Request, rows: Sequence[ReplayRow], survey: Survey) -> list[str]:
    """Write the baseline, but not from half a corpus; return what kept it from being written."""
    if survey.interrupted:
        why = "not all has been analysed"
    elif Status.TROUBLE in survey.statuses:
        why = "not all could be read"
    elif not rows:
        why = "no transcript was found"
    else:
        new = baseline.of(rows, request.settings)
        return _written(request.baseline or "", baseline.dump(new))
    return [f"baseline: {request.baseline} is not written: {why}"]


def _written(path: str, data: bytes) -> list[str]:
    """Write a file; return what went wrong, which must not cost the user the report."""
    try:
        writing.write(path, data)
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    return []
