"""Reading whole sessions in tests, and what a session of the fixtures must be read as."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from loopcli.events import Channel, Event, Text
from loopcli.session_events import (
    RoundEnd,
    RoundRestart,
    SessionCall,
    SessionResult,
    SessionStart,
    UserMessage,
)
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.sniff import Sniffed, sniff

Heard = tuple[Any, ...]


def sniffed(data: bytes) -> Sniffed:
    """What a whole input is recognised as."""
    found = sniff(data, final=True)
    assert found is not None
    return found


def events_of(data: bytes, sizes: Iterable[int] = (), name: str = "") -> list[Event]:
    """All events of an input, read in pieces of the given sizes; the rest is one piece."""
    reader = SessionReader(name, "ndjson") if name else SessionReader(*sniffed(data))
    events, at = [], 0
    for size in sizes:
        events += reader.feed(data[at : at + size])
        at += size
        if at >= len(data):
            break
    return events + reader.feed(data[at:]) + reader.close()


def heard(events: Iterable[Event]) -> list[Heard]:
    """What events say, deltas of one text joined: kind, agent, and what was said."""
    said: list[Heard] = []
    lane = None
    for event in events:
        match event:
            case Text() if event.lane == lane:
                said[-1] = (*said[-1][:2], said[-1][2] + event.text)
            case Text():
                said.append((event.lane.channel.value, event.lane.agent, event.text))
            case SessionCall():
                arguments = json.loads(event.arguments)
                said.append(("call", event.agent, event.name, arguments))
            case RoundEnd() | RoundRestart():
                said.append((type(event).__name__, event.agent))
            case SessionResult():
                said.append(("result", event.agent, event.text, event.is_error))
            case UserMessage():
                said.append(("user", event.agent, event.text))
            case SessionStart():
                said.append(("start", "", event.session))
        lane = event.lane if isinstance(event, Text) else None
    return said


def read(data: bytes, sizes: Iterable[int] = ()) -> list[Heard]:
    """What an input says, without the words of calls that streamed."""
    said = heard(events_of(data, sizes))
    return [item for item in said if item[0] != Channel.TOOL_ARGS.value]


def tool_of(call: Any, form: Any) -> str:
    """The name that a form has for the tool of a call."""
    if form.name == "swe-agent":
        return str(call.arguments["command"]).split()[0]
    return str(form.tool or call.name)


def wanted(session: Any, form: Any) -> list[Heard]:
    """What a form holds of a session of the fixtures, in the order of a session."""
    said: list[Heard] = [("user", "", session.user)] if form.users else []
    for turn in session.turns:
        calls = turn.calls[:1] if form.single else turn.calls
        words = [("reasoning", "", turn.reasoning)] if form.reasoning and turn.reasoning else []
        fence = "".join(f"\n```mswea_bash_command\n{c.arguments['command']}\n```" for c in calls)
        if form.text and turn.text:
            words.append(("content", "", turn.text + fence * (form.name == "mini-swe-agent")))
        results = [
            ("result", "", call.result, call.error and form.errors)
            for call in (calls if form.results else ())
        ]
        asked = [("call", "", tool_of(call, form), call.arguments) for call in calls]
        asked = asked if form.calls else []
        if form.alone:
            said += words
            for at, call in enumerate(asked):
                said += [call, ("RoundEnd", ""), *results[at : at + 1]]
            said += [] if asked or not words else [("RoundEnd", "")]
        else:
            said += [*words, *asked, ("RoundEnd", ""), *results]
    return said
