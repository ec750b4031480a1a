"""The streaks rule: the document's traces turn by turn, and the texts for the model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_scripts import (
    Call,
    Script,
    ladder,
    server_item,
    session_call,
    streaks,
    verdicts,
)

from loopcli.actions import Action
from loopcli.identity import fingerprint
from loopcli.rules.streaks.rule import StreaksRule
from loopcli.session_events import CallKind, RoundEnd, RoundRestart, SessionResult, SessionStart
from loopcli.session_verdicts import JudgedRound, Reading, Uncounted

X: Call = ("search", {"q": "x"})
Y: Call = ("search", {"q": "y"})
A, B, C, D = (("read", {"path": name}) for name in "abcd")


def play(*turns: tuple[Call, ...], script: Script | None = None) -> list[JudgedRound]:
    """Judge turns that consist of calls."""
    script = script or Script()
    return [script.turn(*calls) for calls in turns]


def of_calls(judged: JudgedRound) -> list[str]:
    """What follows for each call of a round in turn: `-`, or the action and the streak."""
    return [
        f"{item.verdict.action}@{item.verdict.reading.streak}" if item.verdict else "-"
        for item in judged.items
    ]


# --- The document's traces -----------------------------------------------------------------------

TRACES: dict[str, tuple[list[tuple[Call, ...]], list[str]]] = {
    "the same call every turn": (
        [(X,)] * 6,
        ["-", "observe@2", "block@3", "block@4", "block@5", "stop@6"],
    ),
    "five identical calls a turn": (
        [(X,) * 5] * 3,
        ["- - - - -", " ".join(["observe@2"] * 5), " ".join(["block@3"] * 5)],
    ),
    "other tools in between change nothing": (
        [(X,), (("fetch", {"n": 0}),), (X,), (("fetch", {"n": 1}),), (X,)],
        ["-", "-", "observe@2", "-", "block@3"],
    ),
    "one call repeats beside new ones": (
        [(A, B), (A, C), (A, D)],
        ["- -", "observe@2 -", "block@3 -"],
    ),
    "a set that grows": (
        [(A, B), (A, B), (A, B, C)],
        ["- -", "observe@2 observe@2", "block@3 block@3 -"],
    ),
    "a set that shrinks": (
        [(A, B, C), (A, B), (A, B)],
        ["- - -", "observe@2 observe@2", "block@3 block@3"],
    ),
    "a set that grows each turn": (
        [(A,), (A, B), (A, B, C), (A, B, C, D)],
        ["-", "observe@2 -", "block@3 observe@2 -", "block@4 block@3 observe@2 -"],
    ),
    "two calls of one tool in turn": ([(A,), (B,)] * 5, ["-"] * 10),
    "the same broken call": (
        [(("t", '{"q": '),)] * 6,
        ["-", "observe@2", "block@3", "block@4", "block@5", "stop@6"],
    ),
    "empty calls are all the same": (
        [(("list", text),) for text in ("", "{}", "   ", "{}")],
        ["-", "observe@2", "block@3", "block@4"],
    ),
    "what cannot be hashed": ([(("t", '{"x":1e400}'),)] * 7, ["-"] * 7),
    "keys in another order": (
        [(("t", '{"a":1,"b":2}'),), (("t", '{"b": 2.0, "a": 1}'),)],
        ["-", "observe@2"],
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_the_traces_of_the_document(name: str) -> None:
    turns, wanted = TRACES[name]
    assert [" ".join(of_calls(judged)) for judged in play(*turns)] == wanted


def test_five_equal_calls_of_a_turn_are_one_event() -> None:
    assert [verdicts(judged) for judged in play(*[(X,) * 5] * 3)] == [
        [],
        ["observe@2"],
        ["block@3"],
    ]


def test_the_order_of_calls_in_a_round_does_not_matter() -> None:
    for turns in ([(A, B), (B, A)], [(A, B, A), (B, A, B)]):
        assert set(of_calls(play(*turns)[1])) == {"observe@2"}


def test_loop_keys() -> None:
    def bash(verbose: int, cwd: str = "/a") -> Call:
        return "bash", {"command": "ls", "cwd": cwd, "verbose": verbose}

    script = Script(tools={"bash": ["command", "cwd"], "check": False})
    judged = play((bash(1),), (bash(2),), (bash(3),), (bash(4, "/b"),), script=script)
    assert [of_calls(one)[0] for one in judged] == ["-", "observe@2", "block@3", "-"]
    exempt = play(*[(("check", {"id": 7}),)] * 9, script=script)
    assert [streaks(one) for one in exempt] == [[]] * 9


def test_the_built_in_task_is_exempt_unless_it_is_declared() -> None:
    task: Call = ("task", {"prompt": "Look around."})
    assert [streaks(one) for one in play((task,), (task,), (("task", "{bad"),))] == [[], [], []]
    declared = Script(tools={"task": None})
    assert [streaks(one) for one in play((task,), (task,), script=declared)] == [[1], [2]]


@pytest.mark.parametrize("kind", [CallKind.MANUAL, CallKind.DENIED])
def test_calls_that_the_agent_did_not_run_do_not_count(kind: CallKind) -> None:
    script = Script()
    for _ in range(3):
        judged = script.turn(session_call(*X, kind=kind))
        assert [item.reading for item in judged.items] == [
            Uncounted("streaks", "", "search", "", kind.value)
        ]
    assert streaks(script.turn(X)) == [1]
    assert streaks(script.turn(session_call(*X, kind=kind), X)) == [2]


def test_a_refusal_that_is_known_only_afterwards() -> None:
    script = Script()
    script.turn(X)
    refused = SessionResult("", "", "no", True, 1, 1, denied=True)
    assert streaks(script.turn(X, results=[refused])) == [2]
    assert streaks(script.turn(X)) == [2]
    # Of two calls of a round only one was refused.
    assert streaks(script.turn(X, Y, results=["fine", refused])) == [3, 1]
    assert script.judge.document()["tools"]["search"]["streak"] == 3
    assert streaks(script.turn(Y)) == [1]


def test_a_reply_that_is_given_up_does_not_count() -> None:
    script = Script()
    script.turn(X)
    script.judge.update(session_call(*X))
    script.judge.update(RoundRestart("", 1, 1))
    assert streaks(script.turn(X)) == [2]


def test_agents_are_counted_apart() -> None:
    script = Script()
    for turn in range(1, 4):
        for agent in ("", "one", "two"):
            judged = script.turn(session_call(*X, agent=agent), agent=agent)
            assert streaks(judged) == [turn]
    assert script.judge.document("one") == script.judge.document("")
    assert script.judge.document("three") == {"tools": {}}


def test_another_session_begins_from_nothing() -> None:
    script = Script(tools={"search": False})
    script.turn(X)
    outputs = script.judge.update(SessionStart("next", 1, 1))
    assert [type(output).__name__ for output in outputs] == ["SessionTotals"]
    assert streaks(script.turn(X)) == [1]


# --- Requests that a server carries out ----------------------------------------------------------


def test_a_server_that_searches_the_same_every_turn() -> None:
    script = Script()
    wanted = ["", *(f"observe@{n}" for n in range(2, 6)), "stop@6"]
    for turn, verdict in enumerate(wanted):
        judged = script.turn(server_item("dogs"), ("read", {"n": turn}))
        assert verdicts(judged) == [verdict][: bool(verdict)]


def test_equal_items_of_one_reply_count_once() -> None:
    script = Script()
    for streak in (1, 2):
        judged = script.turn(server_item("dogs", id="a"), server_item("dogs", id="b"), X)
        assert streaks(judged)[:2] == [streak, streak]
        assert [
            item.reading.duplicate for item in judged.items if isinstance(item.reading, Reading)
        ][:2] == [False, True]


def test_what_the_server_adds_is_no_part_of_the_request() -> None:
    script = Script()
    script.turn(server_item("dogs", id="1", status="completed", results=[1]), X)
    assert streaks(script.turn(server_item("dogs", id="2", error="no", output="3"), X))[0] == 2
    assert streaks(script.turn(server_item("dogs", foo=1), X))[0] == 1
    bare = session_call("image_call", {"type": "image_call", "id": "5"}, kind=CallKind.SERVER)
    assert streaks(script.turn(bare)) == []


def test_replies_without_calls_of_the_agent_are_of_one_round_until_the_user_speaks() -> None:
    script = Script()
    assert [streaks(script.turn(server_item("dogs"))) for _ in range(3)] == [[1]] * 3
    for streak in (2, 3, 4):
        script.user()
        judged = script.turn(server_item("dogs"))
        assert streaks(judged) == [streak]
    assert verdicts(judged) == ["observe@4"]


def test_a_request_cannot_be_blocked() -> None:
    script = Script(ladder(block=2))
    assert [verdicts(script.turn(server_item("dogs"), (f"t{n}", ""))) for n in range(4)] == [[]] * 4


# --- What the model is given ---------------------------------------------------------------------


def last_message(*turns: tuple[Call, ...]) -> str:
    """The text of the last verdict."""
    return play(*turns)[-1].verdicts[-1].message


def test_the_text_for_a_repeated_call() -> None:
    text = last_message(*[(X,)] * 3)
    assert text.startswith("Doom loop suspected: ")
    assert '"search" was called in 3 consecutive rounds with identical arguments' in text
    assert "(fingerprint 861414cc795606f5…)" in text


@pytest.mark.parametrize(("size", "more"), [(2, "…"), (3, "…"), (5, "+2 more…")])
def test_the_text_for_a_repeated_set(size: int, more: str) -> None:
    calls = tuple(("read", {"n": n}) for n in range(size))
    prints = sorted(fingerprint({"n": float(n)}, "read")[:8] for n in range(size))
    text = last_message(*[calls] * 4)
    assert f"in 4 consecutive rounds with the same set of {size} calls" in text
    assert f"(round identity {'+'.join(prints[:3])}{more})" in text


def test_the_text_for_one_call_of_changing_rounds_has_no_figures() -> None:
    text = last_message((A, B), (A, C), (D, A))
    assert 'this exact "read" call' in text
    assert not any(char.isdigit() for char in text)


def test_a_reading_holds_arguments_that_are_an_object() -> None:
    for arguments, kept in (('{"q":"x"}', {"q": "x"}), ("[1]", None), ("{bad", None)):
        (item,) = play((("t", arguments),))[0].items
        assert isinstance(item.reading, Reading)
        assert item.reading.arguments == kept


# --- Bounds --------------------------------------------------------------------------------------


def test_its_state_does_not_grow_with_the_session() -> None:
    rule = StreaksRule()
    sizes = []
    for number in range(1, 6001):
        agent, tool = f"agent-{number}", f"tool-{number}"
        rule.update(session_call(tool, {"n": number}, f"id-{number}", agent=agent))
        rule.update(RoundEnd(agent, 1, 1))
        rule.update(session_call(tool, {"n": number}, f"id-{number}"))
        rule.update(server_item(str(number)))
        rule.update(RoundEnd("", 1, 1))
        if number in (3000, 6000):
            sizes.append(len(json.dumps(rule.snapshot())))
    assert sizes[1] <= sizes[0] * 1.02


def test_a_round_of_too_many_calls_is_judged_as_far_as_memory_goes() -> None:
    rule = StreaksRule()
    for number in range(3000):
        rule.update(session_call("t", {"n": number}))
    readings = rule.update(RoundEnd("", 1, 1))
    assert len(readings) == 1025
    assert readings[-1] == Uncounted("streaks", "", "t", "", "too-many")


def test_agents_that_never_end_a_round_are_forgotten() -> None:
    rule = StreaksRule()
    for number in range(1000):
        rule.update(session_call("t", {}, agent=f"agent-{number}"))
    assert len(rule.snapshot()["open"]) == 256


HOSTILE: list[Any] = [
    None,
    [],
    "state",
    {},
    {"tools": []},
    {"tools": {"t": 5}},
    {"tools": {"t": {"fingerprint": 5, "streak": 2}}},
    {"tools": {"t": {"fingerprint": "f", "streak": "2"}}},
    {"tools": {"t": {"fingerprint": "f", "streak": float("inf")}}},
]


@pytest.mark.parametrize("state", HOSTILE)
def test_an_odd_state_of_the_document_is_left_out(state: Any) -> None:
    rule = StreaksRule()
    rule.restore_document("", state if isinstance(state, dict) else {"tools": state})
    assert rule.document("") == {"tools": {}}


def test_figures_out_of_range_are_brought_into_it() -> None:
    rule = StreaksRule()
    state = {
        "__proto__": {"fingerprint": "f", "streak": -4},
        "t": {"fingerprint": "f", "streak": 1e12, "callStreaks": {"f": 2.9, "g": 0, "h": "x"}},
        "u": {"fingerprint": "f", "streak": 2.7, "roundFingerprints": ["g", 5, "f"]},
    }
    rule.restore_document("", {"tools": state})
    assert rule.document("")["tools"] == {
        "__proto__": {"fingerprint": "f", "streak": 1},
        "t": {"fingerprint": "f", "streak": 1_000_000, "callStreaks": {"f": 2}},
        "u": {"fingerprint": "f", "streak": 2, "roundFingerprints": ["f", "g"]},
    }


def test_a_persisted_streak_goes_on() -> None:
    same = fingerprint({"q": "x"}, "search")
    script = Script(resumed={"tools": {"search": {"fingerprint": same, "streak": 2}}})
    assert verdicts(script.turn(X)) == ["block@3"]


def test_gauge_and_peak() -> None:
    rule = StreaksRule()
    assert (rule.gauge, rule.peak.value, rule.ceiling) == (0, 0, 6)
    for call in (X, X, X, Y):
        rule.update(session_call(*call))
        rule.update(RoundEnd("", 1, 1))
    assert (rule.gauge, rule.peak.value, rule.peak.repeated) == (1, 3, ("search",))
    assert Action.STOP.strength > Action.BLOCK.strength > Action.ESCALATE.strength
