"""``loopcheck rules``: what there is to arm."""

from __future__ import annotations

from collections.abc import Iterator

import click

from loopcli.commands.printing import printed_lines
from loopcli.rules import table
from loopcli.rules.registration import Judged


@click.command("rules")
def command() -> int:
    """Show every rule, its knobs, and what it cannot see."""
    return printed_lines(line.encode() for line in _lines())


def _lines() -> Iterator[str]:
    for entry in table.RULES.values():
        yield f"{entry.name}: {entry.title}"
        yield f"  source: {entry.source}"
        if entry.judges is Judged.SESSION:
            yield "  judges: the rounds of an agent's session"
        else:
            yield f"  watches: {', '.join(entry.watches)}"
            yield f"  can watch: {', '.join(entry.channels)}"
        for knob in entry.knobs:
            yield f"  {knob.flag} (default {knob.default})\n      {knob.help}"
        yield "  cannot see:"
        for spot in entry.blind_spots:
            yield f"    - {spot}"
