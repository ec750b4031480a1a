"""``loopcheck guard status``: what the guard remembers."""

from __future__ import annotations

import click

from loopcli.commands.guard import options
from loopcli.commands.guard.failing import named_failures
from loopcli.commands.printing import printed_lines
from loopcli.guard.store import CallStore, RememberedAgent
from loopcli.lenient_json import dump_line
from loopcli.wording import escaped


@click.command("status", context_settings=options.SETTINGS)
@click.option("--json", "json_", is_flag=True, help="Print JSON Lines.")
@options.store_option
@named_failures
def command(json_: bool, store: CallStore) -> int:
    """Print the sessions that the guard remembers, the one used last first."""
    sessions = store.sessions()
    if json_:
        return printed_lines(dump_line({"type": "session"} | one._asdict()) for one in sessions)
    return printed_lines(_shown(one).encode() for one in sessions)


def _shown(one: RememberedAgent) -> str:
    agent = f", agent {one.agent}" if one.agent else ""
    return escaped(f"session {one.session}{agent}: {one.calls} calls, {one.refused} refused")
