"""The calls rule: the third equal call is refused, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcli.errors import ConfigError
from loopcli.rules.calls.config import CallsConfig
from loopcli.rules.calls.decisions import (
    DecisionForm,
    apply_decision,
    parse_arguments,
    read_decision,
)
from loopcli.rules.calls.keys import call_key
from loopcli.rules.calls.rule import MAX_CALLS, CallTable, judge_call

WHY = "a text of twenty letters or more"


class Session:
    """One session, as an agent drives it: each call is a letter or a tool with arguments."""

    def __init__(self, config: CallsConfig | None = None) -> None:
        self.table = CallTable()
        self.config = config
        self.clock = 0.0

    def call(self, tool: str, arguments: object = None, at: float | None = None) -> bool:
        self.clock = self.clock + 1 if at is None else at * 1000
        key = call_key(tool, arguments)
        assert key is not None
        return judge_call(self.table, key, self.clock, self.config).allowed

    def calls(self, tools: str) -> str:
        """Make calls; return `+` for one that ran and `-` for one that was refused."""
        return "".join("+" if self.call(tool) else "-" for tool in tools)

    def decide(self, kind: str, tool: str = "", arguments: str = "{}") -> str:
        form = DecisionForm(kind, WHY, WHY, WHY, tool, arguments)
        return apply_decision(self.table, read_decision(form))


# What must not be refused


def test_two_calls_of_a_kind_run_and_others_are_untouched() -> None:
    assert Session().calls("AABBCCDD") == "++++++++"


def test_sessions_do_not_count_together() -> None:
    first, second = Session(), Session()
    assert (first.calls("AA"), second.calls("A")) == ("++", "+")


@pytest.mark.parametrize(
    ("tool", "first", "second"),
    [
        ("bash", {"command": "ls"}, {"command": "ls "}),
        ("read", {"path": [1, 2]}, {"path": [2, 1]}),
        ("read", {"description": "a"}, {"description": "b"}),
        ("bash", {"command": "ls", "env": {"timeout": 1}}, {"command": "ls", "env": {}}),
        ("bash", {"command": "LS"}, {"command": "ls"}),
        ("read", {"path": "a\u0301"}, {"path": "\xe1"}),
    ],
)
def test_calls_that_differ(tool: str, first: object, second: object) -> None:
    assert call_key(tool, first) != call_key(tool, second)


def test_tools_do_not_count_together() -> None:
    assert call_key("read", {}) != call_key("write", {})


def test_the_window_forgets_old_calls() -> None:
    session = Session()
    assert [session.call("A", at=at) for at in (0, 61, 62)] == [True] * 3


def test_a_call_at_the_edge_of_the_window_no_longer_counts() -> None:
    session = Session(CallsConfig(window_ms=2000))
    assert [session.call("A", at=at) for at in (0, 1, 2)] == [True] * 3


def test_a_clock_that_was_set_back_far_refuses_nothing() -> None:
    session = Session()
    assert [session.call("A", at=at) for at in (9000, 9001, 3, 4)] == [True] * 4


def test_arguments_that_cannot_be_hashed_have_no_key() -> None:
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    assert call_key("read", deep) is None


# What must be refused


def test_only_the_call_that_repeats_is_refused() -> None:
    assert Session().calls("AAABBBC") == "++-++-+"


@pytest.mark.parametrize("tool", ["bash", "Bash", "shell", "powershell", "run_shell_command"])
def test_the_notes_beside_a_command_do_not_count(tool: str) -> None:
    session = Session()
    assert session.call(tool, {"command": "ls", "description": "x", "timeout": 1})
    assert session.call(tool, {"timeout": 9, "command": "ls"})
    assert not session.call(tool, {"command": "ls"})
    assert session.call(tool, {"command": "ls "})


def test_the_order_of_keys_does_not_count() -> None:
    session = Session()
    assert session.call("read", {"p": {"a": 1, "b": 2}})
    assert session.call("read", {"p": {"b": 2, "a": 1}})
    assert not session.call("read", {"p": {"a": 1.0, "b": 2}})


def test_missing_arguments_are_no_arguments() -> None:
    assert call_key("poll", None) == call_key("poll", {})


def test_a_refused_call_stays_refused_after_the_window() -> None:
    session = Session()
    assert [session.call("A", at=at) for at in (0, 1, 2, 500)] == [True, True, False, False]


def test_the_window_slides() -> None:
    session = Session()
    assert [session.call("A", at=at) for at in (0, 50, 70, 100)] == [True, True, True, False]


def test_the_threshold() -> None:
    assert Session(CallsConfig(threshold=2)).calls("AAB") == "+-+"
    assert Session(CallsConfig(threshold=5)).calls("AAAAA") == "++++-"


@given(st.text("ABC", max_size=40))
def test_within_the_window_each_call_runs_twice(tools: str) -> None:
    wanted = ["+" if tools[:place].count(tool) < 2 else "-" for place, tool in enumerate(tools)]
    assert Session().calls(tools) == "".join(wanted)


# Decisions


def test_a_continue_grants_one_new_count_to_one_call() -> None:
    session = Session()
    assert session.calls("AAA") == "++-"
    session.decide("continue", "A")
    assert session.calls("BAAA") == "+++-"


def test_two_of_them_grant_no_more() -> None:
    session = Session()
    session.calls("AAA")
    session.decide("continue", "A")
    session.decide("continue", "A")
    assert session.calls("AAA") == "++-"


def test_a_continue_restarts_the_count_of_a_call_that_is_not_refused() -> None:
    session = Session()
    session.calls("AA")
    session.decide("continue", "A")
    assert session.calls("AAA") == "++-"


def test_a_stop_takes_the_grant_back() -> None:
    session = Session()
    session.calls("AAA")
    session.decide("continue", "A")
    session.decide("stop")
    assert session.calls("AB") == "-+"


def test_a_stop_needs_a_refused_call() -> None:
    session = Session()
    session.calls("AA")
    with pytest.raises(ConfigError, match="no call is refused"):
        session.decide("stop")
    session.calls("A")
    session.decide("continue", "A")
    session.calls("A")
    with pytest.raises(ConfigError, match="no call is refused"):
        session.decide("stop")


def test_a_change_is_to_a_new_call_and_counts_nothing() -> None:
    session = Session()
    session.calls("AAAC")
    for tool in "AC":
        with pytest.raises(ConfigError, match="already made"):
            session.decide("change", tool)
    session.decide("change", "B")
    assert session.calls("ABBB") == "-++-"


@pytest.mark.parametrize(
    ("changed", "defect"),
    [
        ({"decision": "retry"}, "decision"),
        ({"observed_result": "x" * 19}, "observed-result: has 19 characters"),
        ({"rationale": " " * 20 + "x"}, "rationale: has 1 characters"),
        ({"expected_information": ""}, "expected-information"),
        ({"next_tool": ""}, "next-tool: missing"),
        ({"args_json": "[]"}, "args-json: has to be a JSON object"),
        ({"args_json": "1"}, "args-json: has to be a JSON object"),
        ({"args_json": "{"}, "args-json: not JSON"),
    ],
)
def test_a_form_that_is_not_complete(changed: dict[str, str], defect: str) -> None:
    form = DecisionForm("continue", "x" * 20, "x" * 20, "x" * 20, "read")
    assert read_decision(form).tool == "read"
    with pytest.raises(ConfigError, match=defect):
        read_decision(form._replace(**changed))


def test_every_defect_is_reported() -> None:
    with pytest.raises(ConfigError) as caught:
        read_decision(DecisionForm("", "", "", "", "", "{"))
    assert len(caught.value.defects) == 6


def test_arguments_are_parsed_like_those_of_a_hook() -> None:
    assert parse_arguments(json.dumps({"a": "\ud800"})) == {"a": "\ud800"}


# Limits


@pytest.mark.parametrize(
    "config", [{"threshold": 1}, {"window_ms": 0}, {"window_ms": float("nan")}]
)
def test_a_configuration_that_cannot_be_used(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        CallsConfig(**config).checked()


def test_the_memory_is_bounded_and_keeps_refused_calls_longest() -> None:
    session = Session()
    session.calls("AAA")
    for number in range(2 * MAX_CALLS):
        session.call("read", {"path": number})
    assert len(session.table.records) == MAX_CALLS
    assert session.calls("A") == "-"
