"""``loopcheck guard log``: what was refused and decided."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from loopcli.commands.guard import options
from loopcli.commands.guard.failing import named_failures
from loopcli.commands.printing import printed_lines
from loopcli.guard.store import CallStore, LogLine
from loopcli.lenient_json import dump_line
from loopcli.wording import escaped


@click.command("log", context_settings=options.SETTINGS)
@click.option("--json", "json_", is_flag=True, help="Print JSON Lines.")
@options.store_option
@named_failures
def command(json_: bool, store: CallStore) -> int:
    """Print what was refused and decided, oldest first: tools, never their arguments."""
    lines = store.log_lines()
    if json_:
        return printed_lines(dump_line({"type": "guard"} | line._asdict()) for line in lines)
    return printed_lines(_shown(line).encode() for line in lines)


def _shown(line: LogLine) -> str:
    at = datetime.fromtimestamp(line.at, UTC).isoformat(" ", "seconds").removesuffix("+00:00")
    agent = f"/{line.agent}" if line.agent else ""
    return escaped(f"{at}Z {line.session}{agent} {line.event} {line.tool}")
