"""``loopcheck config``: how the file of ``--config`` is read."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from loopcli.commands import options
from loopcli.commands.completing import FILE
from loopcli.commands.printing import printed_lines
from loopcli.output.console import Console
from loopcli.settings import file as settings_file
from loopcli.settings import profiles
from loopcli.settings.arming import Settings, resolve
from loopcli.settings.sessions import SessionSettings
from loopcli.wording import escaped, kebab


@click.command(
    "config",
    context_settings={"auto_envvar_prefix": options.ENVIRONMENT_PREFIX},
    short_help="Show how a file is read for --config.",
)
@click.option("--agent", metavar="ID", help="Show only this profile, by its id or name.")
@click.argument("file", type=FILE, callback=options.given)
def command(agent: str | None, file: str) -> int:
    """Show how FILE is read for --config, or everything that is wrong with it.

    FILE holds agent profiles with a loopDetection block (JSON, with comments
    and trailing commas), or settings in TOML.
    """
    settings_of_file = settings_file.load(file)
    bases = settings_of_file.all() if agent is None else [settings_of_file.pick(agent)]
    console = Console(sys.stderr)
    lines: list[bytes] = []
    for base in bases:
        arming = resolve(base, sessions=SessionSettings())
        for warning in arming.warnings:
            console.warning(warning)
        title = arming.profile.title if arming.profile else file
        lines += (escaped(f"{title}: {line}").encode() for line in _described(arming))
    return printed_lines(lines)


def _described(arming: Settings) -> Iterator[str]:
    profile = arming.profile
    if profile is not None and not profile.armed:
        yield f"off: {profile.off_because}"
        return
    for name in arming.names:
        if profile is not None and name in profiles.BLOCK_RULES:
            what, knobs, spelling = "armed", profile.knobs, profile.spelling(name)
        else:
            what, knobs, spelling = name, arming.knobs(name), kebab
        yield f"{what}: " + ", ".join(f"{spelling(knob)} {value}" for knob, value in knobs.items())
    if arming.channels is not None:
        yield f"watches {', '.join(sorted(arming.channels))}"
    yield arming.line
