"""What every rule for sessions promises, whatever it counts."""

from __future__ import annotations

import doctest
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from session_scripts import server_item, session_call

from loopcli.actions import Detection
from loopcli.events import Channel, Event, Lane, Note, Restart
from loopcli.rules import table
from loopcli.rules.registration import Judged
from loopcli.session_events import (
    CallKind,
    RoundEnd,
    RoundRestart,
    SessionOptions,
    SessionResult,
    SessionStart,
    UserMessage,
)
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import Reading, Uncounted

NAMES = table.judging(Judged.SESSION)
each_rule = pytest.mark.parametrize("name", NAMES)

AGENTS = ("", "sub")
TEXTS = ("Plan.", "I am stuck. " * 5, "\ud83d \x1c\ufeff", "")
RAW = ('{"q":"x"}', '{"q":"y"}', "{bad", "", '{"x":1e400}', "[1]", "[" * 300 + "]" * 300)


def make(name: str) -> Any:
    """A fresh rule that compares results."""
    return table.RULES[name].load()(table.RULES[name].config(), SessionSetup(results=True))


def random_events(seed: int, size: int) -> list[Event]:
    """Events of a session in any order, as only a hostile reader gives them."""
    dice = random.Random(seed)

    def one() -> Event:
        agent = dice.choice(AGENTS)
        ident = dice.choice(["", "1", "2"])
        kind = dice.choice([CallKind.CLIENT] * 5 + [*CallKind])
        choices: list[Event] = [
            text_event(dice.choice(TEXTS), Lane(dice.choice([*Channel]), 0, 0, "", agent)),
            session_call(dice.choice("abc"), dice.choice(RAW), ident, kind, agent),
            session_call("a", dice.choice(RAW), ident, CallKind.CLIENT, agent),
            server_item(dice.choice(["dogs", "cats"])),
            RoundEnd(agent, 1, 1),
            RoundEnd(agent, 1, 1),
            SessionResult(agent, ident, dice.choice(TEXTS), dice.random() < 0.3, 1, 1),
            SessionResult(agent, ident, "no", True, 1, 1, denied=dice.random() < 0.5),
            UserMessage(agent, "Go on.", 1, 1),
            RoundRestart(agent, 1, 1),
            SessionOptions({"text": dice.choice([False, {"minRepeats": 2}])}, {"a": ["q"]}, 1, 1),
            Note("note"),
            Restart(),
        ]
        return dice.choice(choices) if dice.random() < 0.99 else SessionStart("next", 1, 1)

    return [one() for _ in range(size)]


def judge(rule: Any, events: Sequence[Event]) -> list[Any]:
    """All readings of events."""
    return [reading for event in events for reading in rule.update(event)]


def test_there_are_rules_for_sessions() -> None:
    assert {*NAMES} == {"streaks", "tails"}


@each_rule
def test_the_entry_says_what_users_need(name: str) -> None:
    entry = table.RULES[name]
    assert entry.name == name == make(name).name
    assert entry.title
    assert entry.source
    assert entry.blind_spots
    assert not entry.channels
    assert {*entry.states} <= {*Detection}
    assert all(
        knob.help and knob.default == getattr(entry.config(), knob.name) for knob in entry.knobs
    )


@each_rule
def test_its_docstring_shows_what_it_counts(name: str) -> None:
    found = doctest.DocTestFinder(recurse=False).find(table.RULES[name].load())
    (test,) = [test for test in found if test.examples]
    assert doctest.DocTestRunner().run(test).failed == 0


@each_rule
def test_its_config_cannot_be_changed(name: str) -> None:
    config = table.RULES[name].config()
    for knob in table.RULES[name].knobs:
        with pytest.raises(AttributeError):
            setattr(config, knob.name, 1)


@each_rule
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), at=st.integers(0, 120))
def test_it_never_raises_and_a_snapshot_continues_identically(
    name: str, seed: int, at: int
) -> None:
    events = random_events(seed, 120)
    first = make(name)
    judge(first, events[:at])
    state = json.loads(json.dumps(first.snapshot()))
    second = make(name)
    second.restore(state)
    assert json.loads(json.dumps(second.snapshot())) == state
    assert judge(first, events[at:]) == judge(second, events[at:])
    assert first.snapshot() == second.snapshot()
    assert (first.gauge, first.peak, first.ceiling) == (second.gauge, second.peak, second.ceiling)


@each_rule
def test_readings_come_at_the_end_of_a_round_only(name: str) -> None:
    rule = make(name)
    for event in random_events(7, 2000):
        readings = rule.update(event)
        assert isinstance(event, RoundEnd) or readings == []
        for reading in readings:
            assert isinstance(reading, Reading | Uncounted)
            assert reading.rule == name
            assert isinstance(reading, Uncounted) or 0 < reading.streak <= rule.peak.value


@each_rule
def test_a_snapshot_is_a_copy_and_questions_change_nothing(name: str) -> None:
    rule = make(name)
    judge(rule, random_events(5, 200))
    state = rule.snapshot()
    before = json.dumps(state)
    for agent in AGENTS:
        rule.document(agent)
        rule.warnings(agent)
    rule.options()
    assert json.dumps(rule.snapshot()) == before
    judge(rule, random_events(6, 200))
    assert json.dumps(state) == before


@each_rule
def test_the_same_events_give_the_same_state_in_any_process(name: str) -> None:
    program = (
        "import sys, json; sys.path[:0] = sys.argv[1:3]\n"
        "from test_session_rules_contract import judge, make, random_events\n"
        "rule = make(sys.argv[3]); judge(rule, random_events(3, 500))\n"
        "print(json.dumps(rule.snapshot()))"
    )
    here = Path(__file__)
    folders = [here.parent, here.parents[1] / "support"]
    command = [sys.executable, "-c", program, *map(str, folders), name]
    outputs = {
        subprocess.run(
            command,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
