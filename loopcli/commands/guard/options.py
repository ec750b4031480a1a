"""The options that the commands of the guard share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from loopcli.commands.completing import FILE
from loopcli.commands.environment import PREFIX
from loopcli.errors import ConfigError
from loopcli.guard.protocols import reference
from loopcli.guard.store import CallStore
from loopcli.rules.calls.config import CallsConfig

F = TypeVar("F", bound=Callable[..., Any])

SETTINGS = {"auto_envvar_prefix": PREFIX}
# Where agents name their session to the commands that they run.
SESSION_VARIABLES = ("LOOPCHECK_SESSION", "CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID")


def state_folder() -> Path:
    """Return the folder for what is remembered between runs."""
    home = os.environ.get("XDG_STATE_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path.home() / ".local/state") / "loopcheck"


def store_option(function: F) -> F:
    """Add ``--store``, which becomes a ``CallStore``."""
    return click.option(
        "--store",
        metavar="FILE",
        type=FILE,
        callback=lambda ctx, param, value: CallStore(value or str(state_folder() / "guard.db")),
        help="Remember calls in this database instead of the user's own.",
    )(function)


def limit_options(function: F) -> F:
    """Add ``--threshold`` and ``--window-ms`` as text; ``limits`` reads them."""
    default = CallsConfig()
    function = click.option(
        "--window-ms",
        metavar="N",
        default=f"{default.window_ms:.0f}",
        help="Count calls of the last N milliseconds.  [default: 60000]",
    )(function)
    return click.option(
        "--threshold",
        metavar="N",
        default=str(default.threshold),
        help="Refuse the Nth equal call, 2 or more.  [default: 3]",
    )(function)


def limits(threshold: str, window_ms: str) -> CallsConfig:
    """Return the limits that were written. Raises ``ConfigError`` with every defect."""
    defects: list[str] = []
    config = CallsConfig()
    try:
        if not (threshold.isascii() and threshold.isdigit() and len(threshold) <= 9):
            raise ConfigError(f"threshold = `{threshold}`: has to be a whole number of 2 or more")
        config = config._replace(threshold=int(threshold))._replace(window_ms=1).checked()
    except ConfigError as error:
        defects += error.defects
    try:
        window = float("nan" if "_" in window_ms else window_ms)
        config = config._replace(window_ms=window)
        config._replace(threshold=2).checked()
    except ValueError:
        defects.append(f"window-ms = `{window_ms}`: has to be a number above 0")
    except ConfigError as error:
        defects += error.defects
    if defects:
        raise ConfigError(*defects)
    return config


def session_options(function: F) -> F:
    """Add ``--session`` and ``--agent``, which become references."""
    function = click.option(
        "--agent",
        metavar="ID",
        default="",
        allow_from_autoenv=False,  # LOOPCHECK_AGENT names a profile of the filter
        callback=lambda ctx, param, value: reference(value),
        help="The subagent; the main agent if omitted.",
    )(function)
    return click.option(
        "--session",
        metavar="ID",
        envvar=SESSION_VARIABLES,
        required=True,
        callback=lambda ctx, param, value: reference(value),
        help="The session, as its refusal names it; that of the calling agent if omitted.",
    )(function)
