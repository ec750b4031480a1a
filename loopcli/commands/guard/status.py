"""``loopcheck guard status``: what the guard remembers."""

from __future__ import annotations

import shlex
import shutil
from typing import NamedTuple

import click

from loopcli.commands.guard import options
from loopcli.commands.guard.failing import named_failures
from loopcli.commands.printing import printed_lines
from loopcli.errors import ConfigError
from loopcli.guard.install import Installation
from loopcli.guard.programs import PROGRAMS
from loopcli.guard.store import CallStore, RememberedAgent
from loopcli.lenient_json import dump_line
from loopcli.wording import escaped


@click.command("status", context_settings=options.SETTINGS)
@click.option("--json", "json_", is_flag=True, help="Print JSON Lines.")
@options.store_option
@named_failures
def command(json_: bool, store: CallStore) -> int:
    """Print which agents run the hook, and the sessions that are remembered.

    The session used last is the first one.
    """
    hooks = [_hook(name) for name in PROGRAMS]
    sessions = store.sessions()
    if json_:
        records = [{"type": "program"} | hook._asdict() for hook in hooks]
        records += [{"type": "session"} | one._asdict() for one in sessions]
        return printed_lines(map(dump_line, records))
    lines = [escaped(f"{hook.program}: {hook.state}: {hook.file}") for hook in hooks]
    return printed_lines(line.encode() for line in [*lines, *map(_shown, sessions)])


class HookState(NamedTuple):
    """Whether a program runs the hook, as far as its settings show."""

    program: str
    state: str
    file: str


def _hook(name: str) -> HookState:
    installation = Installation(name, options.state_folder())
    file = str(installation.path)
    try:
        commands = installation.hooks()
    except (ConfigError, OSError) as error:
        return HookState(name, "not readable", str(error))
    if not commands:
        return HookState(name, "no hook", file)
    if not installation.program.event:
        return HookState(name, "installed", file)
    missing = [command for command in commands if not _runs(command)]
    state = "installed, but its program is missing" if missing else "installed"
    note = installation.program.note
    return HookState(name, f"{state} ({note})" if note and not missing else state, file)


def _runs(command: str) -> bool:
    """Return whether the program of a hook's command is there."""
    try:
        program = shlex.split(command)[0]
    except (ValueError, IndexError):
        return False
    return shutil.which(program) is not None


def _shown(one: RememberedAgent) -> str:
    agent = f", agent {one.agent}" if one.agent else ""
    return escaped(f"session {one.session}{agent}: {one.calls} calls, {one.refused} refused")
