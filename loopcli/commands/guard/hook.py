"""``loopcheck guard hook``: answer an agent that is about to call a tool."""

from __future__ import annotations

import sys

import click

from loopcli.commands.guard import options
from loopcli.errors import ConfigError
from loopcli.guard import hook
from loopcli.guard.database import StoreError
from loopcli.guard.store import CallStore
from loopcli.output.console import Console
from loopcli.system.output import OutputError, ReaderGoneError, write_all


@click.command("hook", context_settings=options.SETTINGS)
@options.limit_options
@options.store_option
def command(threshold: str, window_ms: str, store: CallStore) -> int:
    """Answer one question of an agent: whether a tool call may run.

    The question is one JSON object on standard input: what Claude Code, Codex
    and Gemini CLI hand to a hook, or {"session": …, "tool": …, "args": {…}}. The
    answer is in the form that its program expects. Whatever fails, the call
    runs, and the status is 0.
    """
    try:
        config = options.limits(threshold, window_ms)
        raw = sys.stdin.buffer.read(hook.MAX_BYTES + 1)
        output = hook.answer(raw, store, config).output
        if output:
            write_all(1, output + b"\n")
    except ConfigError as error:
        _passed("; ".join(error.defects))
    except (StoreError, ValueError, RecursionError) as error:
        _passed(str(error))
    except (OSError, ReaderGoneError, OutputError) as error:
        _passed(f"standard input or output: {error}")
    except Exception as error:  # a bug must not stop an agent, either
        _passed(f"this is a bug in loopcheck: {error!r}")
    return 0


def _passed(why: str) -> None:
    Console(sys.stderr).line(f"guard: the call runs unchecked: {why}")
