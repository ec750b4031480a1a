"""The options of ``loopcheck analyze``, and which of its jobs they ask for."""

from __future__ import annotations

import gc
import os
from typing import Any

import click

from loopcli.commands import options
from loopcli.commands.completing import FILE, assigned
from loopcli.commands.grouping import GroupedCommand
from loopcli.errors import ConfigError
from loopcli.output.formats import table as formats
from loopcli.rules import table
from loopcli.settings.arming import Settings
from loopcli.wording import kebab

_HELP = {
    "help_option_names": ["-h", "--help"],
    # Not LOOPCHECK_ANALYZE_…: a knob has one name for all commands.
    "auto_envvar_prefix": options.ENVIRONMENT_PREFIX,
}
# The options that have no effect on each of the four jobs; the report is "".
_REPORT_ONLY = ("check", "max_peak", "baseline", "update_baseline", "junit")
_EXCLUDED = {
    "trace": (*_REPORT_ONLY, "sweep", "suggest", "headroom", "top", "format_", "jobs"),
    "suggest": _REPORT_ONLY,
    "sweep": (*_REPORT_ONLY, "headroom"),
    "": ("headroom",),
}


@click.command(
    "analyze",
    cls=GroupedCommand,
    context_settings=_HELP,
    short_help="Replay recorded replies, and try other knobs.",
)
@click.argument("paths", metavar="PATH...", nargs=-1, type=FILE)
@click.option(
    "--files0-from",
    metavar="FILE",
    type=FILE,
    callback=options.given,
    help="Read more paths from FILE, each ended by a NUL.",
)
@click.option(
    "--text-field",
    metavar="NAME",
    callback=options.given,
    help="The member of a JSON record that holds the reply.",
)
@click.option(
    "--labels",
    "labels_",
    envvar="LOOPCHECK_LABELS",
    metavar="FILE",
    type=FILE,
    callback=options.given,
    help="Read labels from FILE: CSV or JSON Lines with id, label, onset.",
)
@options.session_options
@click.option(
    "-f",
    "--format",
    "format_",
    envvar="LOOPCHECK_FORMAT",
    type=click.Choice(formats.NAMES),
    default="table",
    help="How to print the result.  [default: table]",
)
@click.option(
    "--top",
    metavar="N",
    help="Print only the N highest rows; 0: all.  [default: 100 in a table or Markdown, else all]",
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
    shell_complete=assigned(kebab(knob.name) for _, knob in table.knobs()),
    help="Try values of a knob: 1,2,3 or from:to:step. Repeat for more knobs of the same rule.",
)
@click.option("--suggest", is_flag=True, help="Suggest knobs, from the labels.")
@click.option(
    "--headroom",
    metavar="X",
    help="Suggest ceilings of at least X times every clean peak.  [default: 2]",
)
@click.option(
    "--check", is_flag=True, help="Fail if a rule fires on a clean reply, or none on a loop."
)
@click.option(
    "--max-peak",
    metavar="[RULE=]N",
    multiple=True,
    help="Fail if a reply that is not labelled loop has a peak above N.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=FILE,
    callback=options.writable,
    help="Fail if a peak is higher than in FILE, or a verdict differs.",
)
@click.option("--update-baseline", is_flag=True, help="Write the baseline instead of comparing.")
@click.option(
    "--junit",
    metavar="FILE",
    type=FILE,
    callback=options.writable,
    help="Write the results of the gates as JUnit XML.",
)
@click.option(
    "-j", "--jobs", metavar="N", help="How many processes to use.  [default: one for each core]"
)
@click.pass_context
def command(ctx: click.Context, /, **params: Any) -> int:
    """Replay recorded replies, and report how close each came to a loop.

    PATH is a file, a folder, a pattern, or - for standard input. Files hold
    plain text, recorded streams, JSON Lines and more; gzip and zstd are read,
    too. Each reply in them is a transcript with the id FILE#NUMBER.

    \b
    loopcheck analyze runs/                  how close did they come?
    loopcheck analyze --suggest runs/        which knobs would be better?
    loopcheck analyze --check runs/          status 3 if a verdict is wrong
    """
    # numpy's linear algebra would start a thread for each core in every process, which
    # doubles the cost of its import. Nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Rows accumulate and none of them is garbage. Searching all of them again and again
    # would take a twentieth of the time.
    gc.set_threshold(50_000, 20, 50)
    job = next((name for name in ("trace", "suggest", "sweep") if params[name]), "")
    _refuse_contradictions(ctx, params, job)
    settings = options.arming(ctx, params)
    if not settings.names and not settings.session_names:
        title = settings.profile.title if settings.profile else "nothing"
        raise ConfigError(f"{title}: loop detection is off, so there is no rule to analyse with")
    return _run(ctx, params, job, settings)


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


def _run(ctx: click.Context, params: dict[str, Any], job: str, settings: Settings) -> int:
    """Run a job. The others are not imported."""
    if job == "trace":
        from loopcli.commands.analyze import draw

        return draw.run(draw.request(ctx, params, settings))
    if job == "":
        from loopcli.commands.analyze import report

        return report.run(report.request(ctx, params, settings))
    from loopcli.commands.analyze import tune

    if job == "sweep":
        return tune.run_sweep(tune.sweep_request(ctx, params, settings))
    return tune.run_suggest(tune.suggest_request(ctx, params, settings))
