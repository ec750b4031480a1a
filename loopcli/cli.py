"""The command line: the group of commands, and how a failure becomes one line and a status."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import click

from loopcli import __version__
from loopcli.commands.completing import file_names
from loopcli.commands.environment import PREFIX, name_variable
from loopcli.commands.filter import EPILOG, filter_options, run_filter
from loopcli.commands.grouping import GroupedCommand
from loopcli.errors import ConfigError
from loopcli.output.console import Console
from loopcli.status import RunStatus, Status
from loopcli.system.stdio import SIGINT, SIGPIPE, die_by
from loopcli.wording import kebab, near

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_HELP = {"help_option_names": ["-h", "--help"], "auto_envvar_prefix": PREFIX}
# Imported only when called: the filter's start-up must not pay for these.
_LAZY = ("analyze", "completion", "config", "guard", "help", "journal", "rules", "run")
# The files that the filter is to read, in the context of the group.
_FILES = "loopcheck.files"


class Commands(GroupedCommand, click.Group):
    """The filter and the other commands.

    Each of those is a module of ``commands`` and is imported when it is called.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted([*super().list_commands(ctx), *_LAZY])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in _LAZY:
            return super().get_command(ctx, cmd_name)
        from importlib import import_module

        command: click.Command = import_module(f"loopcli.commands.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the filter's options and files, unless another command is called.

        The filter's environment variables, valid or not, must not stop a command
        that has no such option.
        """
        word = self._first_word(ctx, args)
        if word is not None and word not in _LAZY:
            if not ctx.resilient_parsing:
                self._refuse_mistyped(ctx, word)
            ctx.allow_interspersed_args = True  # options may stand behind a file
            ctx.meta[_FILES] = click.Command.parse_args(self, ctx, args)
            ctx.args = []
            return []
        lenient = ctx.resilient_parsing
        begins = next((each for each in args if each != "--"), "") == word
        ctx.resilient_parsing = lenient or begins
        try:
            return super().parse_args(ctx, args)
        finally:
            ctx.resilient_parsing = lenient

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what a newcomer needs on one screen, and then the options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)
        self.format_epilog(ctx, formatter)
        self.format_options(ctx, formatter)

    def _first_word(self, ctx: click.Context, args: list[str]) -> str | None:
        """Return the first word that is neither an option nor the value of one."""
        if all(word.startswith("-") and word != "-" for word in args):
            return None  # most runs: an option and its value need no second parser
        _, words, _ = self.make_parser(ctx).parse_args(list(args))
        return words[0] if words else None

    def _refuse_mistyped(self, ctx: click.Context, word: str) -> None:
        """Fail if a word is no file and looks like a mistyped command rather than like one."""
        if word == "-" or os.sep in word or "." in word or os.path.lexists(word):
            return
        hint = near(word, self.list_commands(ctx))
        ctx.fail(f"no such command `{word}`{hint}" if hint else f"no such command or file `{word}`")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands or options, and files for the filter."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        commands = [] if _FILES in ctx.meta else super().shell_complete(ctx, incomplete)
        return [*commands, *file_names(incomplete)]


@click.group(
    cls=Commands,
    subcommand_metavar="[FILE...]",
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
    curl -sSN https://… | loopcheck           copy a stream, and cut a loop
    loopcheck --dry-run saved.sse             judge a recording, cut nothing
    loopcheck run -- curl -sSiN https://…     ask again when the reply loops

    Standard input, or each FILE in turn, is copied to standard output, byte
    for byte, while the rules watch what the model writes. When a rule fires, the
    copy stops at once, and the exit status is 3.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_flags_before(ctx)
        return None
    files = ctx.meta.get(_FILES, ())
    if not files and sys.stdin is not None and sys.stdin.isatty():
        click.echo(ctx.get_usage() + "\nTry 'loopcheck --help'.", err=True)
        return Status.USAGE
    return run_filter(ctx, params, files)


def _refuse_flags_before(ctx: click.Context) -> None:
    for name in ctx.params:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{kebab(name)} belongs to the filter; write it after "
                f"`{ctx.invoked_subcommand}` if that command has it"
            )


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status; never raises."""
    if "_LOOPCHECK_COMPLETE" in os.environ:
        from loopcli.commands import completion

        completion.register()
    if argv is None:
        argv = sys.argv[1:]
    # Under `run` the small numbers belong to the command that it runs.
    run = argv[:1] == ["run"]
    usage, trouble = (RunStatus.FAILED,) * 2 if run else (Status.USAGE, Status.TROUBLE)
    if argv[:2] == ["guard", "hook"]:
        # To an agent status 2 means that the call is refused: a wrong option would refuse all.
        usage = trouble = Status.CLEAN
    try:
        result = cli.main(argv, prog_name="loopcheck", standalone_mode=False)
        return result if isinstance(result, int) else Status.CLEAN
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.UsageError as error:
        name_variable(error)
        return _fail(usage, error.format_message(), f"try '{_help(error)}'")
    except ConfigError as error:
        return _fail(usage, *error.defects)
    except (click.Abort, KeyboardInterrupt):
        return die_by(SIGINT)
    except SystemExit as leave:  # click: completion is done, or nobody reads the output
        return die_by(SIGPIPE) if leave.code else Status.CLEAN
    except MemoryError:
        return _fail(trouble, "out of memory")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(trouble, f"{where}{error.strerror or error}")
    except Exception as error:  # a bug: one line, like any other failure
        return _fail(trouble, f"this is a bug in loopcheck: {error!r}")


def _help(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "loopcheck"
    return f"{path} --help"


def _fail(status: IntEnum, *lines: str) -> int:
    console = Console(sys.stderr)
    for line in lines:
        console.line(line)
    return status
