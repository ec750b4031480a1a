"""``loopcheck guard install``: the settings with which an agent runs the hook."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

import click

from loopcli.commands.guard import options
from loopcli.commands.printing import printed
from loopcli.guard.install import Installation
from loopcli.guard.programs import PROGRAMS, hook_command
from loopcli.output.console import Console
from loopcli.rules.calls.config import CallsConfig


@click.command("install", context_settings=options.SETTINGS)
@click.option(
    "--write",
    is_flag=True,
    allow_from_autoenv=False,
    help="Write the file instead of printing it.",
)
@options.limit_options
@click.argument("program", type=click.Choice([*PROGRAMS]))
def command(program: str, write: bool, threshold: str, window_ms: str) -> int:
    """Print the settings of PROGRAM with the hook, or write them.

    What is in the file stays. `guard uninstall` restores it as it was.
    """
    arguments = [*_ourselves(), "guard", "hook", *_limits(options.limits(threshold, window_ms))]
    installation = Installation(program, options.state_folder())
    text = installation.text(arguments, hook_command(shlex.join(arguments)))
    console = Console(sys.stderr)
    if not write:
        console.line(f"{installation.path} would be as follows; --write writes it")
        return printed(text.encode("utf-8", "surrogatepass"))
    installation.write(text)
    console.line(f"wrote {installation.path}; {program} reads it when it starts")
    if installation.program.note:
        console.line(installation.program.note)
    return 0


def _ourselves() -> list[str]:
    """Return the command line that runs loopcheck from anywhere."""
    program = shutil.which("loopcheck")
    return [os.path.abspath(program)] if program else [sys.executable, "-m", "loopcli"]


def _limits(config: CallsConfig) -> list[str]:
    """Return the options for limits that are not the default."""
    words = []
    if config.threshold != CallsConfig().threshold:
        words += ["--threshold", str(config.threshold)]
    if config.window_ms != CallsConfig().window_ms:
        words += ["--window-ms", str(config.window_ms)]
    return words
