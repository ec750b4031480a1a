"""One session, round by round: its calls, the streaks they came to, and what the ladder said.

Rounds that are the same as the one before are one entry, so that a loop of
hundreds is as short as it is dull.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from loopcli.events import Channel, Event, Text
from loopcli.session_events import RoundEnd, RoundRestart, SessionCall, SessionStart, UserMessage
from loopcli.session_judge import SessionJudge
from loopcli.session_verdicts import JudgedRound, Reading

# Entries that are kept; what a session has beyond them is counted only.
MAX_ENTRIES = 10_000
_SHOWN = 200


class TracedRounds(NamedTuple):
    """Equal rounds in a row, or a message of the user (then ``number`` is 0).

    ``calls`` are the name and the arguments of each call, ``text`` begins the
    reply. ``number`` counts the agent's rounds from 1, ``times`` is how many
    rounds these are. ``streak`` is the highest of the last of them, and
    ``actions`` names each rung that was reached in them, with the round.
    """

    agent: str
    number: int
    times: int
    line: int
    calls: tuple[tuple[str, str], ...]
    text: str
    streak: int
    actions: tuple[tuple[str, int], ...]


class SessionTracer:
    """Traces the session with a number of a file, from 1; the others are passed over."""

    def __init__(self, judge: SessionJudge, wanted: int = 1) -> None:
        self._judge = judge
        self._wanted = wanted
        self._session = 1
        self._calls: dict[str, list[tuple[str, str]]] = {}
        self._texts: dict[str, str] = {}
        self._reached: set[tuple[str, str]] = set()
        self._begun = False
        self.entries: list[TracedRounds] = []
        self.left_out = 0

    def update(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, SessionStart) and self._begun:
            self._session += 1
            self._begun = False
        self._begun = self._begun or isinstance(event, RoundEnd)
        if self._session != self._wanted:
            return
        match event:
            case SessionCall():
                call = event.name, event.arguments[:_SHOWN]
                self._calls.setdefault(event.agent, []).append(call)
            case Text() if event.lane.channel is Channel.CONTENT:
                said = self._texts.get(event.lane.agent, "")
                if len(said) < _SHOWN:
                    self._texts[event.lane.agent] = said + event.text[:_SHOWN]
            case RoundRestart():
                self._calls.pop(event.agent, None)
                self._texts.pop(event.agent, None)
            case UserMessage():
                self._add(
                    TracedRounds(event.agent, 0, 1, event.line, (), event.text[:_SHOWN], 0, ())
                )
        for output in self._judge.update(event):
            if isinstance(output, JudgedRound):
                self._round(output)

    def _round(self, judged: JudgedRound) -> None:
        streaks = [
            item.reading.streak for item in judged.items if isinstance(item.reading, Reading)
        ]
        entry = TracedRounds(
            agent=judged.agent,
            number=judged.number,
            times=1,
            line=judged.line,
            calls=tuple(self._calls.pop(judged.agent, [])),
            text=self._texts.pop(judged.agent, ""),
            streak=max(streaks, default=0),
            actions=tuple(self._actions(judged)),
        )
        before = self.entries[-1] if self.entries else None
        if before is not None and before.number and _same(before, entry):
            self.entries[-1] = before._replace(
                times=before.times + 1,
                streak=entry.streak,
                actions=before.actions + entry.actions,
            )
        else:
            self._add(entry)

    def _actions(self, judged: JudgedRound) -> Iterable[tuple[str, int]]:
        """Yield the rungs that a round reached first."""
        for verdict in judged.verdicts:
            key = judged.agent, verdict.effective.value
            if key not in self._reached:
                self._reached.add(key)
                yield verdict.effective.value, judged.number

    def _add(self, entry: TracedRounds) -> None:
        if len(self.entries) < MAX_ENTRIES:
            self.entries.append(entry)
        else:
            self.left_out += 1


def _same(one: TracedRounds, other: TracedRounds) -> bool:
    return (one.agent, one.calls, one.text) == (other.agent, other.calls, other.text)
