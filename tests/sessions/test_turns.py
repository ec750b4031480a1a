"""Turns, the form of a session that is our own: heads, turns, results, whole sessions in a line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers import cut
from hypothesis import given
from hypothesis import strategies as st

from loopcli.events import BrokenRecord, Channel, Event, Text
from loopcli.session_events import (
    CallKind,
    RoundEnd,
    SessionCall,
    SessionOptions,
    SessionResult,
    SessionStart,
    UserMessage,
)
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.table import recognise


def read(*lines: Any, sizes: list[int] | None = None) -> list[Event]:
    """The events of lines; what is no text is written as JSON."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    reader = SessionReader("turns")
    events = [event for piece in cut(text, sizes or []) for event in reader.feed(piece.encode())]
    return events + reader.close()


def kinds(events: list[Event]) -> list[str]:
    """The names of the events' classes."""
    return [type(event).__name__ for event in events]


def calls(*turns: Any) -> list[SessionCall]:
    """The calls of turns."""
    return [event for event in read({"tools": []}, *turns) if isinstance(event, SessionCall)]


def test_a_turn_in_the_order_that_rules_rely_on() -> None:
    turn = {
        "results": ["done"],
        "calls": [{"name": "bash", "args": {"command": "ls"}}],
        "server": [{"type": "web_search_call", "id": "w1", "action": {"query": "dogs"}}],
        "text": "Let me look.",
        "reasoning": "Hm.",
        "user": "Go on.",
    }
    user, reasoning, text, search, call, end, result = read(turn)
    assert isinstance(user, UserMessage)
    assert user.text == "Go on."
    assert isinstance(reasoning, Text)
    assert (reasoning.lane.channel, reasoning.text) == (Channel.REASONING, "Hm.")
    assert isinstance(text, Text)
    assert (text.lane.channel, text.text) == (Channel.CONTENT, "Let me look.")
    assert isinstance(search, SessionCall)
    assert (search.name, search.id, search.kind) == ("web_search_call", "w1", CallKind.SERVER)
    assert json.loads(search.arguments) == turn["server"][0]  # type: ignore[index]
    assert isinstance(call, SessionCall)
    assert (call.name, call.arguments, call.kind) == (
        "bash",
        '{"command":"ls"}',
        CallKind.CLIENT,
    )
    assert isinstance(end, RoundEnd)
    assert isinstance(result, SessionResult)
    assert (result.call_id, result.text) == (call.id, "done")


@pytest.mark.parametrize(
    ("head", "options", "keys"),
    [
        ({}, {}, {}),
        ({"doomLoop": {"ladder": {"stop": 4}}}, {"ladder": {"stop": 4}}, {}),
        ({"doomLoop": True, "tools": [{"name": "a", "loopKey": False}, 5]}, {}, {"a": False}),
        ({"tools": [{"name": "a"}, {"name": "b", "loopKey": ["q"]}]}, {}, {"a": None, "b": ["q"]}),
        ({"tools": "none", "doomLoop": None}, {}, {}),
    ],
)
def test_a_head(head: Any, options: Any, keys: Any) -> None:
    (event,) = read(head)
    assert isinstance(event, SessionOptions)
    assert (event.options, event.loop_keys) == (options, keys)


def test_a_named_head_begins_a_session_and_so_does_every_later_one() -> None:
    events = read({"id": "one"}, {"text": "a"}, {"tools": []}, {"text": "b"}, {"id": "three"})
    starts = [event.session for event in events if isinstance(event, SessionStart)]
    assert starts == ["one", "2", "three"]
    assert kinds(events)[:4] == ["SessionStart", "SessionOptions", "Text", "RoundEnd"]


def test_only_the_first_line_may_be_an_empty_head() -> None:
    assert kinds(read({}, {}, {"agent": "a"})) == ["SessionOptions", "RoundEnd"]


def test_a_line_with_a_whole_session() -> None:
    session = {"id": "s", "doomLoop": {}, "turns": [{"text": "a"}, {}, {"text": "b"}], "expect": 1}
    one, other = [session] * 2, [{"id": "s", "doomLoop": {}}, *session["turns"]] * 2  # type: ignore[list-item, misc]
    assert kinds(read(*one)) == kinds(read(*other))
    assert kinds(read(session)) == [
        "SessionStart",
        "SessionOptions",
        *["Text", "RoundEnd", "RoundEnd", "Text", "RoundEnd"],
    ]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ({"name": "t", "args": {"n": 1.0}}, '{"n":1.0}'),
        ({"name": "t", "args": "abc"}, '"abc"'),
        ({"name": "t", "args": None}, "null"),
        ({"name": "t", "raw": '{"n": '}, '{"n": '),
        ({"name": "t", "raw": "", "args": {"n": 1}}, ""),
        ({"name": "t"}, ""),
        ({"name": 5}, ""),
    ],
)
def test_arguments(call: Any, arguments: str) -> None:
    (found,) = calls({"calls": [call]})
    assert found.arguments == arguments


def test_kinds_and_ids_of_calls() -> None:
    found = calls(
        {"calls": [{"name": "a", "kind": "denied", "id": "x"}, {"name": "b", "kind": "odd"}]},
        {"calls": [{"name": "c", "kind": "manual"}]},
    )
    assert [call.kind for call in found] == ["denied", "client", "manual"]
    assert found[0].id == "x"
    assert len({call.id for call in found}) == 3


def test_results_answer_calls_by_id_or_in_turn() -> None:
    three = [{"name": "t", "id": ident} for ident in "abc"]
    lines = (
        {"calls": three, "results": [{"id": "b", "text": "two", "is_error": True}]},
        {"results": ["one", {"text": "three", "denied": True}, "too many"]},
    )
    results = [event for event in read(*lines) if isinstance(event, SessionResult)]
    assert [(r.call_id, r.text, r.is_error, r.denied) for r in results] == [
        ("b", "two", True, False),
        ("a", "one", False, False),
        ("c", "three", False, True),
        ("", "too many", False, False),
    ]


def test_agents_and_lines_without_a_reply() -> None:
    events = read({"user": "Hi."}, {"agent": "sub", "text": "a"}, {"agent": "sub", "results": []})
    assert kinds(events) == ["UserMessage", "Text", "RoundEnd"]
    assert [getattr(event, "agent", "") for event in events] == ["", "", "sub"]


def test_odd_lines_cost_only_themselves() -> None:
    events = read("{bad", "[1]", "5", {"calls": 7, "server": "x", "text": 8, "results": 9})
    assert [kind for kind in kinds(events) if kind != "BrokenRecord"] == ["RoundEnd"]
    assert isinstance(events[0], BrokenRecord)


def test_lines_and_bytes() -> None:
    lines = [json.dumps({"tools": []}), json.dumps({"text": "a"}), json.dumps({"text": "b"})]
    ends = [event for event in read(*lines) if isinstance(event, RoundEnd)]
    assert [event.line for event in ends] == [2, 3]
    assert [event.byte for event in ends] == [
        len(lines[0]) + len(lines[1]) + 2,
        sum(map(len, lines)) + 2,
    ]


TURN: dict[str, Any] = {
    "text": "é🎉",
    "calls": [{"name": "t", "args": {"q": "x"}}],
    "results": ["r"],
    "user": "u",
}


@given(st.lists(st.integers(1, 40), max_size=30))
def test_chunks_do_not_matter(sizes: list[int]) -> None:
    def plain(events: list[Event]) -> list[Any]:
        return [(event.lane, event.text) if isinstance(event, Text) else event for event in events]

    lines = [{"doomLoop": {}}, TURN, {"id": "next", "turns": [TURN, {}]}]
    assert plain(read(*lines, sizes=sizes)) == plain(read(*lines))


def test_it_is_recognised_where_it_cannot_be_anything_else() -> None:
    assert recognise({"doomLoop": {}}) == recognise({"turns": []}) == "turns"
    assert recognise({"text": "a"}) != "turns"
