"""``loopcheck guard decide``: what an agent does about a call that was refused."""

from __future__ import annotations

import time

import click

from loopcli.commands.guard import options
from loopcli.commands.guard.failing import named_failures
from loopcli.commands.printing import printed_lines
from loopcli.guard.store import CallStore
from loopcli.rules.calls.decisions import DecisionForm, apply_decision, read_decision


@click.command("decide", context_settings=options.SETTINGS)
@click.option("--observed-result", metavar="TEXT", default="", help="What the calls so far showed.")
@click.option("--rationale", metavar="TEXT", default="", help="Why this call is useful.")
@click.option("--expected-information", metavar="TEXT", default="", help="What is new in it.")
@click.option("--next-tool", metavar="TOOL", default="", help="The tool to call.")
@click.option("--args-json", metavar="JSON", default="{}", help="Its arguments.  [default: {}]")
@options.session_options
@options.store_option
@click.argument("decision", metavar="continue|change|stop")
@named_failures
def command(
    decision: str,
    observed_result: str,
    rationale: str,
    expected_information: str,
    next_tool: str,
    args_json: str,
    session: str,
    agent: str,
    store: CallStore,
) -> int:
    """Record what an agent does about a call that was refused.

    `continue` lets exactly the named call run again, with a new count. `change`
    records that another call is made instead. `stop` gives up the call that was
    refused last, and takes back a retry that was granted.

    Each of the three texts has at least 20 characters.
    """
    form = DecisionForm(
        decision=decision,
        observed_result=observed_result,
        rationale=rationale,
        expected_information=expected_information,
        next_tool=next_tool,
        args_json=args_json,
    )
    valid = read_decision(form)
    with store.calls(session, agent, time.time()) as calls:
        effect = apply_decision(calls, valid)
        calls.log(decision, next_tool)
    return printed_lines([effect.encode()])
