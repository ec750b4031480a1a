"""What follows from streaks: escalation, overrides, stops, resumed sessions, several agents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_scripts import Call, Script, ladder, server_item, session_call, verdicts

from loopcli.actions import Action
from loopcli.loop_keys import LoopKey
from loopcli.rules.streaks.config import StreaksConfig
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import JudgedRound, SessionConfig, SessionTotals

X: Call = ("search", {"q": "x"})
MODEL = SessionSetup(model="large")


def repeat(script: Script, times: int, call: Call = X) -> list[JudgedRound]:
    """Judge the same call so many times."""
    return [script.turn(call) for _ in range(times)]


def flat(rounds: list[JudgedRound]) -> list[str]:
    """All verdicts in short."""
    return [verdict for judged in rounds for verdict in verdicts(judged)]


# --- Escalation ----------------------------------------------------------------------------------


def test_an_escalation_budget_is_spent_and_weaker_rungs_take_over() -> None:
    script = Script(ladder(observe=2, escalate=3, block=5, stop=8), MODEL)
    assert flat(repeat(script, 8)) == [
        "observe@2",
        "escalate@3",
        "escalate@4",
        "block@5",
        "block@6",
        "block@7",
        "stop@8",
    ]
    assert script.judge.document()["escalationsUsed"] == 2


def test_a_budget_of_one() -> None:
    config = ladder(observe=2, steer=3, escalate=4, block=7, stop=9)._replace(max_escalations=1)
    rounds = repeat(Script(config, MODEL), 9)
    assert flat(rounds) == [
        "observe@2",
        "steer@3",
        "escalate@4",
        "steer@5",
        "steer@6",
        "block@7",
        "block@8",
        "stop@9",
    ]
    escalated = rounds[3].verdicts[0].message
    assert escalated.startswith(rounds[3].verdicts[0].reading.message)
    assert "The next turn is escalated" in escalated
    assert "escalated" not in rounds[4].verdicts[0].message


def test_one_turn_spends_one_escalation_however_many_ask_for_it() -> None:
    script = Script(ladder(escalate=2), MODEL)
    calls = [("a", {}), ("b", {}), ("c", {})]
    for wanted in ([], ["escalate@2"] * 3, ["escalate@3"] * 3, []):
        assert verdicts(script.turn(*calls)) == wanted
    # The budget is spent when the escalated turn comes, so one that is still due is not.
    assert script.judge.document()["escalationsUsed"] == 2


def test_without_a_mechanism_the_rung_is_skipped() -> None:
    assert flat(repeat(Script(ladder(observe=2, escalate=3, block=5)), 5)) == [
        "observe@2",
        "observe@3",
        "observe@4",
        "block@5",
    ]


def test_the_input_may_bring_the_mechanism() -> None:
    options = {"ladder": {"escalate": 2, "block": 4}, "escalation": {"advisor": True}}
    assert flat(repeat(Script(options=options), 4)) == ["escalate@2", "escalate@3", "block@4"]


# --- Actions of the user -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "effective"),
    [
        ({}, ["observe", "block", "block"]),
        ({"search": "observe"}, ["observe"] * 3),
        ({"other": "observe"}, ["observe", "block", "block"]),
        ({"search": "stop"}, ["stop"] * 3),
        ({"search": "escalate"}, ["observe"] * 3),
        ({"tool-fingerprint": "steer", "search": "block"}, ["block"] * 3),
        ({"search": "block", "tool-fingerprint": "steer"}, ["steer"] * 3),
    ],
)
def test_the_last_override_wins(actions: dict[str, str], effective: list[str]) -> None:
    setup = SessionSetup(actions={name: Action(action) for name, action in actions.items()})
    rounds = repeat(Script(setup=setup), 4)
    assert [judged.verdicts[0].effective for judged in rounds[1:]] == effective
    # What the ladder asked for is kept.
    assert [judged.verdicts[0].action for judged in rounds[1:]] == ["observe", "block", "block"]


def test_what_has_happened_cannot_be_blocked_by_an_override_either() -> None:
    setup = SessionSetup(
        actions={"server:web_search_call": Action.BLOCK, "text-streak": Action.BLOCK}
    )
    script = Script(setup=setup)
    for turn in range(2):
        judged = script.turn(server_item("dogs"), ("t", {"n": turn}), text="Plan.")
    assert [verdict.effective for verdict in judged.verdicts] == ["observe", "observe"]


def test_an_override_to_stop_keeps_the_action_of_the_ladder() -> None:
    script = Script(setup=SessionSetup(actions={"search": Action.STOP}))
    judged = repeat(script, 2)[-1]
    assert judged.stop
    assert (judged.stop.action, judged.stop.effective) == ("observe", "stop")
    assert script.judge.document()["stopVerdict"]["action"] == "observe"


def test_of_several_stops_of_a_round_the_last_is_kept() -> None:
    script = Script(ladder(stop=2))
    for _ in range(2):
        judged = script.turn(("a", {}), ("b", {}))
    assert judged.stop
    assert judged.stop.reading.tool == "b"
    assert script.judge.document()["stopVerdict"]["toolName"] == "b"


def test_what_the_user_states_goes_before_what_the_input_asks_for() -> None:
    options = {"ladder": {"observe": 2, "block": 4, "stop": 5}, "escalation": {"model": "small"}}
    setup = SessionSetup(
        loop_keys={"search": LoopKey.declared(["q"])}, model="large", stated=frozenset({"stop"})
    )
    config = StreaksConfig(stop=3, max_cycle=0)
    script = Script(config, setup, options=options, tools={"search": False})
    assert flat(repeat(script, 3)) == ["observe@2", "stop@3"]
    (found,) = (output for output in script.outputs if isinstance(output, SessionConfig))
    assert found.options["ladder"] | {"steer": 0} == {
        "observe": 2,
        "steer": 0,
        "escalate": False,
        "block": 4,
        "stop": 3,
    }
    assert found.options["escalation"] == {"model": "large", "maxEscalations": 2}
    assert len(found.warnings) == 2


# --- What the model is to be given ---------------------------------------------------------------


def test_texts_for_the_model_wait_once_each_until_its_next_turn() -> None:
    script = Script(ladder(steer=2))
    for _ in range(2):
        script.turn(X, X, ("read", {"path": "a"}))
    assert len(script.judge.document()["pendingSteer"]) == 2
    script.turn(("write", {}))
    assert "pendingSteer" not in script.judge.document()


# --- Stops, and sessions that go on --------------------------------------------------------------


def test_a_message_of_the_user_lifts_a_stop_and_keeps_the_streaks() -> None:
    script = Script(StreaksConfig(stop=4, max_cycle=0))
    assert flat(repeat(script, 4)) == ["observe@2", "block@3", "stop@4"]
    assert script.judge.document()["stopVerdict"]["streak"] == 4
    script.user()
    assert "stopVerdict" not in script.judge.document()
    assert verdicts(script.turn(X)) == ["stop@5"]
    script.user()
    assert verdicts(script.turn(("search", {"q": "y"}))) == []
    assert script.judge.document()["tools"]["search"]["streak"] == 1


def saved(script: Script, form: str) -> Any:
    """The state of a session, as a file holds it."""
    state = script.judge.snapshot() if form == "snapshot" else script.judge.document()
    return json.loads(json.dumps(state))


@pytest.mark.parametrize("form", ["snapshot", "document"])
def test_a_resumed_session_goes_on(form: str) -> None:
    first = Script(StreaksConfig(stop=4, max_cycle=0))
    repeat(first, 2)
    second = Script(first.config, resumed=saved(first, form))
    assert verdicts(second.turn(X)) == ["block@3"]
    # A stop that was saved stands until the user speaks.
    assert verdicts(second.turn(X)) == ["stop@4"]
    third = Script(first.config, resumed=saved(second, form))
    judged = third.turn(("read", {}))
    assert (verdicts(judged), judged.standing) == (["stop@4"], judged.stop)
    assert verdicts(third.turn(("read", {"path": "b"}))) == []
    fourth = Script(first.config, resumed=saved(second, form))
    fourth.user()
    assert verdicts(fourth.turn(("read", {}))) == []


@pytest.mark.parametrize("form", ["snapshot", "document"])
def test_a_spent_budget_stays_spent_and_what_was_due_is_not(form: str) -> None:
    config = ladder(observe=2, escalate=3)
    script = Script(config, MODEL)
    repeat(script, 4)
    assert saved(script, "document")["escalationsUsed"] == 1
    again = Script(config, MODEL, resumed=saved(script, form))
    used = 2 if form == "snapshot" else 1
    again.turn(("other", {}))
    assert again.judge.document()["escalationsUsed"] == used


def test_options_of_the_input_end_with_it() -> None:
    script = Script(options={"ladder": {"observe": 1}, "text": False}, tools={"search": False})
    repeat(script, 3)
    again = Script(resumed=saved(script, "snapshot"))
    assert flat(repeat(again, 2)) == ["observe@2"]


HOSTILE: list[Any] = [
    {"rules": {}},
    {"rules": {}, "session": 5, "rounds": 1, "agents": {}},
    {"rules": [], "session": "", "rounds": "x", "announced": 1, "ladder": 1, "agents": []},
]


@pytest.mark.parametrize("state", HOSTILE)
def test_a_damaged_state_is_refused_with_a_usual_error(state: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        Script(resumed=state)


def test_a_state_that_was_changed_anywhere_is_refused_or_goes_on() -> None:
    """Whatever stands in place of one value, judging goes on, or the state is refused."""
    script = Script(ladder(observe=2, steer=3, stop=4), MODEL, tools={"search": ["q"]})
    for turn in range(4):
        script.turn(X, ("read", {"n": turn}), server_item("dogs"), text="Plan.", results=["a", "b"])
        script.turn(session_call(*X, agent="one"), agent="one")
    script.judge.update(session_call("t", "{}"))
    state = saved(script, "snapshot")
    changed = refused = 0
    for path in paths(state):
        for value in (None, -1, 2.5, "x", [], {}, [[]], {"a": 1}, True):
            damaged = json.loads(json.dumps(state))
            place = damaged
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            judge = script.fresh()
            changed += 1
            try:
                judge.resume(damaged)
            except (KeyError, TypeError, ValueError, AttributeError):
                refused += 1
                continue
            again = Script(script.config, MODEL)
            again.judge = judge
            for turn in range(2):
                again.turn(
                    X, server_item("dogs"), ("read", {"n": turn}), text="Plan.", results=["a"]
                )
            json.dumps(judge.snapshot())
    assert 0 < refused < changed


def paths(state: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a document."""
    items = state.items() if isinstance(state, dict) else enumerate(state)
    inner = [(key, value) for key, value in items if isinstance(value, dict | list)]
    deeper = [found for key, value in inner for found in paths(value, (*path, key))]
    keys = state if isinstance(state, dict) else range(len(state))
    return [*((*path, key) for key in keys), *deeper]


# --- Agents and totals ---------------------------------------------------------------------------


def test_each_agent_has_a_conversation_of_its_own() -> None:
    script = Script(ladder(stop=3))
    for _ in range(3):
        judged = script.turn(session_call(*X, agent="sub"), agent="sub")
        script.turn(X if judged.number == 1 else ("read", {"n": judged.number}))
    assert verdicts(judged) == ["stop@3"]
    script.user(agent="")
    totals = script.judge.close()[-1]
    assert isinstance(totals, SessionTotals)
    assert (totals.rounds, [*totals.stops], {*totals.agents}) == (6, ["sub"], {"", "sub"})
    script.user(agent="sub")
    totals = script.judge.close()[-1]
    assert isinstance(totals, SessionTotals)
    assert totals.stops == {}


def test_conversations_are_bounded() -> None:
    script = Script()
    for number in range(300):
        script.turn(agent=f"agent-{number}")
    assert len(script.judge.snapshot()["agents"]) == 256
