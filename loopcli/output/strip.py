"""A session as a strip of rounds: a line for rounds that are the same, with the names of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.analyze.session_trace import SessionTracer, TracedRounds
from loopcli.wording import counted, escaped

# A line is never cut shorter than this, however narrow the terminal.
_LEAST_WIDTH = 40


def strip(name: str, tracer: SessionTracer, width: int) -> str:
    """Return the strip of a session, in lines of at most ``width`` characters."""
    entries = tracer.entries
    rounds = sum(entry.times for entry in entries if entry.number)
    lines = [f"{name}: {counted(rounds, 'round')}"]
    agents = any(entry.agent for entry in entries)
    lines += [f"{'round':>9}  {'line':>6}  {'streak':>6}  what"]
    lines += (_line(entry, agents) for entry in entries)
    if tracer.left_out:
        lines.append(f"and {counted(tracer.left_out, 'line')} more")
    return "\n".join(_cut(lines, max(width, _LEAST_WIDTH))) + "\n"


def _line(entry: TracedRounds, agents: bool) -> str:
    if not entry.number:
        return f"{'user':>9}  {entry.line:>6}  {'':>6}  {_quoted(entry.text)}"
    last = entry.number + entry.times - 1
    rounds = f"{entry.number}-{last}" if entry.times > 1 else f"{entry.number}"
    reached = " ".join(f"{action}@{at}" for action, at in entry.actions)
    what = [f"[{entry.agent}]" if agents and entry.agent else "", reached]
    what += [" + ".join(f"{tool} {arguments}" for tool, arguments in entry.calls)]
    what += [_quoted(entry.text) if entry.text and not entry.calls else ""]
    said = "  ".join(filter(None, what))
    return f"{rounds:>9}  {entry.line:>6}  {entry.streak:>6}  {said}"


def _quoted(text: str) -> str:
    return f'"{" ".join(text.split())}"'


def _cut(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in map(escaped, lines):
        yield line if len(line) <= width else line[: width - 1] + "…"
