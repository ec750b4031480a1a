"""``loopcheck guard check``: whether a call would run."""

from __future__ import annotations

import time

import click

from loopcli.commands.guard import options
from loopcli.commands.guard.failing import named_failures
from loopcli.commands.printing import printed_lines
from loopcli.errors import ConfigError
from loopcli.guard.store import CallStore
from loopcli.lenient_json import dump_line
from loopcli.rules.calls.decisions import parse_arguments
from loopcli.rules.calls.keys import call_key
from loopcli.status import Status


@click.command("check", context_settings=options.SETTINGS)
@click.option("--json", "json_", is_flag=True, help="Print a JSON object.")
@options.session_options
@options.limit_options
@options.store_option
@click.argument("tool")
@click.argument("args_json", default="{}")
@named_failures
def command(
    tool: str,
    args_json: str,
    session: str,
    agent: str,
    threshold: str,
    window_ms: str,
    store: CallStore,
    json_: bool,
) -> int:
    """Say whether a call of TOOL with ARGS_JSON would run; nothing is counted or granted.

    The status is 3 if it would be refused.
    """
    config = options.limits(threshold, window_ms)
    key = call_key(tool, parse_arguments(args_json))
    if key is None:
        raise ConfigError("args-json: nested too deeply")
    now = time.time()
    with store.calls(session, agent, now) as calls:
        record = calls.get(key)
    made = 0 if record.authorised else len(record.recent(now * 1000, config))
    refused = not record.authorised and (record.blocked or made + 1 >= config.threshold)
    if json_:
        fields = {"type": "check", "count": made, "blocked": record.blocked}
        fields |= {"authorised": record.authorised, "refused": refused}
        lines = [dump_line(fields)]
    else:
        times = f"{made} time{'' if made == 1 else 's'}"
        verdict = "would be refused" if refused else "would run"
        lines = [f"the call {verdict}; it counts {times} so far".encode()]
    return printed_lines(lines, Status.LOOP if refused else Status.CLEAN)
