"""The report of ``analyze``: a row for each reply and rule, the totals, and the gates."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click

from loopcli.analyze import baseline, gates
from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.survey import Survey
from loopcli.commands import options
from loopcli.commands.analyze.inputs import (
    Inputs,
    Printing,
    end,
    inputs_of,
    number,
    printing_of,
    survey,
)
from loopcli.errors import ConfigError
from loopcli.output.console import Console
from loopcli.output.report import Report
from loopcli.settings.arming import Settings
from loopcli.status import Status
from loopcli.system import writing


class ReportRequest(NamedTuple):
    """What to report, and which gates to hold.

    described: rules, knobs and channels, as the baseline keeps them.  check, max_peak, baseline,
    update_baseline, junit: the options of the same names; ``max_peak`` by rule.
    """

    inputs: Inputs
    printing: Printing
    described: Mapping[str, Any]
    check: bool
    max_peak: Mapping[str, int]
    baseline: str | None
    update_baseline: bool
    junit: str | None


class _Gates(NamedTuple):
    """The replies that failed, and what kept a gate from judging."""

    failures: list[Failure]
    troubles: list[str]


def request(ctx: click.Context, params: Mapping[str, Any], settings: Settings) -> ReportRequest:
    """Return what a command line asks for. Raises ``ConfigError``."""
    inputs = inputs_of(params, settings, options.idle(ctx, settings.judging))
    return ReportRequest(
        inputs=inputs,
        printing=printing_of(params),
        described={
            name: {"watch": sorted(map(str, rule.channels)), **settings.knobs(name)}
            for name, rule in zip(inputs.names, inputs.armed, strict=True)
        }
        | {name: settings.knobs(name) for name in settings.session_names},
        check=params["check"],
        max_peak=dict(
            _max_peak(item, (*inputs.names, *settings.session_names)) for item in params["max_peak"]
        ),
        baseline=params["baseline"],
        update_baseline=params["update_baseline"],
        junit=params["junit"],
    )


def _max_peak(item: str, names: Sequence[str]) -> tuple[str, int]:
    """Return a rule and its limit; without a name, the limit is for the first rule."""
    rule, equals, text = item.rpartition("=")
    rule = rule if equals else names[0]
    if rule not in names:
        raise ConfigError(f"--max-peak = `{item}`: the rule `{rule}` is not armed")
    limit = number("--max-peak", text)
    assert limit is not None
    return rule, limit


def run(job: ReportRequest) -> int:
    """Replay the corpus, print the report, hold the gates; return the exit status."""
    old = _old_baseline(job)  # an error in it comes before all the work
    console = Console(sys.stderr)
    done = survey(job.inputs, job.inputs.plan, console)
    rows = sorted(done.rows, key=_place)
    held = _hold_gates(job, rows, old, console)
    if job.update_baseline:
        held.troubles.extend(_update_baseline(job, rows, done))
    for message in (*held.troubles, *map(str, held.failures)):
        console.line(message)
    errors = [str(trouble) for trouble in done.troubles if trouble.status is not Status.CLEAN]
    errors += [done.interruption] if done.interrupted else []
    errors += held.troubles
    if job.junit:
        unwritten = _write_junit(job.junit, rows, held.failures, errors)
        for message in unwritten:
            console.line(message)
        errors += unwritten
        held.troubles.extend(unwritten)
    statuses = [Status.TROUBLE] if held.troubles else []
    statuses += [Status.LOOP] if held.failures else []
    report = Report(rows, errors, held.failures, job.printing.limit)
    return end(done, job.printing.format.report(report), statuses)


def _old_baseline(job: ReportRequest) -> baseline.Baseline | None:
    """Return the baseline to compare with. One that is to be written must be writable."""
    if not job.baseline:
        return None
    if job.update_baseline:
        baseline.refuse_other(job.baseline)
        return None
    return baseline.load(job.baseline)


def _place(row: ReplayRow) -> tuple[str, bool, int]:
    """Return what rows are ordered by: their file, replies before sessions, their number."""
    session = row.session is not None
    path, _, number = row.id.rpartition("@" if session else "#")
    return path, session, int(number)


def _hold_gates(
    job: ReportRequest, rows: Sequence[ReplayRow], old: baseline.Baseline | None, console: Console
) -> _Gates:
    held = _Gates([], [])
    if job.check:
        held.failures.extend(gates.labels(rows))
        if all(row.label is None for row in rows):
            held.troubles.append("check: no transcript is labelled, so there is nothing to check")
    held.failures.extend(gates.peaks(rows, job.max_peak))
    held.troubles.extend(
        f"max-peak: {rule} judged no reply that is not labelled loop, so there is nothing to check"
        for rule in gates.unjudged(rows, job.max_peak)
    )
    if old is not None:
        new = baseline.of(rows, job.described)
        held.failures.extend(baseline.failures(old, new))
        if not baseline.in_common(old, new):
            held.troubles.append("baseline: it has no transcript in common with what was read")
        for note in baseline.notes(old, new):
            console.line(f"baseline: {note}")
    return held


def _update_baseline(job: ReportRequest, rows: Sequence[ReplayRow], done: Survey) -> list[str]:
    """Write the baseline, unless a part of the corpus is missing; return why it is not written."""
    if done.interrupted:
        why = "not all has been analysed"
    elif Status.TROUBLE in done.statuses:
        why = "not all could be read"
    elif not rows:
        why = "no transcript was read"
    else:
        new = baseline.of(rows, job.described)
        return _write(job.baseline or "", baseline.dump(new))
    return [f"baseline: {job.baseline} is not written: {why}"]


def _write_junit(
    path: str, rows: Sequence[ReplayRow], failures: Sequence[Failure], errors: Sequence[str]
) -> list[str]:
    from loopcli.output.junit import junit

    return _write(path, junit(rows, failures, errors))


def _write(path: str, data: bytes) -> list[str]:
    """Write a file; return what went wrong, which must not cost the user the report."""
    try:
        writing.write(path, data)
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    return []
