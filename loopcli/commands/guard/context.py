"""``loopcheck guard context``: a text for the agent's instructions."""

from __future__ import annotations

import click

from loopcli.commands.guard import options
from loopcli.commands.printing import printed
from loopcli.guard.programs import CONTEXT


@click.command("context", context_settings=options.SETTINGS)
def command() -> int:
    """Print a text for the file of instructions that an agent reads (CLAUDE.md, AGENTS.md)."""
    return printed(CONTEXT.encode())
