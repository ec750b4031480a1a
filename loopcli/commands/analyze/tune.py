"""``analyze --sweep`` and ``--suggest``: a grid of knobs over a corpus."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click

from loopcli.analyze.survey import Survey
from loopcli.analyze.sweep.grid import GRIDS, Grid, RuleGrid, parse_sweep, swept_rule
from loopcli.analyze.sweep.rows import Rows, SweepRow
from loopcli.analyze.sweep.suggest import suggest
from loopcli.analyze.tasks import numpy_works
from loopcli.commands import options
from loopcli.commands.analyze.inputs import Inputs, Printing, end, inputs_of, printing_of, survey
from loopcli.errors import ConfigError
from loopcli.output.console import Console
from loopcli.output.tuning import FrontReport, SweepReport
from loopcli.rules.base import RuleConfig
from loopcli.rules.table import RULES
from loopcli.settings.arming import Settings
from loopcli.status import Status
from loopcli.verdicts import Label


class Trial(NamedTuple):
    """Values to try for knobs of ``rule``: ``items``, written as for ``--sweep``.

    ``now`` are the knobs in use, which the others keep.
    """

    rule: str
    now: RuleConfig
    items: Sequence[str]

    @property
    def tried(self) -> list[str]:
        """The names of the knobs that are swept."""
        return [parse_sweep(item)[0] for item in self.items]

    def grid(self) -> Grid | RuleGrid:
        """Return the grid that the engine for the rule works on. Raises ``ConfigError``."""
        grid = GRIDS[type(RULES[self.rule].sweep.engine)]
        if grid.needs_numpy and not numpy_works():
            raise ConfigError("--sweep and --suggest need numpy: pip install 'loopcheck[sweep]'")
        return grid.from_items(self.rule, self.items, self.now)


class SweepRequest(NamedTuple):
    """Print the figures of every combination of a trial."""

    inputs: Inputs
    printing: Printing
    trial: Trial


class SuggestRequest(NamedTuple):
    """Print the best combinations of a trial.

    ``headroom`` is how many times the highest clean peak a ceiling has to be.
    """

    inputs: Inputs
    printing: Printing
    trial: Trial
    headroom: float


def sweep_request(
    ctx: click.Context, params: Mapping[str, Any], settings: Settings
) -> SweepRequest:
    """Return what a command line with ``--sweep`` asks for. Raises ``ConfigError``."""
    trial = _trial(params["sweep"], settings)
    warnings = options.idle(ctx, [trial.rule], trial.tried)
    return SweepRequest(inputs_of(params, settings, warnings), printing_of(params), trial)


def suggest_request(
    ctx: click.Context, params: Mapping[str, Any], settings: Settings
) -> SuggestRequest:
    """Return what a command line with ``--suggest`` asks for. Raises ``ConfigError``."""
    trial = _trial(params["sweep"], settings)
    # A suggestion is near the knobs in use, so the flag of a swept knob does change something.
    warnings = options.idle(ctx, [trial.rule], ())
    inputs, printing = inputs_of(params, settings, warnings), printing_of(params)
    return SuggestRequest(inputs, printing, trial, _headroom(params["headroom"]))


def _trial(items: Sequence[str], settings: Settings) -> Trial:
    """Return the trial of ``--sweep`` items; without any, of the values that a rule suggests."""
    names = (*settings.names, *settings.session_names)
    rule = swept_rule(items) or names[0]
    if rule not in names:
        raise ConfigError(f"--sweep {items[0]}: the {rule} rule is not armed (--rules)")
    return Trial(rule, settings.configs[rule], items or RULES[rule].sweep.suggested)


def _headroom(text: str | None) -> float:
    try:
        value = 2.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ConfigError(f"--headroom = `{text}`: not a number of 0 or more")
    return value


def run_sweep(job: SweepRequest) -> int:
    """Sweep the corpus and print the grid; return the exit status."""
    done, tally = _sweep(job.inputs, job.trial, Console(sys.stderr))
    rows, limit = list(tally.rows()), job.printing.limit
    cut = limit is not None and len(rows) > limit
    # Their order is that of the grid, unless some are left out or the user asks for the best.
    ranked = _ranked(rows) if cut or job.printing.top else rows
    report = SweepReport(
        rule=job.trial.rule,
        tried=job.trial.tried,
        now=job.trial.now,
        shown=ranked[:limit],
        total=len(rows),
        labelled=_labelled(tally),
    )
    return end(done, job.printing.format.sweep(report))


def run_suggest(job: SuggestRequest) -> int:
    """Sweep the corpus and print the front; return the exit status."""
    console = Console(sys.stderr)
    done, tally = _sweep(job.inputs, job.trial, console)
    if not _labelled(tally):
        console.line("--suggest: no transcript is labelled, so no knobs can be suggested")
        return end(done, b"", [Status.TROUBLE])
    loops = tally.count(Label.LOOP)
    points = suggest(tally.rows(), loops, job.headroom, job.trial.now)
    if not points:
        console.line(f"--suggest: no combination leaves a headroom of {job.headroom:g}")
    report = FrontReport(
        rule=job.trial.rule,
        tried=job.trial.tried,
        now=job.trial.now,
        rules=[*job.inputs.names, *(job.inputs.sessions.names if job.inputs.sessions else ())],
        points=points,
        loops=loops,
        clean=tally.count(Label.CLEAN),
        headroom=job.headroom,
        limit=job.printing.limit,
    )
    return end(done, job.printing.format.front(report), [] if points else [Status.TROUBLE])


def _sweep(inputs: Inputs, trial: Trial, console: Console) -> tuple[Survey, Rows]:
    plan = inputs.plan._replace(grid=trial.grid())
    if trial.rule in inputs.names:
        channels = inputs.armed[inputs.names.index(trial.rule)].channels
        plan = plan._replace(channels=channels, sessions=None)
    done = survey(inputs, plan, console)
    assert done.tally is not None
    return done, done.tally


def _ranked(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """Return combinations by the loops they catch, the clean replies they spare, their delay."""

    def cost(row: SweepRow) -> tuple[float, ...]:
        delay = row.score.delay
        return -row.caught, row.clean_trips, math.inf if delay is None else delay

    return sorted(rows, key=cost)


def _labelled(tally: Rows) -> bool:
    return tally.count(Label.CLEAN) + tally.count(Label.LOOP) > 0
