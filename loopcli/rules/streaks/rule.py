"""The streaks rule: the same tool call, or the same server request, round after round.

Source: OpenRouter, Doom-loop detection, "Repeating a call to one of your tools"
and "Repeating a request to an OpenRouter server tool". Beside the document:
cycles of several rounds, and results that are news (see ``cycles``, ``results``).

What belongs to a round is known only at its end, so calls are gathered until
then. Each agent of the session is counted by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopcli.bounds import drop_oldest
from loopcli.events import Event
from loopcli.ladder import count
from loopcli.loop_keys import INTERNAL, LoopKey
from loopcli.rules.base import saved_peak
from loopcli.rules.streaks.agent import AgentStreaks, Readings
from loopcli.rules.streaks.config import NAME, StreaksConfig
from loopcli.rules.streaks.counting import MAX_MEMBERS
from loopcli.session_events import (
    CallKind,
    RoundEnd,
    RoundRestart,
    SessionCall,
    SessionOptions,
    SessionResult,
    SessionStart,
    UserMessage,
)
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import TOO_MANY, Reading, Uncounted
from loopcli.verdicts import Peak

# Agents that have been at work lately. Real sessions have a handful.
MAX_AGENTS = 256
# Arguments of the calls of one round: far above what a model writes in one reply.
MAX_CHARS = 16 * 1024 * 1024
# The document's own tool for background tasks, unless the input declares a tool of that name.
_BUILT_IN = {"task": INTERNAL}


class _OpenRound:
    """The calls of a round that is not over; what is too much for the memory is left out."""

    __slots__ = ("calls", "chars", "left_out")

    def __init__(self) -> None:
        self.calls: list[SessionCall] = []
        self.chars = 0
        self.left_out: list[Uncounted] = []

    def add(self, call: SessionCall) -> None:
        """Gather a call."""
        self.chars += len(call.arguments)
        if len(self.calls) < MAX_MEMBERS and self.chars <= MAX_CHARS:
            self.calls.append(call)
        elif not self.left_out:
            self.left_out.append(Uncounted(NAME, call.agent, call.name, call.id, TOO_MANY))


class StreaksRule:
    """Counts how often each call of a session has come, in rounds.

    >>> from loopcli.session_events import CallKind
    >>> rule = StreaksRule()
    >>> def turn(call):
    ...     rule.update(SessionCall("", "search", call, "", CallKind.CLIENT, 1, 1))
    ...     return [reading.streak for reading in rule.update(RoundEnd("", 1, 1))]
    >>> turn('{"q": "x"}'), turn('{"q":"x"}'), turn('{"q":"y"}')
    ([1], [2], [1])
    """

    name = NAME

    def __init__(
        self, config: StreaksConfig | None = None, setup: SessionSetup | None = None
    ) -> None:
        self._config = config or StreaksConfig()
        self._setup = setup or SessionSetup()
        self._start()

    def _start(self) -> None:
        self._declare({})
        self._agents: dict[str, AgentStreaks] = {}
        self._open: dict[str, _OpenRound] = {}
        self.gauge = 0
        self.peak = Peak()

    @property
    def ceiling(self) -> int:
        """The streak at which the strongest rung of the ladder acts."""
        return self._config.lowest

    def update(self, event: Event) -> Readings:
        """Take note of an event; return the readings of the round that it ends."""
        match event:
            case SessionCall():
                self._gather(event)
            case RoundEnd():
                return self._end_round(event.agent)
            case RoundRestart():
                self._open.pop(event.agent, None)
            case SessionResult():
                if event.agent in self._agents:
                    self._agents[event.agent].result(event)
            case UserMessage():
                if event.agent in self._agents:
                    self._agents[event.agent].new_run()
            case SessionOptions():
                self._declare(event.loop_keys)
            case SessionStart():
                self._start()
        return []

    def warnings(self, agent: str) -> list[str]:
        """Return what went wrong with loop keys and arguments in the agent's last round."""
        return self._agents[agent].warnings if agent in self._agents else []

    def _declare(self, declared: Mapping[str, Any]) -> None:
        """Take over the loop keys that the input declares; the user's own go before them."""
        self._declared = declared
        keys = {name: LoopKey.declared(key) for name, key in declared.items()}
        self._keys: Mapping[str, LoopKey] = {**_BUILT_IN, **keys, **self._setup.loop_keys}

    def _gather(self, call: SessionCall) -> None:
        self._open.setdefault(call.agent, _OpenRound()).add(call)
        drop_oldest(self._open, MAX_AGENTS)

    def _agent(self, name: str) -> AgentStreaks:
        """Return an agent's counts; the one that has rested longest gives way to a new one."""
        counts = self._agents.pop(name, None)
        if counts is None:
            counts = AgentStreaks(self._config.max_cycle, self._setup.results)
        self._agents[name] = counts
        drop_oldest(self._agents, MAX_AGENTS)
        return counts

    def _end_round(self, name: str) -> Readings:
        round_ = self._open.pop(name, None)
        if round_ is None:
            return []
        readings = self._agent(name).count(round_.calls, self._keys)
        readings += round_.left_out
        best = max(
            (one for one in readings if isinstance(one, Reading)),
            key=lambda one: one.streak,
            default=None,
        )
        self.gauge = best.streak if best else 0
        if best and best.streak > self.peak.value:
            self.peak = Peak(best.streak, repeated=(best.tool,), ceiling=self.ceiling)
        return readings

    def options(self) -> Mapping[str, Any]:
        """Return nothing: the document's options for this rule are the ladder's."""
        return {}

    def document(self, agent: str) -> dict[str, Any]:
        """Return what the document's engine saves of an agent: the counts of its tools."""
        counts = self._agents.get(agent)
        return {"tools": counts.state.document() if counts else {}}

    def restore_document(self, agent: str, state: Mapping[str, Any]) -> None:
        """Take over an agent's counts in the document's form."""
        self._agent(agent).state.restore_document(state.get("tools"))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""
        return {
            "agents": {name: counts.state.snapshot() for name, counts in self._agents.items()},
            "open": [list(call) for open_ in self._open.values() for call in open_.calls],
            "declared": dict(self._declared),
            "gauge": self.gauge,
            "peak": self.peak.to_json(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        self._start()
        self._declare(state["declared"])
        for name, inner in state["agents"].items():
            self._agent(name).state.restore(inner)
        for item in state["open"]:
            self._gather(_saved_call(item))
        self.gauge, self.peak = count(state["gauge"]), saved_peak(state["peak"])


def _saved_call(item: list[Any]) -> SessionCall:
    if [*map(type, item)] != [str, str, str, str, str, int, int, bool]:
        raise ValueError("a saved call has other fields")
    call = SessionCall(*item)
    return call._replace(kind=CallKind(call.kind))
