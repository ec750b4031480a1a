"""The flags of the commands, and how what is written becomes a configuration.

click stops at the first value it dislikes; users want all of them. So knobs
are taken as text and judged together, whatever they came from. A flag goes
before the environment (``LOOPCHECK_WINDOW_WORDS``), which goes before the file of
``--config``, which goes before the preset.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any, TextIO, TypeVar

import click
from click.core import ParameterSource

from loopcli.commands import environment
from loopcli.commands.completing import FILE, listed
from loopcli.errors import ConfigError
from loopcli.events import Channel
from loopcli.rules import table
from loopcli.rules.registration import Judged
from loopcli.sessions.live import NAMES
from loopcli.settings.arming import (
    DEFAULT_RULES,
    DEFAULT_SESSION_RULES,
    PRESETS,
    REPLY_PRESETS,
    FileSettings,
    Settings,
    changes_nothing,
    resolve,
)
from loopcli.settings.sessions import SessionSettings

ENVIRONMENT_PREFIX = environment.PREFIX

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


def seconds_option(flag: str, default: float, text: str) -> Callable[[F], F]:
    """Return the decorator that adds a length of time."""
    return click.option(
        flag,
        metavar="SECONDS",
        callback=seconds,
        default=f"{default:g}",
        help=f"{text}  [default: {default:g}]",
    )


def statuses(ctx: click.Context, param: click.Parameter, value: str | None) -> frozenset[int]:
    """Return the exit statuses of failure in a list that was written as text."""
    numbers: set[int] = set()
    for text in () if value is None else map(str.strip, value.split(",")):
        if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= 255):
            raise click.BadParameter(f"`{text}` is not an exit status of 1 to 255")
        numbers.add(int(text))
    return frozenset(numbers)


def given(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return what an option names; an empty text, such as a variable never set, is no name."""
    if value == "":
        raise click.BadParameter("it is empty")
    return value


def writable(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the name of a file to write; ``-``, which is none elsewhere, would become one."""
    if value == "-":
        raise click.BadParameter("`-` is no file to write; /dev/stdout is standard output")
    return given(ctx, param, value)


def input_option(what: str) -> Callable[[F], F]:
    """Return the decorator that adds ``--input``; ``what`` is to be read."""
    return click.option(
        "--input",
        "input_",
        envvar=f"{ENVIRONMENT_PREFIX}_INPUT",
        type=click.Choice(NAMES),
        metavar="FORMAT",
        default="auto",
        help=f"The format of {what}: auto detects it; or text, sse, ndjson, json, or the name "
        "of an API's or an agent's format. A wrong name lists all.  [default: auto]",
    )


emit_option = click.option(
    "--emit",
    type=click.Choice(["raw", "text"]),
    default="raw",
    help="Print the bytes as they came, or the text of the first choice.  [default: raw]",
)
report_option = click.option(
    "--report",
    metavar="FILE",
    type=FILE,
    callback=writable,
    help="Write a report to FILE as JSON Lines.",
)
progress_option = click.option(
    "--progress", is_flag=True, help="Show the gauge on the terminal while reading."
)


def knob_options(function: F, events: Judged) -> F:
    """Add a flag for every knob of every rule that judges such events."""
    options = [
        click.option(
            knob.flag, metavar=knob.argument, help=f"{knob.help}  [default: {knob.default}]"
        )
        for entry, knob in table.knobs()
        if entry.judges is events
    ]
    return reduce(lambda decorated, option: option(decorated), reversed(options), function)


def rule_options(function: F, presets: Iterable[str] = REPLY_PRESETS, more: str = "") -> F:
    """Add what arms rules: ``--rules``, ``--preset``, ``--watch``, ``--config`` and the knobs."""
    rules = click.option(
        "--rules",
        metavar="NAME[,NAME]",
        help=f"The rules to arm.  [default: {','.join(DEFAULT_RULES)}{more}]",
        shell_complete=listed(table.RULES),
    )
    preset = click.option(
        "--preset",
        type=click.Choice(sorted(presets)),
        help="Arm the rules of a published system with its figures.",
    )
    watch = click.option(
        "--watch",
        metavar="CHANNEL[,CHANNEL]",
        help="The channels to judge: content, reasoning, tool-args, or all.  "
        f"[default: {_watched()}]",
        shell_complete=listed([*Channel, "all"]),
    )
    config = click.option(
        "--config",
        metavar="FILE",
        type=FILE,
        callback=given,
        help="Arm what FILE says: the loopDetection block of an agent profile (JSON), "
        "or settings (TOML).",
    )
    agent = click.option(
        "--agent", metavar="ID", help="The profile of --config to use, by its id or name."
    )
    return rules(preset(watch(config(agent(knob_options(function, Judged.TEXT))))))


def session_options(function: F) -> F:
    """Add what ``rule_options`` does, and what arms the rules for agents' sessions."""
    options = [
        click.option(
            "--results/--no-results",
            default=None,
            help="Let a changed tool result end a streak, as by default, or not.",
        ),
        click.option(
            "--loop-key",
            metavar="TOOL=FIELD[,FIELD]",
            multiple=True,
            help="The arguments that identify a call of TOOL; TOOL=false never counts it.",
        ),
        click.option(
            "--action",
            metavar="TOOL=ACTION",
            multiple=True,
            help="What to do about TOOL instead of what the ladder says.",
        ),
        click.option(
            "--escalation-model", metavar="NAME", callback=given, help="The model to escalate to."
        ),
        click.option(
            "--escalation-advisor", is_flag=True, help="An escalated turn may ask an advisor."
        ),
    ]
    function = knob_options(function, Judged.SESSION)
    function = reduce(lambda decorated, option: option(decorated), reversed(options), function)
    more = f"; for sessions also {','.join(DEFAULT_SESSION_RULES)}"
    return rule_options(function, PRESETS, more)


def session_settings(params: Mapping[str, Any]) -> SessionSettings | None:
    """Return what a command line says of sessions; ``None`` if its command judges none."""
    if "loop_key" not in params:
        return None
    loop_keys, actions = {}, {}
    if params["loop_key"] or params["action"]:
        from loopcli.settings import session_texts  # start-up is paid by every pipeline

        loop_keys = session_texts.loop_keys("--loop-key", params["loop_key"])
        actions = session_texts.actions("--action", params["action"])
    return SessionSettings(
        loop_keys=loop_keys,
        actions=actions,
        model=params["escalation_model"] or "",
        advisor=params["escalation_advisor"] or None,
        results=params["results"],
    )


def _watched() -> str:
    """Return what the rules watch by default: the first of them, then those that differ."""
    watching: dict[tuple[str, ...], list[str]] = {}
    for name in table.judging(Judged.TEXT):
        watching.setdefault(table.RULES[name].watches, []).append(name)
    parts: list[str] = []
    for channels, names in watching.items():
        which = "all" if len(channels) == len(Channel) else " and ".join(channels)
        several = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        parts.append(f"for {several} {which}" if parts else which)
    return "; ".join(parts)


def arming(ctx: click.Context, params: Mapping[str, Any]) -> Settings:
    """Return what a command line arms. Raises ``ConfigError`` with all defects of its knobs."""
    written = {}
    for _, knob in table.knobs():
        if params.get(knob.name) is not None:
            spelled = knob.flag
            if not _from_flag(ctx, knob.name):
                spelled = f"{ENVIRONMENT_PREFIX}_{knob.name.upper()}"
            written[knob.name] = spelled, params[knob.name]
    base = _base(params["config"], params["agent"])
    chosen = {key: params[key] for key in ("rules", "preset", "watch")}
    settings = resolve(base, written, **chosen, sessions=session_settings(params))
    unknown = environment.unknown_variables(ctx)
    return settings._replace(warnings=(*settings.warnings, *unknown))


def idle(
    ctx: click.Context, names: Iterable[str], swept: Iterable[str] | None = None
) -> tuple[str, ...]:
    """Return a warning for each knob whose flag changes nothing.

    ``names`` are the rules that judge. In a sweep, ``swept`` are the knobs whose
    values do not come from their flags.
    """
    judging = set(names)
    why = "armed" if swept is None else "swept"
    return tuple(
        changes_nothing(knob.flag, entry.name, why)
        if entry.name not in judging
        else f"{knob.flag} changes nothing, because it is swept"
        for entry, knob in table.knobs()
        if (entry.name not in judging or knob.name in (swept or ())) and _from_flag(ctx, knob.name)
    )


def _from_flag(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _base(path: str | None, agent: str | None) -> FileSettings:
    if path is not None:
        from loopcli.settings import file  # only who has a file pays for the import

        return file.load(path).pick(agent)
    if agent is not None:
        raise ConfigError("--agent picks a profile of --config, and there is none")
    return FileSettings()


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether an output of ours is a terminal; Python gives none for a closed one."""
    return stream is not None and stream.isatty()


def use_color(when: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether messages on standard error are coloured."""
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal(sys.stderr) and environ.get("TERM") != "dumb"
