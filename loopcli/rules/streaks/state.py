"""What is remembered of one agent, and how it is saved.

Two forms are saved. ``document`` is the form of the document's engine, which
can be handed to it and taken from it: the counts of every tool. ``snapshot``
adds what only this program needs to continue in the middle of a session.

A saved state may be damaged or hostile: what is odd in it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from loopcli.bounds import drop_oldest
from loopcli.rules.streaks.counting import MAX_MEMBERS, ServerStreak, ToolStreak
from loopcli.rules.streaks.cycles import Cycles
from loopcli.rules.streaks.results import Results, saved_results
from loopcli.session_verdicts import SERVER

# Tools that one agent has used lately. Real agents have up to a few hundred.
MAX_TOOLS = 1024

NOTHING: Mapping[str, Results] = MappingProxyType({})


class ToolRecord(NamedTuple):
    """A tool between two of its rounds: its counts, and the results of its last calls."""

    counts: ToolStreak
    results: Mapping[str, Results] = NOTHING

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON."""
        results = {call: list(found) for call, found in self.results.items()}
        return {"counts": self.counts.to_json(), "results": results}

    @classmethod
    def from_json(cls, state: object) -> ToolRecord | None:
        """Return the record that was saved, or ``None`` if this is none."""
        if not isinstance(state, Mapping):
            return None
        counts = ToolStreak.from_json(state.get("counts"))
        return counts and cls(counts, saved_results(state.get("results")))


class LastCalls(NamedTuple):
    """The calls of one tool in the last round, and what there was before: to count them again."""

    before: ToolRecord | None
    calls: list[str]


class AgentState:
    """The memory of one agent; its size is bounded, whatever the agent does.

    ``round`` is the number of rounds with calls so far: server requests of one
    number are of one round. ``last`` has the tools of the last round, ``ids``
    its calls by id, each with its tool and fingerprint.
    """

    __slots__ = ("cycles", "ids", "last", "round", "servers", "tools")

    def __init__(self, max_cycle: int) -> None:
        self.tools: dict[str, ToolRecord] = {}
        self.servers: dict[str, ServerStreak] = {}
        self.round = 0
        self.last: dict[str, LastCalls] = {}
        self.ids: dict[str, tuple[str, str]] = {}
        self.cycles = Cycles(max_cycle)

    def limit(self) -> None:
        """Forget the tools that have not been used for longest."""
        drop_oldest(self.tools, MAX_TOOLS)
        drop_oldest(self.servers, MAX_TOOLS)

    def document(self) -> dict[str, Any]:
        """Return the counts as the document's engine saves them, by tool."""
        counts = {name: record.counts for name, record in self.tools.items()}
        counts |= {name: state.now for name, state in self.servers.items()}
        return {name: streak.to_json() for name, streak in counts.items()}

    def restore_document(self, state: object) -> None:
        """Take over counts in the document's form."""
        for name, item in state.items() if isinstance(state, Mapping) else ():
            counts = ToolStreak.from_json(item)
            if counts is None or not isinstance(name, str):
                continue
            if name.startswith(SERVER):
                self.servers[name] = ServerStreak(counts)
            else:
                self.tools[name] = ToolRecord(counts)
        self.limit()

    def snapshot(self) -> dict[str, Any]:
        """Return everything as plain JSON. Numbers of rounds are not saved, only which is open."""
        return {
            "tools": {name: record.to_json() for name, record in self.tools.items()},
            "servers": {
                name: {
                    "now": state.now.to_json(),
                    "open": state.round == self.round,
                    "before": state.before and state.before.to_json(),
                }
                for name, state in self.servers.items()
            },
            "last": {
                name: {"before": last.before and last.before.to_json(), "calls": list(last.calls)}
                for name, last in self.last.items()
            },
            "ids": {call_id: list(call) for call_id, call in self.ids.items()},
            "cycles": self.cycles.snapshot(),
        }

    def restore(self, state: object) -> None:
        """Take over what ``snapshot`` returned."""
        for name, item in _members(state, "tools"):
            if record := ToolRecord.from_json(item):
                self.tools[name] = record
        for name, item in _members(state, "servers"):
            now = ToolStreak.from_json(_member(item, "now"))
            if now is not None:
                before = ToolStreak.from_json(_member(item, "before"))
                number = self.round if _member(item, "open") is True else None
                self.servers[name] = ServerStreak(now, number, before)
        for name, item in _members(state, "last"):
            calls = _member(item, "calls")
            if isinstance(calls, list) and all(isinstance(call, str) for call in calls):
                record = ToolRecord.from_json(_member(item, "before"))
                self.last[name] = LastCalls(record, calls[:MAX_MEMBERS])
        for call_id, item in _members(state, "ids"):
            if isinstance(item, list) and [*map(type, item)] == [str, str]:
                self.ids[call_id] = item[0], item[1]
        self.cycles.restore(_member(state, "cycles"))
        self.limit()


def _member(state: object, name: str) -> object:
    return state.get(name) if isinstance(state, Mapping) else None


def _members(state: object, name: str) -> list[tuple[str, object]]:
    inner = _member(state, name)
    return [*inner.items()][: 2 * MAX_TOOLS] if isinstance(inner, Mapping) else []
