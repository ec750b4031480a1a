"""``analyze --trace ID``: the gauge over the length of one reply."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from loopcli.analyze.trace import trace
from loopcli.commands.analyze.request import Messages, Request
from loopcli.output.chart import chart
from loopcli.recordings import corpus
from loopcli.recordings.corpus import STDIN, STDIN_NAME, File, Trouble
from loopcli.status import Status, worst
from loopcli.wording import escaped

_WIDEST = 100


def run(request: Request) -> int:
    """Find the transcript, and draw it; return the exit status."""
    teller, wanted = Messages(), request.trace or ""
    statuses = []
    for item in _files(request, wanted):
        settings = request.plan.settings
        for found in [item] if isinstance(item, Trouble) else corpus.read(item, settings):
            if isinstance(found, Trouble):
                teller.trouble(found)
                statuses.append(found.status)
            elif _same(found.id, wanted):
                width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
                traces = trace(found.lanes, request.plan.armed)
                name = escaped(found.id)
                text = "\n".join(chart(name, each, width) for each in traces)
                if not traces:
                    text = f"{name}: nothing in it is watched\n"
                return teller.leave(text.encode("utf-8", "replace"), worst(statuses))
    teller.line(f"--trace: no transcript has the id {wanted}")
    return worst((*statuses, Status.TROUBLE))


def _files(request: Request, wanted: str) -> Iterator[File | Trouble]:
    """Yield the files that may hold the transcript, and what keeps others from being found."""
    for item in corpus.find(request.paths, files0_from=request.files0_from):
        if isinstance(item, Trouble):
            yield item
            continue
        name = STDIN_NAME if item.path == STDIN else item.path
        if _same(f"{name}#1", wanted) or _same(name, wanted.rpartition("#")[0]):
            yield item


def _same(ident: str, wanted: str) -> bool:
    """Tell whether an id is meant; a path alone means the first reply in it."""
    if ident == wanted:
        return True
    path, _, number = ident.rpartition("#")
    name, mark, of = wanted.rpartition("#")
    if mark and of.isdigit():
        return bool(path) and number == of and os.path.normpath(path) == os.path.normpath(name)
    return bool(path) and number == "1" and os.path.normpath(path) == os.path.normpath(wanted)
