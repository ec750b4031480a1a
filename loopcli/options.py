"""The flags of the commands, and how what is written becomes a configuration.

click stops at the first value it dislikes; users want all of them. So knobs
are taken as text and judged together, whatever they came from. A flag goes
before the environment (``LOOPCHECK_WINDOW_WORDS``), which goes before the preset.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from loopcli.errors import ConfigError
from loopcli.events import Channel
from loopcli.rules import table
from loopcli.rules.base import Armed
from loopcli.rules.saturation import SaturationConfig, SaturationRule

ENVIRONMENT_PREFIX = "LOOPCHECK"
# The document's rule and figures, now and for ever, whatever the defaults become.
PRESETS = {"gg": ("saturation",)}
DEFAULT_RULES = ("saturation",)

F = TypeVar("F", bound=Callable[..., Any])


def seconds(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Return a length of time that was written as text; 0 is for ever."""
    try:
        number = math.nan if "_" in value else float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise click.BadParameter(f"`{value}` is not a number of seconds, 0 or more")
    return number


def knob_options(function: F) -> F:
    """Add a flag for every knob of every rule."""
    knobs = [knob for entry in table.RULES.values() for knob in entry.knobs]
    options = [
        click.option(knob.flag, metavar="N", help=f"{knob.help}  [default: {knob.default}]")
        for knob in knobs
    ]
    return reduce(lambda decorated, option: option(decorated), reversed(options), function)


def rule_options(function: F) -> F:
    """Add ``--rules``, ``--preset`` and the knobs."""
    rules = click.option(
        "--rules",
        metavar="NAME[,NAME]",
        help=f"Which rules to arm.  [default: {','.join(DEFAULT_RULES)}]",
    )
    preset = click.option(
        "--preset",
        type=click.Choice(sorted(PRESETS)),
        help="Arm a published system's rules with its own figures.",
    )
    watch = click.option(
        "--watch",
        metavar="CHANNEL[,CHANNEL]",
        default=Channel.CONTENT.value,
        help="What of a reply to judge: content, reasoning, tool-args, or all of them.  "
        "[default: content]",
    )
    return rules(preset(watch(knob_options(function))))


def chosen_channels(watch: str) -> frozenset[Channel]:
    """Return the channels to judge."""
    names = {name.strip() for name in watch.split(",") if name.strip()}
    known = [channel.value for channel in Channel]
    unknown = sorted(names - {*known, "all"})
    if unknown or not names:
        what = f"unknown channel `{unknown[0]}`" if unknown else "no channel is named"
        raise ConfigError(f"--watch: {what} (there is: {', '.join(known)}, all)")
    return frozenset(known_channel for known_channel in Channel if {known_channel, "all"} & names)


def chosen_rules(rules: str | None, preset: str | None) -> tuple[str, ...]:
    """Return the names of the rules to arm."""
    if rules is None:
        return PRESETS[preset] if preset else DEFAULT_RULES
    names = tuple(dict.fromkeys(name.strip() for name in rules.split(",") if name.strip()))
    unknown = [name for name in names if name not in table.RULES]
    if unknown or not names:
        known = ", ".join(table.RULES)
        what = f"unknown rule `{unknown[0]}`" if unknown else "no rule is named"
        raise ConfigError(f"--rules: {what} (there is: {known})")
    return names


def saturation_config(ctx: click.Context, params: Mapping[str, str | None]) -> SaturationConfig:
    """Return the saturation rule's knobs as flags and environment have them."""
    written = {}
    for knob in table.SATURATION.knobs:
        value = params[knob.name]
        if value is not None:
            from_flag = ctx.get_parameter_source(knob.name) is ParameterSource.COMMANDLINE
            spelled = knob.flag if from_flag else f"{ENVIRONMENT_PREFIX}_{knob.name.upper()}"
            written[knob.name] = spelled, value
    return table.saturation_config(written)


def arm(
    names: Iterable[str],
    config: SaturationConfig,
    *,
    past_trip: bool,
    channels: frozenset[Channel] = frozenset({Channel.CONTENT}),
) -> list[Armed]:
    """Return the rules of these names, armed for a detector."""
    make = {"saturation": partial(SaturationRule, config, past_trip=past_trip)}
    return [Armed(make[name], channels.intersection(table.RULES[name].channels)) for name in names]


def use_color(when: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether messages on standard error are coloured."""
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return sys.stderr.isatty() and environ.get("TERM") != "dumb"
