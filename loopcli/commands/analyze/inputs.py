"""What the jobs of ``analyze`` have in common: their inputs, the pass over the corpus, the end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from loopcli.analyze.survey import Survey
from loopcli.analyze.tasks import Plan, SessionPlan
from loopcli.commands.printing import printed
from loopcli.errors import ConfigError
from loopcli.output.console import Console
from loopcli.output.formats import table
from loopcli.output.formats.base import OutputFormat
from loopcli.recordings import corpus, labels
from loopcli.recordings.corpus import CorpusSettings, File, Trouble
from loopcli.rules.base import Armed
from loopcli.settings.arming import DEFAULT_RULES, DEFAULT_SESSION_RULES, Settings
from loopcli.status import Status, worst
from loopcli.system.stdio import SIGINT, die_by

if TYPE_CHECKING:
    from loopcli.output.bar import Bar

# A file of labels may be for a far larger corpus, so only the first labels that
# belong to no reply are named.
_UNMATCHED_SHOWN = 5


class Inputs(NamedTuple):
    """The corpus that a job reads, and the rules that judge it.

    paths, files0_from: where the files are.  corpus: how they are read.  names, armed: the rules.
    warnings: what is to be printed first.  jobs: how many processes; None decides by the size.
    sessions: how sessions are judged, if they are.
    """

    paths: Sequence[str]
    files0_from: str | None
    corpus: CorpusSettings
    names: Sequence[str]
    armed: Sequence[Armed]
    warnings: Sequence[str]
    jobs: int | None
    sessions: SessionPlan | None

    @property
    def plan(self) -> Plan:
        """The plan that replays every reply, and every session."""
        return Plan(self.armed, self.corpus, sessions=self.sessions)

    def files(self) -> Iterator[File | Trouble]:
        """Yield the files of the corpus, and what cannot be one."""
        return corpus.find(self.paths, files0_from=self.files0_from)


class Printing(NamedTuple):
    """The format of a result, and how many of its rows ``--top`` asks for; 0 is all of them."""

    format: OutputFormat
    top: int | None

    @property
    def limit(self) -> int | None:
        """How many rows to print; ``None`` for all of them."""
        return self.format.limit if self.top is None else self.top or None


def inputs_of(params: Mapping[str, Any], settings: Settings, warnings: Iterable[str]) -> Inputs:
    """Return the inputs that a command line asks for. Raises ``ConfigError``."""
    sessions = _sessions(settings)
    return Inputs(
        paths=params["paths"],
        files0_from=params["files0_from"],
        corpus=CorpusSettings(
            params["text_field"], _labels(params["labels_"]), sessions=sessions is not None
        ),
        names=[name for name in settings.names if name not in settings.session_names],
        armed=settings.rules(past_trip=True),
        warnings=(*settings.warnings, *warnings),
        jobs=number("--jobs", params["jobs"], least=1),
        sessions=sessions,
    )


def _sessions(settings: Settings) -> SessionPlan | None:
    """Return how sessions are judged. By default lists of messages are none: see ``sniff``."""
    if not settings.session_names:
        return None
    setup = settings.setup._replace(
        # What a process is sent has to be a plain dictionary.
        loop_keys=dict(settings.setup.loop_keys),
        actions=dict(settings.setup.actions),
    )
    chosen = (settings.names, settings.session_names) != (DEFAULT_RULES, DEFAULT_SESSION_RULES)
    return SessionPlan(settings.session_names, settings.configs, setup, lists=chosen)


def printing_of(params: Mapping[str, Any]) -> Printing:
    """Return how a command line wants its result printed. Raises ``ConfigError``."""
    return Printing(table.load(params["format_"]), number("--top", params["top"]))


def number(flag: str, text: str | None, least: int = 0) -> int | None:
    """Return a whole number that was written as text. Raises ``ConfigError``."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) >= least):
        raise ConfigError(f"{flag} = `{text}`: not a whole number of {least} or more")
    return int(text)


def _labels(path: str | None) -> labels.Labels | None:
    try:
        return labels.load(path) if path else None
    except labels.LabelsError as error:
        raise ConfigError(*str(error).splitlines()) from error


def survey(inputs: Inputs, plan: Plan, console: Console) -> Survey:
    """Return the pass over the corpus, done. Problems are printed as they are met."""
    for warning in inputs.warnings:
        console.warning(warning)
    done = Survey(plan, inputs.jobs)
    with _bar(console) as bar:
        done.run(
            inputs.files(),
            lambda trouble: console.line(str(trouble)),
            bar.tick if bar else lambda files, total: None,
        )
    if done.interrupted:
        console.line(done.interruption)
    else:
        _warn_unmatched(done, inputs.corpus.labels, console)
    return done


@contextmanager
def _bar(console: Console) -> Iterator[Bar | None]:
    """Draw a bar if standard error is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from loopcli.output.bar import Bar

    console.bar = Bar(sys.stderr)
    try:
        yield console.bar
    finally:
        console.bar.close()
        console.bar = None


def _warn_unmatched(done: Survey, given: labels.Labels | None, console: Console) -> None:
    if given is None:
        return
    ids = dict.fromkeys([row.id for row in done.rows] + [seen.id for seen in done.seen])
    unmatched = given.unmatched(ids)
    for message in unmatched[:_UNMATCHED_SHOWN]:
        console.warning(message)
    if len(unmatched) > _UNMATCHED_SHOWN:
        more = len(unmatched) - _UNMATCHED_SHOWN
        console.warning(f"{more} more labels belong to no reply that was read")


def end(done: Survey, data: bytes, statuses: Sequence[Status] = ()) -> int:
    """Print the result, and return the exit status; a pass that was interrupted ends by SIGINT."""
    status = printed(data, worst((*done.statuses, *statuses)))
    return die_by(SIGINT) if done.interrupted else status
