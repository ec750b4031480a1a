"""Turns what the records of a session say into events, in the order that rules rely on.

Every rule for sessions wants the words and calls of a reply first, then its
``RoundEnd``, and the results of the calls after it. Programs write otherwise:
Claude Code writes a reply as several records, one block each, and starts a tool
before the reply is complete, so that results stand between the calls of one
reply. Hence the theory of this file:

- Each agent has at most one open round. A dialect opens it with ``begin``,
  under the id of the reply if the format has one, and adds words and calls.
- A result that arrives while the round is open waits for its end; one that
  arrives later goes out at once.
- A round ends when the dialect says so, when another reply of the same agent
  begins, when the user speaks, or when the input ends. A reply whose id comes
  again after its end goes on in a round of its own, but is no new message.

All state is capped: the agents, and the text of results that wait.
"""

from __future__ import annotations

from loopcli.events import Channel, Event, Lane, Text
from loopcli.lenient_json import dump_text
from loopcli.readers.collector import Collector
from loopcli.session_events import (
    CallKind,
    RoundEnd,
    RoundRestart,
    SessionCall,
    SessionResult,
    SessionStart,
    UserMessage,
)

# A session has a handful of subagents at a time; the oldest is closed for a new one.
MAX_AGENTS = 256
# The results of one reply that wait for its end: far above what a model can be
# given back. Beyond it the round ends early.
MAX_HELD_CHARS = 16 * 1024 * 1024
# Calls without an id that wait for their result.
MAX_UNNAMED = 1024
# Makes a named tuple in half the time that its own constructor takes: a session
# has one or two for every record. It wants every field, in order.
_new = tuple.__new__


class _Round:
    __slots__ = ("blocks", "held", "key", "line", "open", "results", "unnamed")

    def __init__(self, key: str, line: int) -> None:
        self.key = key
        self.open = True
        self.blocks = 0
        self.line = line
        # The ids that were made for calls without one, and have no result yet.
        self.unnamed: list[str] = []
        self.results: list[SessionResult] = []
        self.held = 0


class RecordMarks:
    """Marks of a text that one record brought: the input may be cut after that record."""

    __slots__ = ("_byte",)

    def __init__(self, byte: int) -> None:
        self._byte = byte

    def byte_after(self, chars: int) -> int:
        """Return where the record ends."""
        return self._byte


class SessionCollector:
    """Gathers the events of one session; ``line`` and ``byte`` are where its reader stands."""

    def __init__(
        self, *, max_agents: int = MAX_AGENTS, max_held_chars: int = MAX_HELD_CHARS
    ) -> None:
        self._events: list[Event] = []
        self._deltas = Collector()
        self._streaming = False  # deltas wait to be joined
        self._rounds: dict[str, _Round] = {}
        self._max_agents = max_agents
        self._max_held = max_held_chars
        self.line = 0
        self.byte = 0
        self.progress = 0
        # What the format itself calls messages of the model, calls and results.
        self.messages = 0
        self.calls = 0
        self.results = 0

    def begin(self, agent: str = "", key: str = "") -> bool:
        """Open the round of a reply, or go on with it; return whether the reply is a new one.

        ``key`` is the reply's id. Without one, an open round goes on.
        """
        held = self._rounds.get(agent)
        if held is None:
            if len(self._rounds) >= self._max_agents:
                self._drop(next(iter(self._rounds)))
            self._rounds[agent] = _Round(key, self.line)
            return True
        if held.open:
            if held.key == key:
                held.line = self.line
                return False
            self.end(agent)
        fresh = not key or held.key != key
        held.key, held.open, held.blocks, held.line = key, True, 0, self.line
        held.unnamed.clear()
        return fresh

    def is_open(self, agent: str = "") -> bool:
        """Return whether a reply of this agent has begun and not ended."""
        held = self._rounds.get(agent)
        return held is not None and held.open

    def say(self, text: object, channel: Channel = Channel.CONTENT, agent: str = "") -> None:
        """Add a whole text that the model wrote, as a lane of its own."""
        if not text or not isinstance(text, str):
            return
        if self._streaming:
            self._join()
        held = self._rounds.get(agent)
        block = 0
        if held is not None:
            block, held.blocks, held.line = held.blocks, held.blocks + 1, self.line
        lane = _new(Lane, (channel, 0, block, "", agent))
        self._events.append(_new(Text, (lane, text, RecordMarks(self.byte), None)))

    def delta(
        self,
        text: object,
        channel: Channel = Channel.CONTENT,
        agent: str = "",
        block: int = 0,
        tool: str = "",
    ) -> None:
        """Add a piece of a text that the model is writing, in the lane of its block."""
        if text and isinstance(text, str):
            self._streaming = True
            self._deltas.add_text(Lane(channel, 0, block, tool, agent), text, self.byte)

    def call(
        self,
        name: object,
        arguments: object,
        ident: object = "",
        agent: str = "",
        kind: CallKind = CallKind.CLIENT,
        *,
        spoken: bool = False,
    ) -> None:
        """Add a call; arguments that are no text are written as JSON.

        A call without an id is given one. ``spoken`` says that the words of its
        arguments have been added as deltas.
        """
        tool = name if isinstance(name, str) else ""
        text = arguments if isinstance(arguments, str) else dump_text(arguments)
        self.calls += 1
        call_id = ident if isinstance(ident, str) and ident else self._made_id(agent)
        where = kind, self.line, self.byte, spoken
        if self._streaming:
            self._join()
        self._events.append(_new(SessionCall, (agent, tool, text, call_id, *where)))

    def _made_id(self, agent: str) -> str:
        made = f"#{self.calls}"
        held = self._rounds.get(agent)
        if held is not None and len(held.unnamed) < MAX_UNNAMED:
            held.unnamed.append(made)
        return made

    def result(
        self,
        ident: object,
        text: str,
        agent: str = "",
        is_error: bool = False,
        denied: bool = False,
    ) -> None:
        """Add what a call came to, once the round that it belongs to has ended.

        A result without an id is that of the first call without one.
        """
        held = self._rounds.get(agent)
        call_id = ident if isinstance(ident, str) else ""
        if not call_id and held is not None and held.unnamed:
            call_id = held.unnamed.pop(0)
        where = self.line, self.byte
        event = _new(SessionResult, (agent, call_id, text, is_error, *where, denied))
        self.results += 1
        if held is None or not held.open:
            self.add(event)
            return
        held.results.append(event)
        held.held += len(text)
        if held.held > self._max_held:
            self.end(agent)

    def end(self, agent: str = "") -> None:
        """End the open round of an agent, if it has one, and let the results out."""
        held = self._rounds.get(agent)
        if held is None or not held.open:
            return
        held.open = False
        if self._streaming:
            self._join()
        self._events.append(_new(RoundEnd, (agent, held.line, self.byte)))
        if held.results:
            self._events += held.results
            held.results, held.held = [], 0

    def restart(self, agent: str = "") -> None:
        """Give up the reply in progress: what was said of it is said anew."""
        held = self._rounds.get(agent)
        if held is not None and held.open:
            held.blocks = 0
            self._join()
            self._deltas.restart()
            self.add(RoundRestart(agent, self.line, self.byte))

    def user(self, text: str, agent: str = "") -> None:
        """Add a message of the user, which ends the round before it."""
        self.end(agent)
        self.add(UserMessage(agent, text, self.line, self.byte))

    def start(self, session: str) -> None:
        """Begin another session."""
        for agent in list(self._rounds):
            self._drop(agent)
        self.add(SessionStart(session, self.line, self.byte))

    def add(self, event: Event) -> None:
        """Add an event as it is."""
        if self._streaming:
            self._join()
        self._events.append(event)

    def close(self) -> None:
        """End every open round: the input has ended."""
        self._deltas.close()
        self._streaming = True
        for agent in self._rounds:
            self.end(agent)

    def take(self) -> list[Event]:
        """Return what has been gathered and begin anew."""
        if self._streaming:
            self._join()
        events, self._events = self._events, []
        self.progress += len(events)
        return events

    def _join(self) -> None:
        self._events += self._deltas.take()
        self._streaming = False

    def _drop(self, agent: str) -> None:
        self.end(agent)
        del self._rounds[agent]
