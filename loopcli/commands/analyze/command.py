"""The options of ``loopcheck analyze``, and which of its jobs they ask for."""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Sequence
from typing import Any

import click

from loopcli.analyze.tasks import Plan
from loopcli.commands import options
from loopcli.commands.analyze.request import Request
from loopcli.errors import ConfigError
from loopcli.recordings import labels
from loopcli.recordings.corpus import CorpusSettings
from loopcli.rules.base import Armed
from loopcli.settings.arming import Settings
from loopcli.wording import kebab

_HELP = {
    "help_option_names": ["-h", "--help"],
    # Not LOOPCHECK_ANALYZE_…: a knob has one name, whoever reads it.
    "auto_envvar_prefix": options.ENVIRONMENT_PREFIX,
}
FORMATS = ("table", "json", "jsonl", "csv", "markdown")
# What each of the four jobs can do nothing with.
_REPORT_ONLY = ("check", "max_peak", "baseline", "update_baseline", "junit")
_EXCLUDED = {
    "trace": (*_REPORT_ONLY, "sweep", "suggest", "headroom", "top", "format_", "jobs"),
    "suggest": _REPORT_ONLY,
    "sweep": (*_REPORT_ONLY, "headroom"),
    "": ("headroom",),
}


@click.command(
    "analyze",
    context_settings=_HELP,
    short_help="Replay recorded replies: how close they come, and what to change.",
)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option(
    "--files0-from",
    metavar="FILE",
    callback=options.given,
    help="Read more paths from FILE, NUL after each.",
)
@click.option(
    "--text-field",
    metavar="NAME",
    callback=options.given,
    help="Where a JSON record holds the reply.",
)
@click.option(
    "--labels",
    "labels_",
    envvar="LOOPCHECK_LABELS",
    metavar="FILE",
    callback=options.given,
    help="CSV or JSON Lines: id, label, onset.",
)
@options.rule_options
@click.option(
    "-f",
    "--format",
    "format_",
    envvar="LOOPCHECK_FORMAT",
    type=click.Choice(FORMATS),
    default="table",
    help="How to print.  [default: table]",
)
@click.option(
    "--top",
    metavar="N",
    help="Only the N highest; 0 is all.  [default: 100 in a table or Markdown, else all]",
)
@click.option(
    "--trace",
    metavar="ID",
    callback=options.given,
    help="Draw the gauge over the length of one transcript.",
)
@click.option(
    "--sweep",
    metavar="KNOB=VALUES",
    multiple=True,
    help="Try values of a knob: 1,2,3 or from:to:step; again for more knobs of the same rule.",
)
@click.option("--suggest", is_flag=True, help="Name the knobs that the labels speak for.")
@click.option(
    "--headroom",
    metavar="X",
    help="Suggest ceilings of at least X times every clean peak.  [default: 2]",
)
@click.option("--check", is_flag=True, help="Fail if a clean reply trips, or a loop does not.")
@click.option(
    "--max-peak",
    metavar="[RULE=]N",
    multiple=True,
    help="Fail if a reply not labelled loop has a peak above N.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    callback=options.writable,
    help="Fail if a peak rose or a verdict changed.",
)
@click.option("--update-baseline", is_flag=True, help="Write the baseline instead.")
@click.option(
    "--junit",
    metavar="FILE",
    callback=options.writable,
    help="Write what the gates found, as JUnit XML.",
)
@click.option("-j", "--jobs", metavar="N", help="How many processes.  [default: one for each core]")
@click.pass_context
def command(ctx: click.Context, /, **params: Any) -> int:
    """Replay recorded replies through the rules.

    PATH is a file, a folder, a pattern, or - for standard input: plain text,
    recorded streams, JSON Lines and more, packed or not. Each reply in them is
    a transcript with an id, FILE#NUMBER.

    \b
    loopcheck analyze runs/                  how close did they come?
    loopcheck analyze --suggest runs/        which knobs would be better?
    loopcheck analyze --check runs/          status 3 if a label is missed
    """
    # numpy's algebra would start a thread for each core, which costs as much as all
    # the rest of its import, in every process; nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Rows pile up and none of them is garbage; to look through all of them again
    # and again takes a twentieth of the time.
    gc.set_threshold(50_000, 20, 50)
    job = next((name for name in ("trace", "suggest", "sweep") if params[name]), "")
    _refuse_contradictions(ctx, params, job)
    request = _request(ctx, params, job)
    if job == "trace":
        from loopcli.commands.analyze.draw import run
    elif job:
        from loopcli.commands.analyze.tune import run
    else:
        from loopcli.commands.analyze.report import run
    return run(request)


def _refuse_contradictions(ctx: click.Context, params: dict[str, Any], job: str) -> None:
    if not params["paths"] and params["files0_from"] is None:
        raise click.UsageError("name the files or folders to analyse, or - for standard input")
    if params["update_baseline"] and not params["baseline"]:
        raise click.UsageError("--update-baseline needs --baseline FILE")
    for name in _EXCLUDED[job]:
        source = ctx.get_parameter_source(name)
        if source is click.core.ParameterSource.COMMANDLINE:
            flag = f"--{kebab(name)}"
            other = f"--{job} and {flag} exclude each other"
            raise click.UsageError(other if job else f"{flag} goes with --suggest")


def _request(ctx: click.Context, params: dict[str, Any], job: str) -> Request:
    arming = options.arming(ctx, params)
    if not arming.names:
        title = arming.profile.title if arming.profile else "nothing"
        raise ConfigError(f"{title}: loop detection is off, so there is nothing to analyse by")
    names, armed = arming.names, arming.rules(past_trip=True)
    swept = _swept(params["sweep"], names) if job in ("sweep", "suggest") else ""
    # A suggestion is near the knobs in use, so their flags say something to it.
    tried = None if not swept else _tried(params["sweep"]) if job == "sweep" else ()
    return Request(
        paths=params["paths"],
        files0_from=params["files0_from"],
        plan=Plan(armed, _settings(params)),
        names=names,
        configs=arming.configs,
        settings=_described(arming, armed),
        warnings=(*arming.warnings, *options.idle(ctx, [swept] if swept else names, tried)),
        jobs=_number("--jobs", params["jobs"], least=1),
        format=params["format_"],
        top=_number("--top", params["top"]),
        trace=params["trace"],
        sweep=params["sweep"],
        swept=swept,
        suggest=params["suggest"],
        headroom=_headroom(params["headroom"]),
        check=params["check"],
        max_peak=dict(_max_peak(item, names) for item in params["max_peak"]),
        baseline=params["baseline"],
        update_baseline=params["update_baseline"],
        junit=params["junit"],
    )


def _swept(items: Sequence[str], names: tuple[str, ...]) -> str:
    """Return the rule that a sweep is of; without items it is the first one armed."""
    from loopcli.analyze.sweep.grid import swept_rule

    rule = swept_rule(items) or names[0]
    if rule not in names:
        raise ConfigError(f"--sweep {items[0]}: the {rule} rule is not armed (--rules)")
    return rule


def _tried(items: Sequence[str]) -> list[str]:
    from loopcli.analyze.sweep.grid import parse_sweep

    return [parse_sweep(item)[0] for item in items]


def _settings(params: dict[str, Any]) -> CorpusSettings:
    given = params["labels_"]
    try:
        return CorpusSettings(params["text_field"], labels.load(given) if given else None)
    except labels.LabelsError as error:
        raise ConfigError(*str(error).splitlines()) from error


def _described(arming: Settings, armed: list[Armed]) -> dict[str, Any]:
    return {
        name: {"watch": sorted(map(str, rule.channels)), **arming.knobs(name)}
        for name, rule in zip(arming.names, armed, strict=True)
    }


def _number(flag: str, text: str | None, least: int = 0) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) >= least):
        raise ConfigError(f"{flag} = `{text}`: not a whole number of {least} or more")
    return int(text)


def _headroom(text: str | None) -> float:
    try:
        value = 2.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ConfigError(f"--headroom = `{text}`: not a number of 0 or more")
    return value


def _max_peak(item: str, names: tuple[str, ...]) -> tuple[str, int]:
    """Return a rule and its limit; what names no rule is for the first one armed."""
    rule, equals, text = item.rpartition("=")
    rule = rule if equals else names[0]
    if rule not in names:
        raise ConfigError(f"--max-peak = `{item}`: the rule `{rule}` is not armed")
    number = _number("--max-peak", text)
    assert number is not None
    return rule, number
