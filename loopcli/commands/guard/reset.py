"""``loopcheck guard reset``: forget calls."""

from __future__ import annotations

import click

from loopcli.commands.guard import options
from loopcli.commands.guard.failing import named_failures
from loopcli.commands.printing import printed_lines
from loopcli.guard.protocols import reference
from loopcli.guard.store import CallStore


@click.command("reset", context_settings=options.SETTINGS)
@click.option("--all", "all_", is_flag=True, allow_from_autoenv=False, help="Forget every session.")
@options.store_option
@click.argument("session", required=False)
@named_failures
def command(session: str | None, all_: bool, store: CallStore) -> int:
    """Forget the calls of SESSION, with its subagents; nothing in it is refused any more."""
    if (session is None) is not all_:
        raise click.UsageError("name a session, or give --all")
    count = store.forget(None if session is None else reference(session))
    return printed_lines([f"forgot {count} agent{'' if count == 1 else 's'}".encode()])
