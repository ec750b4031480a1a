"""Counts the rounds of one agent, call by call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loopcli.actions import Detection
from loopcli.identity import UnhashableError, fingerprint, material
from loopcli.loop_keys import ALL_ARGUMENTS, Identity, LoopKey, identify, identity_of
from loopcli.rules.streaks import messages
from loopcli.rules.streaks.config import NAME
from loopcli.rules.streaks.counting import count_round, count_server_call
from loopcli.rules.streaks.cycles import Cycle
from loopcli.rules.streaks.results import NO_RESULTS, digest
from loopcli.rules.streaks.state import NOTHING, AgentState, LastCalls, ToolRecord
from loopcli.session_events import CallKind, SessionCall, SessionResult
from loopcli.session_verdicts import EXEMPT, SERVER, UNHASHABLE, Reading, Uncounted

# What a server adds to its own request, and what came of it.
_SERVER_NOISE = {"id", "type", "status", "output", "result", "results", "error"}
# How much of the names of a round's tools a message about a cycle repeats.
_TOOLS_SHOWN = 80
_EXEMPT = Identity(None, exempt=True)

Readings = list[Reading | Uncounted]


class AgentStreaks:
    """Counts the rounds of one agent. ``compare`` lets a changed result end a streak."""

    def __init__(self, max_cycle: int, compare: bool) -> None:
        self._compare = compare
        self.state = AgentState(max_cycle)
        # What went wrong with loop keys and arguments in the last round.
        self.warnings: list[str] = []

    def new_run(self) -> None:
        """Take note that the user spoke: what a server does next is of another round."""
        servers = self.state.servers
        for name, streak in servers.items():
            servers[name] = streak._replace(round=None, before=None)

    def count(self, calls: Sequence[SessionCall], keys: Mapping[str, LoopKey]) -> Readings:
        """Count a round, complete; return what there is to be said of each of its calls."""
        self.warnings = []
        server = [call for call in calls if call.kind is CallKind.SERVER]
        client = [call for call in calls if call.kind is not CallKind.SERVER]
        readings: Readings = [self._server_call(call, keys) for call in server]
        if client:
            self.state.round += 1
            readings += self._client_calls(client, keys)
        self.state.limit()
        return readings

    def _server_call(self, call: SessionCall, keys: Mapping[str, LoopKey]) -> Reading | Uncounted:
        tool = SERVER + call.name
        identity = _server_identity(tool, call.arguments, keys.get(tool, ALL_ARGUMENTS))
        if identity.fingerprint is None:
            return self._uncounted(call, tool, identity)
        servers = self.state.servers
        streak, duplicate = count_server_call(
            servers.pop(tool, None), identity.fingerprint, self.state.round
        )
        servers[tool] = streak
        counts = streak.now
        return Reading(
            rule=NAME,
            detection=Detection.SERVER_TOOL,
            agent=call.agent,
            streak=counts.of(identity.fingerprint),
            fingerprint=identity.fingerprint,
            message=messages.repeated_call(tool),
            tool=tool,
            call_id=call.id,
            arguments=identity.parsed,
            duplicate=duplicate,
        )

    def _client_calls(self, calls: Sequence[SessionCall], keys: Mapping[str, LoopKey]) -> Readings:
        identities = [
            identify(call.name, call.arguments, keys.get(call.name, ALL_ARGUMENTS))
            if call.kind is CallKind.CLIENT
            else _EXEMPT
            for call in calls
        ]
        state = self.state
        state.last, state.ids = {}, {}
        for call, identity in zip(calls, identities, strict=True):
            if identity.fingerprint is None:
                continue
            if call.name not in state.last:
                state.last[call.name] = LastCalls(state.tools.pop(call.name, None), [])
            state.last[call.name].calls.append(identity.fingerprint)
            if call.id:
                state.ids[call.id] = call.name, identity.fingerprint
        for tool in state.last:
            self._count_tool(tool)
        cycle = self._count_cycle()
        readings = list(self._readings(calls, identities))
        if cycle is not None:
            readings += _cycle_reading(cycle, readings)
        return readings

    def _count_tool(self, tool: str) -> None:
        """Count the last round's calls of one tool, on top of what there was before."""
        before, calls = self.state.last[tool]
        counted = self.state.tools.pop(tool, None)
        if not calls:
            if before is not None:
                self.state.tools[tool] = before
            return
        past = before.results if before is not None else NOTHING
        counts = count_round(
            before.counts if before is not None else None,
            calls,
            fresh=[call for call, results in past.items() if results.changed],
            failing=[call for call, results in past.items() if results.passing],
        )
        results = {call: past[call].shift() for call in counts.members if call in past}
        if counted is not None:  # counted again: what has come since still holds
            results |= {c: r for c, r in counted.results.items() if r.last and c in counts.calls}
        self.state.tools[tool] = ToolRecord(counts, results)

    def _count_cycle(self) -> Cycle | None:
        sets = {tool: sorted({*last.calls}) for tool, last in self.state.last.items() if last.calls}
        if not sets:
            return None
        key = fingerprint([[tool, sets[tool]] for tool in sorted(sets)])
        return self.state.cycles.add(key, ", ".join(sets)[:_TOOLS_SHOWN])

    def _readings(
        self, calls: Sequence[SessionCall], identities: Sequence[Identity]
    ) -> Iterator[Reading | Uncounted]:
        seen: set[tuple[str, str]] = set()
        for call, identity in zip(calls, identities, strict=True):
            if identity.fingerprint is None:
                yield self._uncounted(call, call.name, identity)
                continue
            same = call.name, identity.fingerprint
            yield self._reading(call, identity.fingerprint, identity.parsed, same in seen)
            seen.add(same)

    def _reading(
        self,
        call: SessionCall,
        fingerprint: str,
        arguments: Mapping[str, Any] | None,
        duplicate: bool,
    ) -> Reading:
        counts = self.state.tools[call.name].counts
        streak = counts.of(fingerprint)
        if counts.streak >= streak:
            message = messages.repeated_round(call.name, counts)
        else:
            message = messages.repeated_call(call.name)
        return Reading(
            rule=NAME,
            detection=Detection.TOOL,
            agent=call.agent,
            streak=streak,
            fingerprint=fingerprint,
            message=message,
            tool=call.name,
            call_id=call.id,
            arguments=arguments,
            duplicate=duplicate,
        )

    def _uncounted(self, call: SessionCall, tool: str, identity: Identity) -> Uncounted:
        reason = EXEMPT if identity.exempt else UNHASHABLE
        if call.kind in (CallKind.MANUAL, CallKind.DENIED):
            reason = call.kind.value
        self.warnings += (f'the tool "{tool}": {warning}' for warning in identity.warnings)
        return Uncounted(NAME, call.agent, tool, call.id, reason)

    def result(self, event: SessionResult) -> None:
        """Take note of the result of a call of the last round; others come too late to count."""
        state = self.state
        if event.call_id not in state.ids:
            return
        tool, call = state.ids[event.call_id]
        if event.denied:
            self._forget(event.call_id, tool, call)
        elif self._compare and tool in state.tools:
            counts, results = state.tools[tool]
            added = results.get(call, NO_RESULTS).add(event.text, event.is_error)
            state.tools[tool] = ToolRecord(counts, {**results, call: added})
            state.cycles.add_result(digest(event.text, event.is_error))

    def _forget(self, call_id: str, tool: str, call: str) -> None:
        """Count the last round again without a call that was refused."""
        del self.state.ids[call_id]
        last = self.state.last.get(tool)
        if last is not None and call in last.calls:
            last.calls.remove(call)
            self._count_tool(tool)
            self.state.cycles.undo()
            self._count_cycle()


def _server_identity(tool: str, item: str, key: LoopKey) -> Identity:
    """Return the identity of a server's request: all that is not its id, its state or its result.

    A request with nothing else in it has none.
    """
    try:
        whole = material(item)
    except UnhashableError:
        return Identity(None)
    if isinstance(whole.value, dict):
        kept = {name: value for name, value in whole.value.items() if name not in _SERVER_NOISE}
        if not kept:
            return _EXEMPT
        whole = whole._replace(value=kept)
    return identity_of(tool, whole, key)


def _cycle_reading(cycle: Cycle, readings: Readings) -> Iterator[Reading]:
    """Yield the reading of a cycle, unless one of its calls is a longer streak already."""
    counted = [reading for reading in readings if isinstance(reading, Reading)]
    if cycle.times > max(reading.streak for reading in counted):
        yield counted[0]._replace(
            detection=Detection.CYCLE,
            streak=cycle.times,
            fingerprint=fingerprint([one.key for one in cycle.rounds]),
            message=messages.repeated_cycle(cycle),
            arguments=None,
        )
