"""What ``analyze`` was asked for, and what all its jobs have in common."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from loopcli.analyze.survey import Survey
from loopcli.analyze.tasks import Plan
from loopcli.commands.printing import printed
from loopcli.output.console import Console
from loopcli.recordings import corpus
from loopcli.recordings.corpus import Trouble
from loopcli.rules.table import Configs
from loopcli.status import Status, worst
from loopcli.system.stdio import SIGINT, die_by

if TYPE_CHECKING:
    from loopcli.output.bar import Bar

# Labels that no reply bears are named up to here; a file of labels may be for far more.
_MOST_UNMATCHED = 5
TABLE_ROWS = 100


class Request(NamedTuple):
    """The command line, understood.

    ``settings`` says the same of rules and channels as JSON. ``swept`` is the rule
    whose knobs a sweep or a suggestion tries.
    """

    paths: Sequence[str]
    files0_from: str | None
    plan: Plan
    names: Sequence[str]
    configs: Configs
    settings: Mapping[str, Any]
    warnings: Sequence[str]
    jobs: int | None
    format: str
    top: int | None
    trace: str | None
    sweep: Sequence[str]
    swept: str
    suggest: bool
    headroom: float
    check: bool
    max_peak: Mapping[str, int]
    baseline: str | None
    update_baseline: bool
    junit: str | None

    @property
    def shown(self) -> int | None:
        """How many records to print; ``None`` for all."""
        if self.top is None:
            return TABLE_ROWS if self.format in ("table", "markdown") else None
        return self.top or None


class Messages:
    """The pass over the corpus, and the end of the command."""

    def __init__(self) -> None:
        self.console = Console(sys.stderr)

    def line(self, message: str) -> None:
        """Write a line."""
        self.console.line(message)

    def trouble(self, trouble: Trouble) -> None:
        """Tell what could not be read."""
        self.line(str(trouble))

    def survey(self, request: Request, plan: Plan) -> Survey:
        """Go over the corpus; what is wrong with it is told on the way."""
        for warning in request.warnings:
            self.console.warning(warning)
        survey = Survey(plan, request.jobs)
        bar: Bar | None = None
        if sys.stderr is not None and sys.stderr.isatty():
            from loopcli.output.bar import Bar

            bar = self.console.bar = Bar(sys.stderr)
        try:
            found = corpus.find(request.paths, files0_from=request.files0_from)
            survey.run(found, self.trouble, bar.tick if bar else _ignore)
        finally:
            if bar is not None:
                bar.close()
                self.console.bar = None
        if survey.interrupted:
            self.line(survey.interruption)
        self._unmatched(survey, request)
        return survey

    def _unmatched(self, survey: Survey, request: Request) -> None:
        labels = request.plan.settings.labels
        if labels is None or survey.interrupted:
            return
        ids = dict.fromkeys([row.id for row in survey.rows] + [seen.id for seen in survey.seen])
        unmatched = labels.unmatched(ids)
        for message in unmatched[:_MOST_UNMATCHED]:
            self.console.warning(message)
        if len(unmatched) > _MOST_UNMATCHED:
            more = len(unmatched) - _MOST_UNMATCHED
            self.console.warning(f"{more} more labels belong to no reply that was read")

    def end(self, survey: Survey, data: bytes, statuses: Sequence[Status] = ()) -> int:
        """Print what was asked for, and return the exit status."""
        status = worst((*survey.statuses, *statuses))
        return self.leave(data, status, interrupted=survey.interrupted)

    def leave(self, data: bytes, status: Status, *, interrupted: bool = False) -> int:
        """Print ``data`` and return the status, unless a signal is to end this process."""
        left = printed(data, status)
        return die_by(SIGINT) if interrupted else left


def _ignore(done: int, total: int) -> None:
    """Nobody looks."""
