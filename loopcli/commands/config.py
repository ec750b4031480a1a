"""``loopcheck config``: how the file of ``--config`` is read."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from loopcli.commands import options
from loopcli.commands.printing import printed_lines
from loopcli.output.console import Lines
from loopcli.rules import table
from loopcli.rules.saturation.rule import NAME as SATURATION
from loopcli.settings import file as settings_file
from loopcli.settings import profiles
from loopcli.settings.arming import Settings, resolve
from loopcli.wording import escaped


@click.command("config", context_settings={"auto_envvar_prefix": options.ENVIRONMENT_PREFIX})
@click.option("--agent", metavar="ID", help="Show this profile only, by its id or its name.")
@click.argument("file", callback=options.given)
def command(agent: str | None, file: str) -> int:
    """Show how FILE is read for --config, or everything that is wrong with it.

    FILE holds agent profiles with a loopDetection block (JSON, with comments
    and trailing commas), or settings in TOML.
    """
    found = settings_file.load(file)
    bases = found.all() if agent is None else [found.pick(agent)]
    warnings = Lines(sys.stderr)
    lines: list[bytes] = []
    for base in bases:
        arming = resolve(base)
        for warning in arming.warnings:
            warnings.warn(warning)
        title = arming.profile.title if arming.profile else file
        lines += (escaped(f"{title}: {line}").encode() for line in _described(arming))
    return printed_lines(lines)


def _described(arming: Settings) -> Iterator[str]:
    profile = arming.profile
    if profile is not None and not profile.armed:
        yield f"off: {profile.off_because}"
        return
    for name in arming.names:
        if profile is not None and name == SATURATION:
            knobs = {profiles.spelled(k): v for k, v in profile.knobs.items()}
        else:
            knobs = {knob.flag[2:]: v for knob, v in _knobs(arming, name)}
        what = "armed" if profile is not None and name == SATURATION else name
        yield f"{what}: " + ", ".join(f"{knob} {value}" for knob, value in knobs.items())
    if arming.channels is not None:
        yield f"watches {', '.join(sorted(arming.channels))}"
    yield arming.line


def _knobs(arming: Settings, name: str) -> Iterator[tuple[table.Knob, int]]:
    return zip(table.RULES[name].knobs, arming.knobs(name).values(), strict=True)
