"""``loopcheck guard uninstall``: take the hook out of an agent's settings."""

from __future__ import annotations

import sys

import click

from loopcli.commands.guard import options
from loopcli.guard.install import Installation
from loopcli.guard.programs import PROGRAMS
from loopcli.output.console import Console


@click.command("uninstall", context_settings=options.SETTINGS)
@click.argument("program", type=click.Choice([*PROGRAMS]))
def command(program: str) -> int:
    """Take the hook out of the settings of PROGRAM.

    A file that nobody has changed since is restored byte for byte.
    """
    installation = Installation(program, options.state_folder())
    Console(sys.stderr).line(f"{installation.path}: {installation.remove()}")
    return 0
