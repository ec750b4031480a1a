"""``analyze --trace ID``: the gauge over the length of one reply."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from loopcli.analyze.trace import trace
from loopcli.commands import options
from loopcli.commands.analyze.inputs import Inputs, inputs_of
from loopcli.commands.printing import printed
from loopcli.output.chart import chart
from loopcli.output.console import Console
from loopcli.recordings import corpus
from loopcli.recordings.corpus import STDIN, STDIN_NAME, File, Transcript, Trouble
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
    inputs = inputs_of(params, settings, options.idle(ctx, settings.names))
    return TraceRequest(inputs, params["trace"])


def run(job: TraceRequest) -> int:
    """Search for the reply, and draw it; return the exit status."""
    console = Console(sys.stderr)
    statuses: list[Status] = []
    for item in _transcripts(job):
        if isinstance(item, Transcript):
            text = _charts(item, job)
            return printed(text.encode("utf-8", "replace"), worst(statuses))
        console.line(str(item))
        statuses.append(item.status)
    console.line(f"--trace: no transcript has the id {job.ident}")
    return worst((*statuses, Status.TROUBLE))


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
        name = STDIN_NAME if item.path == STDIN else item.path
        if _means(job.ident, f"{name}#1") or _means(job.ident.rpartition("#")[0], name):
            yield item


def _charts(transcript: Transcript, job: TraceRequest) -> str:
    name = escaped(transcript.id)
    width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
    traces = trace(transcript.lanes, job.inputs.armed)
    if not traces:
        return f"{name}: nothing in it is watched\n"
    return "\n".join(chart(name, each, width) for each in traces)


def _means(wanted: str, ident: str) -> bool:
    """Return whether ``wanted`` means the id ``ident``; a path alone means its first reply."""
    if ident == wanted:
        return True
    path, _, number = ident.rpartition("#")
    name, mark, of = wanted.rpartition("#")
    if mark and of.isdigit():
        return bool(path) and number == of and os.path.normpath(path) == os.path.normpath(name)
    return bool(path) and number == "1" and os.path.normpath(path) == os.path.normpath(wanted)
