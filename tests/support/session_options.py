"""What each option for sessions changes in a report, or in a trace, of ``loopcheck analyze``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from agent_logs import FORMS
from agent_sessions import Call, Session, Turn

_FORM = next(form for form in FORMS if form.name == "claude-code-jsonl")
Rows = list[dict[str, Any]]


class SessionOption(NamedTuple):
    """Flags, and what must hold without and with them, given the rows, or the lines of a trace."""

    args: list[str]
    session: str
    seen: Callable[[Any], object]
    off: object
    on: object
    base: tuple[str, ...] = ("-f", "json")


def written(*turns: Turn) -> str:
    """A session that ends well."""
    return _FORM.write(Session("Go.", (*turns, Turn("Done."))))


def call(result: str = "ok", **arguments: Any) -> Turn:
    """A reply with one call."""
    return Turn(calls=(Call("Bash", arguments, result),))


LOOP = written(*(call(command="ls") for _ in range(8)))
POLL = written(*(call(str(n), command="date") for n in range(8)))
NUMBERED = written(*(call(command="ls", n=n) for n in range(8)))
CYCLE = written(*(call(command=name) for name in "ababababab"))
TAIL = written(Turn("I am here. " * 6))


def _rungs(name: str) -> Callable[[Rows], list[int]]:
    def thresholds(rows: Rows) -> list[int]:
        (repeat, *_) = rows[0]["session"]["repeats"]
        return [rung["threshold"] for rung in repeat["rungs"] if rung["action"] == name]

    return thresholds


def _peak(rows: Rows) -> int:
    return int(rows[0]["peak"])


def _tail(rows: Rows) -> int:
    return int(rows[1]["peak"])


def _reached(lines: list[str]) -> list[str]:
    """The rungs in the line of a trace that has any."""
    return next(([w for w in line.split() if "@" in w] for line in lines[2:] if "@" in line), [])


TRACE = ("--trace", "s.jsonl@1", "--escalate", "2", "--block", "0")
ESCALATED = (*TRACE, "--escalation-model", "big")
UNAIDED, AIDED = ["observe@2", "stop@6"], ["escalate@2", "observe@4", "stop@6"]
SESSION_OPTIONS = {
    "observe": SessionOption(["--observe", "3"], LOOP, _rungs("observe"), [2], [3]),
    "steer": SessionOption(["--steer", "4"], LOOP, _rungs("steer"), [], [4]),
    "escalate": SessionOption(["--escalate", "4"], LOOP, _rungs("escalate"), [], [4]),
    "block": SessionOption(["--block", "4"], LOOP, _rungs("block"), [3], [4]),
    "stop": SessionOption(["--stop", "4"], LOOP, lambda rows: rows[0]["trip_word"], 6, 4),
    "results": SessionOption(["--no-results"], POLL, _peak, 2, 8),
    "loop_key": SessionOption(["--loop-key", "Bash=command"], NUMBERED, _peak, 1, 8),
    "action": SessionOption(
        ["--action", "Bash=observe"], LOOP, lambda rows: rows[0]["verdict"], "repetition", None
    ),
    "max_cycle": SessionOption(["--max-cycle", "0"], CYCLE, _peak, 5, 1),
    "max_period_tokens": SessionOption(["--max-period-tokens", "2"], TAIL, _tail, 6, 1),
    "min_repeats": SessionOption(["--min-repeats", "7"], TAIL, _tail, 6, 1),
    "min_covered_tokens": SessionOption(["--min-covered-tokens", "19"], TAIL, _tail, 6, 1),
    "max_window_tokens": SessionOption(["--max-window-tokens", "12"], TAIL, _tail, 6, 4),
    "escalation_model": SessionOption(
        ["--escalation-model", "big"], LOOP, _reached, UNAIDED, AIDED, TRACE
    ),
    "escalation_advisor": SessionOption(
        ["--escalation-advisor"], LOOP, _reached, UNAIDED, AIDED, TRACE
    ),
    "max_escalations": SessionOption(
        ["--max-escalations", "1"],
        LOOP,
        _reached,
        AIDED,
        ["escalate@2", "observe@3", "stop@6"],
        ESCALATED,
    ),
}
