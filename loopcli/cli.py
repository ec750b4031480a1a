"""The command line: what is written becomes settings, and a command acts on them."""

from __future__ import annotations

import contextlib
import os
import sys
from enum import IntEnum
from typing import Any

import click

from loopcli import __version__
from loopcli.commands import options
from loopcli.commands.filter import EPILOG, filter_options, run_filter
from loopcli.errors import ConfigError
from loopcli.status import RunStatus, Status
from loopcli.system.stdio import SIGINT, SIGPIPE, die_by
from loopcli.wording import escaped

_HELP = {"help_option_names": ["-h", "--help"], "auto_envvar_prefix": options.ENVIRONMENT_PREFIX}
# The filter's start-up must not pay for these.
_LATER = ("analyze", "config", "journal", "rules", "run")


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
    epilog=EPILOG,
    no_args_is_help=False,
)
@filter_options
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
    return run_filter(ctx, params)


def _refuse_flags_before(ctx: click.Context) -> None:
    for name in ctx.params:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            flag = "--" + name.rstrip("_").replace("_", "-")
            raise click.UsageError(
                f"{flag} belongs to the filter; write it after `{ctx.invoked_subcommand}` "
                "if that command has it"
            )


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
