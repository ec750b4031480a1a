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
from loopcli.rules.base import Armed, Rule
from loopcli.rules.table import Configs

ENVIRONMENT_PREFIX = "LOOPCHECK"
# The document's rule and figures, now and for ever, whatever the defaults become.
PRESETS = {"gg": ("saturation",)}
# Novelty costs more than both, and finds only loops that are long already.
DEFAULT_RULES = ("saturation", "period")

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
        help="What of a reply to judge: content, reasoning, tool-args, or all of them.  "
        "[default: content; for period and novelty all]",
    )
    return rules(preset(watch(knob_options(function))))


def chosen_channels(watch: str | None) -> frozenset[Channel] | None:
    """Return the channels to judge, or ``None`` if every rule is to judge its own."""
    if watch is None:
        return None
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


def rule_configs(ctx: click.Context, params: Mapping[str, str | None]) -> Configs:
    """Return the rules' knobs as flags and environment have them."""
    written = {}
    for entry in table.RULES.values():
        for knob in entry.knobs:
            value = params[knob.name]
            if value is not None:
                from_flag = ctx.get_parameter_source(knob.name) is ParameterSource.COMMANDLINE
                spelled = knob.flag if from_flag else f"{ENVIRONMENT_PREFIX}_{knob.name.upper()}"
                written[knob.name] = spelled, value
    return table.configs(written)


def warning(
    ctx: click.Context, names: Iterable[str], configs: Configs, swept: Iterable[str] | None = None
) -> str:
    """Return what the knobs deserve to be warned of, or nothing.

    ``names`` are the rules that judge. In a sweep, ``swept`` are the knobs whose
    values do not come from their flags.
    """
    armed = set(names)
    why = "armed" if swept is None else "swept"
    idle = [
        f"{knob.flag} changes nothing, because "
        + (f"the {entry.name} rule is not {why}" if entry.name not in armed else "it is swept")
        for entry in table.RULES.values()
        for knob in entry.knobs
        if (entry.name not in armed or knob.name in (swept or ()))
        and ctx.get_parameter_source(knob.name) is ParameterSource.COMMANDLINE
    ]
    told = table.saturation_warning(configs.saturation) if "saturation" in armed else ""
    return "; ".join([told, *idle] if told else idle)


def arm(
    names: Iterable[str],
    configs: Configs,
    *,
    past_trip: bool,
    channels: frozenset[Channel] | None = None,
) -> list[Armed]:
    """Return the rules of these names, armed for a detector; each on its own channels or these."""
    armed = []
    for name in names:
        entry = table.RULES[name]
        watched = frozenset(entry.watches) if channels is None else channels
        maker = _maker(name, configs, past_trip)
        armed.append(Armed(maker, watched.intersection(entry.channels)))
    return armed


def _maker(name: str, configs: Configs, past_trip: bool) -> Callable[[], Rule]:
    # Imported when armed: start-up is paid by every pipeline.
    if name == "period":
        from loopcli.rules.period import PeriodRule

        return partial(PeriodRule, configs.period, past_trip=past_trip)
    if name == "novelty":
        from loopcli.rules.novelty import NoveltyRule

        return partial(NoveltyRule, configs.novelty, past_trip=past_trip)
    from loopcli.rules.saturation import SaturationRule

    return partial(SaturationRule, configs.saturation, past_trip=past_trip)


def use_color(when: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether messages on standard error are coloured."""
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return sys.stderr.isatty() and environ.get("TERM") != "dumb"
