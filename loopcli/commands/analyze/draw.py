"""``analyze --trace ID``: the gauge over the length of one reply, or the rounds of a session."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from loopcli.analyze.session_trace import SessionTracer
from loopcli.analyze.tasks import SessionPlan
from loopcli.analyze.trace import trace
from loopcli.commands import options
from loopcli.commands.analyze.inputs import Inputs, inputs_of
from loopcli.commands.printing import printed
from loopcli.output.chart import chart
from loopcli.output.console import Console
from loopcli.output.strip import strip
from loopcli.recordings import corpus, session_files
from loopcli.recordings.corpus import File, Transcript, Trouble
from loopcli.recordings.opening import name_of
from loopcli.settings.arming import Settings
from loopcli.status import Status, worst
from loopcli.wording import escaped

_WIDEST = 100


class TraceRequest(NamedTuple):
    """What to draw: the reply with the id ``ident``."""

    inputs: Inputs
    ident: str


def request(ctx: click.Context, params: Mapping[str, Any], settings: Settings) -> TraceRequest:
    """Return what a command line asks for. Raises ``ConfigError``."""
    inputs = inputs_of(params, settings, options.idle(ctx, settings.judging))
    return TraceRequest(inputs, params["trace"])


def run(job: TraceRequest) -> int:
    """Search for the reply, and draw it; return the exit status."""
    console = Console(sys.stderr)
    statuses: list[Status] = []
    wanted = job.ident.rpartition("@")[2]
    if job.inputs.sessions is not None and wanted.isdecimal():
        return _run_session(job, job.inputs.sessions, int(wanted), console)
    for item in _transcripts(job):
        if isinstance(item, Transcript):
            text = _charts(item, job)
            return printed(text.encode("utf-8", "replace"), worst(statuses))
        console.line(str(item))
        statuses.append(item.status)
    console.line(f"--trace: no transcript has the id {job.ident}")
    return worst((*statuses, Status.TROUBLE))


def _run_session(job: TraceRequest, plan: SessionPlan, number: int, console: Console) -> int:
    """Draw the session of a number of a file, whose id is ``FILE@NUMBER``."""
    statuses: list[Status] = []
    path = job.ident.rpartition("@")[0]
    for file in job.inputs.files():
        name = file.path if isinstance(file, Trouble) else name_of(file.path)
        if isinstance(file, Trouble) or os.path.normpath(path) != os.path.normpath(name):
            continue
        tracer = SessionTracer(plan.judge(), number)
        for event in session_files.events(file, lists=plan.lists):
            if isinstance(event, Trouble):
                console.line(str(event))
                statuses.append(event.status)
            else:
                tracer.update(event)
        if tracer.entries:
            text = strip(job.ident, tracer, _width())
            return printed(text.encode("utf-8", "replace"), worst(statuses))
    console.line(f"--trace: no session has the id {job.ident}")
    return worst((*statuses, Status.TROUBLE))


def _width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)


def _transcripts(job: TraceRequest) -> Iterator[Transcript | Trouble]:
    """Yield the replies with the id, and what could not be read on the way."""
    for file in _files(job):
        if isinstance(file, Trouble):
            yield file
            continue
        for item in corpus.read(file, job.inputs.corpus):
            if isinstance(item, Trouble) or _means(job.ident, item.id):
                yield item


def _files(job: TraceRequest) -> Iterator[File | Trouble]:
    """Yield the files that may hold the reply, and what could not be searched."""
    for item in job.inputs.files():
        if isinstance(item, Trouble):
            yield item
            continue
        name = name_of(item.path)
        if _means(job.ident, f"{name}#1") or _means(job.ident.rpartition("#")[0], name):
            yield item


def _charts(transcript: Transcript, job: TraceRequest) -> str:
    name = escaped(transcript.id)
    traces = trace(transcript.lanes, job.inputs.armed)
    if not traces:
        return f"{name}: nothing in it is watched\n"
    return "\n".join(chart(name, each, _width()) for each in traces)


def _means(wanted: str, ident: str) -> bool:
    """Return whether ``wanted`` means the id ``ident``; a path alone means its first reply."""
    if ident == wanted:
        return True
    path, _, number = ident.rpartition("#")
    name, mark, of = wanted.rpartition("#")
    if mark and of.isdigit():
        return bool(path) and number == of and os.path.normpath(path) == os.path.normpath(name)
    return bool(path) and number == "1" and os.path.normpath(path) == os.path.normpath(wanted)
