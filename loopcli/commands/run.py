"""``loopcheck run``: runs a command that prints a reply, again if the reply loops."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from loopcli import __version__
from loopcli.commands import options
from loopcli.commands.completing import FILE
from loopcli.commands.grouping import GroupedCommand
from loopcli.detector import Detector
from loopcli.output.console import Console
from loopcli.run.attempt import AttemptRunner, AttemptSettings
from loopcli.run.attempts import Attempts, Policy
from loopcli.run.journal import Journal
from loopcli.run.masking import Mask
from loopcli.run.messages import DocumentMessages, PlainMessages, TurnMessages
from loopcli.run.turn import TurnLabel, TurnRunner
from loopcli.sessions.live import reader
from loopcli.settings.arming import Settings
from loopcli.system.signals import Signals
from loopcli.system.stdio import keep_input, open_report
from loopcli.watch import Watch
from loopcli.wording import kebab

if TYPE_CHECKING:
    from loopcli.output.progress import ProgressRenderer
    from loopcli.run.price import Fetch
    from loopcli.run.report import RunReport

_SETTINGS = {
    # The command's arguments belong to the command, whatever they look like.
    "allow_interspersed_args": False,
    "auto_envvar_prefix": options.ENVIRONMENT_PREFIX,
    "help_option_names": ["-h", "--help"],
}
# curl could not connect, or the connection broke: 6 no host, 7 no connection, 18 cut off,
# 28 timed out, 35 TLS, 52 nothing came, 55 and 56 sending and receiving.
_CURL = frozenset({6, 7, 18, 28, 35, 52, 55, 56})
_EPILOG = """\b
Exit status: the command's own, or
  122 gave up on upstream errors   123 gave up, and the reply looped
  124 gave up on a time limit      125 loopcheck failed
  126 cannot run the command       127 no such command   128+n signal n
"""


@click.command(
    "run",
    cls=GroupedCommand,
    context_settings=_SETTINGS,
    epilog=_EPILOG,
    short_help="Run a command that prints a reply; run it again if the reply loops.",
)
@options.input_option("the command's output")
@options.session_options
@options.seconds_option(
    "--idle-timeout", 60, "End an attempt after this long without a delta; 0 means no limit."
)
@options.seconds_option(
    "--timeout", 900, "End an attempt after this long and do not retry; 0 means no limit."
)
@options.seconds_option(
    "--kill-after", 5, "Wait this long after SIGTERM before SIGKILL ends the command."
)
@click.option(
    "--retries",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    help="Retry at most this many times.  [default: 10]",
)
@options.seconds_option(
    "--backoff-base", 1, "Wait this long before the first retry; each further wait doubles."
)
@options.seconds_option("--backoff-max", 60, "Wait at most this long, or as a server asks.")
@options.seconds_option(
    "--retry-after-max", 300, "Wait at most this long if a server asks for it (Retry-After)."
)
@click.option(
    "--retry-on",
    metavar="STATUS[,STATUS]",
    callback=options.statuses,
    help="Retry when the command ends with one of these statuses. Without it, curl is run"
    " again after 6, 7, 18, 28, 35, 52, 55 and 56.",
)
@click.option("--stream", is_flag=True, help="Print the reply as it arrives; never retry.")
@click.option(
    "--agent-stream",
    is_flag=True,
    help="COMMAND is a coding agent: print what it streams as it arrives, judge its calls, too, "
    "and end it with all that it started.",
)
@click.option(
    "--journal",
    metavar="FILE",
    type=FILE,
    callback=options.writable,
    help="Append a record of the turn to FILE.",
)
@click.option("--session", metavar="NAME", default="", help="The session to name in the journal.")
@click.option("--model", metavar="NAME", help="The model for the journal, if not the stream's.")
@click.option(
    "--turn",
    metavar="N",
    type=click.IntRange(min=1),
    help="The number of the turn, if not the next one of the session.",
)
@click.option("--price", is_flag=True, help="Look up the price of each abandoned reply.")
@click.option(
    "--generation-url",
    metavar="URL",
    default="https://openrouter.ai/api/v1/generation",
    help="Where to look prices up.  [default: https://openrouter.ai/api/v1/generation]",
)
@click.option(
    "--api-key-env",
    metavar="VARIABLE",
    default="OPENROUTER_API_KEY",
    help="The environment variable that holds the key.  [default: OPENROUTER_API_KEY]",
)
@options.emit_option
@options.report_option
@options.progress_option
@click.option("-q", "--quiet", is_flag=True, help="Print no messages but those about lost data.")
@click.option("-v", "--verbose", is_flag=True, help="Name the armed rules.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
@click.pass_context
def command(ctx: click.Context, /, **params: Any) -> int:
    """Run COMMAND, which prints a model's reply; run it again if the reply loops.

    \b
    loopcheck run -- curl -sSiN --fail-with-body https://… -d @request.json
    loopcheck run --journal turns.jsonl --session s1 -- llm 'Write a game'

    The reply is judged while it arrives. An attempt that loops, stalls, is cut,
    or gets an HTTP 429 or 5xx is stopped and discarded. After a wait the command
    runs again with the same standard input. Only a reply that ended clean is
    printed.
    """
    live = next((name for name in ("stream", "agent_stream") if params[name]), "")
    if live and ctx.get_parameter_source("retries") is ParameterSource.COMMANDLINE:
        raise click.UsageError(
            f"--{kebab(live)} and --retries exclude each other: printed output cannot be taken back"
        )
    if params["quiet"] and params["verbose"]:
        raise click.UsageError("--quiet and --verbose exclude each other")
    arming = options.arming(ctx, params)
    signals = Signals()
    fetch = _fetch(params, signals) if params["price"] else None
    console = Console(sys.stderr, quiet=params["quiet"])
    mask = Mask(os.environ.get(params["api_key_env"], ""))
    journal = Journal(params["journal"], mask) if params["journal"] else None
    if arming.line and params["verbose"]:
        console.line(arming.line)
    judging = arming.judging if params["agent_stream"] else arming.names
    for warning in (*arming.warnings, *options.idle(ctx, judging)):
        console.warning(warning)
    with contextlib.ExitStack() as stack:
        report = _report(params, arming, stack)
        runner = AttemptRunner(
            params["command"],
            stack.enter_context(keep_input(0)).fileno(),
            _settings(ctx),
            partial(_watch, params["input_"], arming, agent=params["agent_stream"]),
            signals,
            partial(console.warning, lost=True),
            mask,
            _progress(params),
            report.session if report is not None else None,
        )
        if options.is_terminal(sys.stdout) and options.is_terminal(sys.stderr):
            console.ends_line = lambda: runner.output.ends_line()
        turn = TurnRunner(
            Attempts(_policy(params)),
            runner,
            _label(params, arming),
            console,
            messages=_messages(arming),
            report=report,
            journal=journal,
            fetch=fetch,
        )
        return turn.run(signals)


def _messages(arming: Settings) -> TurnMessages:
    """Return the document's sentences where only its rule is asked for, as the filter does."""
    return DocumentMessages() if arming.names == ("saturation",) else PlainMessages()


def _report(
    params: dict[str, Any], arming: Settings, stack: contextlib.ExitStack
) -> RunReport | None:
    if not params["report"]:
        return None
    from loopcli.run.report import RunReport  # only a report pays for the import

    report = RunReport(stack.enter_context(open_report(params["report"])))
    rules = {name: arming.knobs(name) for name in arming.names}
    info = {"version": __version__, "input": params["input_"], "rules": rules}
    report.begin({**info, "armed": arming.line})
    return report


def _progress(params: dict[str, Any]) -> ProgressRenderer | None:
    # On the terminal that shows the reply as it comes the line would run into it.
    shown = (params["stream"] or params["agent_stream"]) and options.is_terminal(sys.stdout)
    if not params["progress"] or shown or not options.is_terminal(sys.stderr):
        return None
    from loopcli.output.progress import ProgressRenderer

    return ProgressRenderer(sys.stderr)


def _settings(ctx: click.Context) -> AttemptSettings:
    params = ctx.params
    agent = params["agent_stream"]
    asked = ctx.get_parameter_source("idle_timeout") is not ParameterSource.DEFAULT
    # An agent may work for hours, and print nothing while a tool of its runs.
    limits = {
        name: params[name]
        for name in ("idle_timeout", "timeout")
        if not agent or ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    return AttemptSettings(
        **{"idle_timeout": 0, "timeout": 0} | limits,
        kill_after=params["kill_after"],
        stream=params["stream"] or agent,
        agent=agent,
        retry_on=_retry_on(ctx),
        printing_idle=params["idle_timeout"] if asked else 0,
        emit_text=params["emit"] == "text",
        end_line=options.is_terminal(sys.stdout),
    )


def _policy(params: dict[str, Any]) -> Policy:
    # Printed output cannot be taken back.
    retries = 0 if params["stream"] or params["agent_stream"] else params["retries"]
    waits = params["backoff_base"], params["backoff_max"], params["retry_after_max"]
    return Policy(retries, *waits)


def _retry_on(ctx: click.Context) -> frozenset[int]:
    """Return the statuses of the command after which it is run again."""
    named: frozenset[int] = ctx.params["retry_on"]
    default = ctx.get_parameter_source("retry_on") is ParameterSource.DEFAULT
    return _CURL if default and os.path.basename(ctx.params["command"][0]) == "curl" else named


def _label(params: dict[str, Any], arming: Settings) -> TurnLabel:
    agent = arming.profile.id or arming.profile.name if arming.profile else ""
    return TurnLabel(params["session"], params["model"] or "", params["turn"] or 0, agent)


def _watch(name: str, arming: Settings, *, agent: bool) -> Watch:
    detector = Detector(arming.rules())
    if not agent:
        return Watch(reader(name), detector)
    from loopcli.session_judge import armed_judge  # only an agent pays for the import

    judge = partial(armed_judge, arming.session_names, arming.configs, arming.setup)
    return Watch(reader(name), detector, judge)


def _fetch(params: dict[str, Any], signals: Signals) -> Fetch:
    from loopcli.run.price_client import Client  # slow to import; only --price needs it

    return Client(params["generation_url"], params["api_key_env"], signals.wait).fetch
