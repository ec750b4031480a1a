"""The texts that explain a repeated call to the model."""

from __future__ import annotations

from loopcli.rules.streaks.counting import ToolStreak
from loopcli.rules.streaks.cycles import Cycle

# How many characters of a fingerprint identify a call, and how many of a set's members.
_DIGITS, _SET_DIGITS, _SET_SHOWN = 16, 8, 3

_BEGIN = "Doom loop suspected: "
_END = (
    " The same call gives the same result. Try another way, or explain why it has to be repeated."
)


def repeated_call(tool: str) -> str:
    """Return the text for one exact call, whatever came with it."""
    return f'{_BEGIN}this exact "{tool}" call is repeated in round after round.{_END}'


def repeated_round(tool: str, counts: ToolStreak) -> str:
    """Return the text for a tool that is called with the same set of calls."""
    members, rounds = counts.members, counts.streak
    if len(members) == 1:
        what = f"identical arguments (fingerprint {members[0][:_DIGITS]}…)"
    else:
        identity = "+".join(member[:_SET_DIGITS] for member in members[:_SET_SHOWN])
        more = len(members) - _SET_SHOWN
        identity += f"+{more} more…" if more > 0 else "…"
        what = f"the same set of {len(members)} calls (round identity {identity})"
    return f'{_BEGIN}the tool "{tool}" was called in {rounds} consecutive rounds with {what}.{_END}'


def repeated_cycle(cycle: Cycle) -> str:
    """Return the text for a cycle of rounds."""
    steps = ", ".join(one.tools for one in cycle.rounds)
    return (
        f"{_BEGIN}the last {len(cycle.rounds)} rounds ({steps}) "
        f"have now come {cycle.times} times, each time with the same arguments.{_END}"
    )
