"""The command line: what is written becomes settings, and a command acts on them."""

from __future__ import annotations

import contextlib
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import click

from loopcli import __version__, options
from loopcli.commands.filter import Filter, FilterSettings
from loopcli.detector import Detector
from loopcli.errors import ConfigError
from loopcli.output.base import Renderer
from loopcli.output.text import TextRenderer
from loopcli.readers.detection.auto import reader
from loopcli.rules import table
from loopcli.status import RunStatus, Status
from loopcli.stdio import SIGINT, SIGPIPE, die_by, open_report
from loopcli.watch import Watch
from loopcli.wording import escaped

if TYPE_CHECKING:
    from loopcli.output.jsonl import JsonLinesRenderer

_HELP = {"help_option_names": ["-h", "--help"], "auto_envvar_prefix": options.ENVIRONMENT_PREFIX}
_EXCLUSIVE = (
    ("trip_event", "hold"),
    ("trip_event", "dry_run"),
    ("quiet", "verbose"),
    ("quiet", "json_"),
)
# The filter's start-up must not pay for these.
_LATER = ("analyze", "config", "journal", "rules", "run")
_EPILOG = """\b
Exit status:
  0 clean   1 trouble   2 usage   3 a loop   4 the length backstop
  5 malformed stream   6 upstream error   7 a time limit   128+n signal n
"""


class Commands(click.Group):
    """The commands; one that is a file of ``commands`` is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted([*super().list_commands(ctx), *_LATER])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in _LATER:
            return super().get_command(ctx, cmd_name)
        from importlib import import_module

        found: click.Command = import_module(f"loopcli.commands.{cmd_name}").command
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the filter's options, if no other command is called.

        What the environment sets for the filter, right or wrong, is nothing to a
        command that has no such option.
        """
        first = next((word for word in args if word != "--"), "-")
        lenient = ctx.resilient_parsing
        ctx.resilient_parsing = lenient or not first.startswith("-")
        try:
            return super().parse_args(ctx, args)
        finally:
            ctx.resilient_parsing = lenient

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that ``args`` begins with, or fail with advice.

        A file's name in the place of a command is a likely mistake.
        """
        if self.get_command(ctx, args[0]) is None and os.path.exists(args[0]):
            ctx.fail(f"`{args[0]}` is a file; the filter reads standard input: < {args[0]}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings=_HELP,
    epilog=_EPILOG,
    no_args_is_help=False,
)
@options.input_option("standard input")
@options.rule_options
@click.option("--hold", is_flag=True, help="Print nothing until the reply has ended clean.")
@click.option("--dry-run", is_flag=True, help="Judge and report, but never cut the stream.")
@click.option(
    "--emit",
    type=click.Choice(["raw", "text"]),
    default="raw",
    help="Print the bytes as they came, or the text of the first choice.  [default: raw]",
)
@click.option(
    "--trip-event", is_flag=True, help="After a trip end an SSE stream with an error event."
)
@click.option("--strict", is_flag=True, help="Take a stream without an end mark as malformed.")
@options.seconds_option(
    "--idle-timeout", 0, "Give up when no delta has come for this long; 0 is for ever."
)
@options.seconds_option(
    "--timeout", 0, "Give up when the stream has not ended after this long; 0 is for ever."
)
@click.option(
    "--report",
    metavar="FILE",
    callback=options.writable,
    help="Write what happens to FILE, as JSON Lines.",
)
@click.option(
    "--json",
    "json_",
    envvar="LOOPCHECK_JSON",
    is_flag=True,
    help="Messages as JSON Lines, not for people.",
)
@click.option("--progress", is_flag=True, help="Show the gauge on a terminal while reading.")
@click.option("-q", "--quiet", is_flag=True, help="No messages; the exit status tells.")
@click.option("-v", "--verbose", is_flag=True, help="Name the armed rules and sum up.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour the messages.  [default: auto]",
)
@click.version_option(
    __version__,
    "-V",
    "--version",
    message="loopcheck %(version)s",
    allow_from_autoenv=False,  # LOOPCHECK_VERSION is a likely name in a Dockerfile
)
@click.pass_context
def cli(ctx: click.Context, /, **params: Any) -> int | None:
    """Stop a language model's reply when it has become a repetition.

    \b
    curl -sN https://… | loopcheck            pass a stream through; cut a loop
    loopcheck --dry-run < saved.sse           judge a recording, change nothing

    Standard input is copied to standard output byte for byte while the rules
    watch the model's words in it. When a rule trips, the copying stops at once
    and the exit status is 3.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_flags_before(ctx)
        return None
    if sys.stdin is not None and sys.stdin.isatty():
        click.echo(ctx.get_usage() + "\nTry 'loopcheck --help'.", err=True)
        return Status.USAGE
    return _filter(ctx, params)


def _refuse_flags_before(ctx: click.Context) -> None:
    for name in ctx.params:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            flag = "--" + name.rstrip("_").replace("_", "-")
            raise click.UsageError(
                f"{flag} belongs to the filter; write it after `{ctx.invoked_subcommand}` "
                "if that command has it"
            )


def _filter(ctx: click.Context, params: dict[str, Any]) -> int:
    params = _without_overruled(ctx, params)
    _refuse_contradictions(params)
    arming = options.arming(ctx, params)
    armed = arming.rules(past_trip=params["dry_run"])
    watch = Watch(reader(params["input_"]), Detector(armed))
    settings = FilterSettings(
        hold=params["hold"],
        dry_run=params["dry_run"],
        emit_text=params["emit"] == "text",
        trip_event=params["trip_event"],
        strict=params["strict"],
        progress=params["progress"],
        idle_timeout=params["idle_timeout"],
        timeout=params["timeout"],
    )
    info = {
        "version": __version__,
        "input": params["input_"],
        "watch": sorted({channel for one in armed for channel in one.channels}),
        "rules": {name: arming.knobs(name) for name in table.RULES if name in arming.names},
        "armed": arming.line,
    }
    with contextlib.ExitStack() as stack:
        renderers, report = _renderers(params, stack)
        run = Filter(watch, settings, renderers)
        warnings = (*arming.warnings, *options.idle(ctx, arming.names))
        return run.run(info, warnings, report)


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


def _refuse_contradictions(params: dict[str, Any]) -> None:
    for pair in _EXCLUSIVE:
        if all(params[name] for name in pair):
            one, other = ("--" + name.rstrip("_").replace("_", "-") for name in pair)
            raise click.UsageError(f"{one} and {other} exclude each other")
    if params["trip_event"] and params["emit"] == "text":
        raise click.UsageError("--trip-event and --emit text exclude each other")


def _renderers(
    params: dict[str, Any], stack: contextlib.ExitStack
) -> tuple[list[Renderer], JsonLinesRenderer | None]:
    renderers: list[Renderer] = []
    drawn = params["progress"] and sys.stderr is not None and sys.stderr.isatty()
    # On the terminal that shows the reply the line would run into it.
    if drawn and not (sys.stdout is not None and sys.stdout.isatty()):
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
    elif not params["quiet"] and sys.stderr is not None:
        color = options.use_color(params["color"])
        renderers.append(TextRenderer(sys.stderr, color=color, verbose=params["verbose"]))
    return renderers, report


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status; never raises."""
    if argv is None:
        argv = sys.argv[1:]
    # Under `run` the small numbers are the command's.
    run = argv[:1] == ["run"]
    usage, trouble = (RunStatus.FAILED,) * 2 if run else (Status.USAGE, Status.TROUBLE)
    try:
        result = cli.main(argv, prog_name="loopcheck", standalone_mode=False)
        return result if isinstance(result, int) else Status.CLEAN
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.UsageError as error:
        options.name_variable(error)
        return _fail(usage, error.format_message(), f"try '{_help(error)}'")
    except ConfigError as error:
        return _fail(usage, *error.defects)
    except (click.Abort, KeyboardInterrupt):
        return die_by(SIGINT)
    except SystemExit:  # click's answer to a reader that has gone
        return die_by(SIGPIPE)
    except MemoryError:
        return _fail(trouble, "out of memory")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(trouble, f"{where}{error.strerror or error}")
    except Exception as error:  # a bug: one line, like any other trouble
        return _fail(trouble, f"this is a bug in loopcheck: {error!r}")


def _help(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "loopcheck"
    return f"{path} --help"


def _fail(status: IntEnum, *lines: str) -> int:
    if sys.stderr is not None:  # print() would take standard output instead
        with contextlib.suppress(OSError):
            for line in lines:
                print(f"loopcheck: {escaped(line)}", file=sys.stderr, flush=True)
    return status
