"""The options of the filter, bare ``loopcheck``, and the settings that they make."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

from loopcli import __version__
from loopcli.commands import options
from loopcli.commands.completing import FILE
from loopcli.detector import Detector
from loopcli.filter import driver
from loopcli.filter.settings import FilterSettings
from loopcli.output.base import Renderer
from loopcli.output.console import Console
from loopcli.output.text import TextRenderer
from loopcli.rules import table
from loopcli.sessions.live import reader
from loopcli.status import Status, worst
from loopcli.system.output import Output
from loopcli.system.stdio import open_report
from loopcli.watch import Watch
from loopcli.wording import kebab, spelled

if TYPE_CHECKING:
    from loopcli.output.jsonl import JsonLinesRenderer
    from loopcli.session_judge import SessionJudge
    from loopcli.settings.arming import Settings

F = TypeVar("F", bound=Callable[..., Any])

_EXCLUSIVE = (
    ("trip_event", "hold"),
    ("trip_event", "dry_run"),
    ("trim", "dry_run"),
    ("quiet", "verbose"),
    ("quiet", "json_"),
)


EPILOG = """\b
Exit status:
  0 clean   1 trouble   2 usage   3 a loop   4 the length backstop
  5 malformed stream   6 upstream error   7 a time limit   128+n signal n
"""


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    options.input_option("standard input"),
    options.session_options,
    click.option("--hold", is_flag=True, help="Print nothing until the reply has ended clean."),
    click.option("--dry-run", is_flag=True, help="Judge and report, but do not cut the stream."),
    options.emit_option,
    click.option(
        "--trim",
        is_flag=True,
        help="When a rule fires, print up to where the loop began; "
        "with --hold or --emit text, whose text is then held.",
    ),
    click.option(
        "--trip-event",
        is_flag=True,
        help="When a rule fires, end the stream with an error in the form of its API.",
    ),
    click.option("--strict", is_flag=True, help="Treat a stream without an end mark as malformed."),
    options.seconds_option(
        "--idle-timeout", 0, "Stop when no delta has come for this long; 0 means no limit."
    ),
    options.seconds_option(
        "--timeout", 0, "Stop when the stream has not ended after this long; 0 means no limit."
    ),
    options.report_option,
    click.option(
        "--state",
        metavar="FILE",
        type=FILE,
        callback=options.writable,
        help="Go on with the session that is remembered in FILE, and remember it there.",
    ),
    click.option(
        "--json",
        "json_",
        envvar="LOOPCHECK_JSON",
        is_flag=True,
        help="Write the report to standard error instead of the messages.",
    ),
    options.progress_option,
    click.option("-q", "--quiet", is_flag=True, help="Print no messages; rely on the exit status."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Name the armed rules, and print a summary."
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Colour the messages.  [default: auto]",
    ),
)


def filter_options(function: F) -> F:
    """Add every option of the filter."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), function)


def run_filter(ctx: click.Context, params: dict[str, Any], paths: Sequence[str] = ()) -> int:
    """Copy the files, or standard input, to standard output, judged; return the exit status."""
    params = _without_overruled(ctx, params)
    _refuse_contradictions(params, paths)
    arming = options.arming(ctx, params)
    armed = arming.rules(past_trip=params["dry_run"])
    info = {
        "version": __version__,
        "input": params["input_"],
        "watch": sorted({channel for one in armed for channel in one.channels}),
        "rules": {name: arming.knobs(name) for name in table.RULES if name in arming.names},
        "armed": arming.line,
    }
    warnings = (*arming.warnings, *options.idle(ctx, arming.judging))
    output, statuses = Output(driver.STDOUT), []
    with contextlib.ExitStack() as stack:
        console = Console(sys.stderr, color=options.use_color(params["color"]))
        if options.is_terminal(sys.stdout) and options.is_terminal(sys.stderr):
            console.ends_line = output.ends_line
        renderers, report = _renderers(params, console, stack)
        inputs = paths or ("-",)
        for number, path in enumerate(inputs, start=1):
            judge, refused = _resumed(arming, params["state"])
            run = driver.Filter(
                Watch(reader(params["input_"]), Detector(armed), _maker(arming, judge)),
                _settings(params, several=len(inputs) > 1),
                renderers,
                output,
                path="" if path == "-" else path,
                last=number == len(inputs),
            )
            name = {"file": spelled(path)} if paths else {}
            statuses.append(run.run({**info, **name}, (*warnings, *refused), report))
            warnings = ()
            if run.output_failed:
                break
    # A signal ends the process before its number could be a status here.
    return worst(map(Status, statuses))


def _settings(params: dict[str, Any], *, several: bool) -> FilterSettings:
    return FilterSettings(
        hold=params["hold"],
        dry_run=params["dry_run"],
        emit_text=params["emit"] == "text",
        end_line=several or options.is_terminal(sys.stdout),
        trim=params["trim"],
        trip_event=params["trip_event"],
        strict=params["strict"],
        progress=params["progress"],
        idle_timeout=params["idle_timeout"],
        timeout=params["timeout"],
        state_file=params["state"] or "",
    )


def _maker(arming: Settings, judge: SessionJudge | None) -> Callable[[], SessionJudge | None]:
    """Return what makes the judge of a session, which may have been resumed already."""
    return (lambda: _judge(arming)) if judge is None else (lambda: judge)


def _judge(arming: Settings) -> SessionJudge | None:
    """Return what judges a session, if anything does."""
    from loopcli.session_judge import armed_judge  # only a session pays for the import

    return armed_judge(arming.session_names, arming.configs, arming.setup)


def _resumed(arming: Settings, path: str | None) -> tuple[SessionJudge | None, list[str]]:
    """Return a judge that goes on with the saved session of ``path``, and why it does not."""
    if path is None:
        return None, []
    from loopcli.system import state_file

    try:
        state = state_file.load(path)
        judge = _judge(arming)
        if judge is not None and state is not None:
            judge.resume(state)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{path}: not a saved session ({error}); starting from nothing"
        return _judge(arming), [why]
    return judge, []


def _without_overruled(ctx: click.Context, params: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without those of the environment that a flag contradicts."""
    flags = {
        name
        for name, value in params.items()
        if value and ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    overruled = {other for a, b in _EXCLUSIVE for one, other in ((a, b), (b, a)) if one in flags}
    return {
        name: False if name in overruled - flags and value is True else value
        for name, value in params.items()
    }


def _refuse_contradictions(params: dict[str, Any], paths: Sequence[str]) -> None:
    for pair in _EXCLUSIVE:
        if all(params[name] for name in pair):
            one, other = (f"--{kebab(name)}" for name in pair)
            raise click.UsageError(f"{one} and {other} exclude each other")
    if params["trip_event"] and params["emit"] == "text":
        raise click.UsageError("--trip-event and --emit text exclude each other")
    if params["trim"] and not params["hold"] and params["emit"] != "text":
        raise click.UsageError("--trim needs --hold or --emit text: what is printed stays printed")
    for name in ("report", "state"):
        if any(_same_file(path, params[name]) for path in paths if params[name]):
            raise click.UsageError(
                f"--{name} would overwrite `{params[name]}`, which is to be read"
            )


def _same_file(path: str, other: str) -> bool:
    """Return whether both name one regular file."""
    return os.path.isfile(path) and os.path.exists(other) and os.path.samefile(path, other)


def _renderers(
    params: dict[str, Any], console: Console, stack: contextlib.ExitStack
) -> tuple[list[Renderer], JsonLinesRenderer | None]:
    renderers: list[Renderer] = []
    # On the terminal that shows the reply the line would run into it.
    if (
        params["progress"]
        and options.is_terminal(sys.stderr)
        and not options.is_terminal(sys.stdout)
    ):
        from loopcli.output.progress import ProgressRenderer

        renderers.append(ProgressRenderer(sys.stderr))
    report = None
    if params["report"] or params["json_"]:
        from loopcli.output.jsonl import JsonLinesRenderer
    if params["report"]:
        report = JsonLinesRenderer(stack.enter_context(open_report(params["report"])))
        renderers.append(report)
    if params["json_"]:
        renderers.append(JsonLinesRenderer(os.fdopen(os.dup(2), "wb", buffering=0)))
    elif not params["quiet"]:
        text = TextRenderer(
            console,
            verbose=params["verbose"],
            dry_run=params["dry_run"],
            advice=options.is_terminal(sys.stderr),
        )
        renderers.append(text)
    return renderers, report
