"""What every rule promises, whatever it measures."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import cut, text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_examples import EXAMPLES, example_rule

from loopcli.errors import ConfigError
from loopcli.events import (
    BrokenRecord,
    Channel,
    Done,
    Event,
    Finish,
    HttpHead,
    Lane,
    Meta,
    Note,
    Problem,
    Restart,
    ServerLoop,
    ToolCall,
    ToolStart,
    UpstreamError,
    Usage,
)
from loopcli.rules import table
from loopcli.rules.registration import Judged
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
from loopcli.verdicts import Peak, Verdict

# Rules of an agent's session have a contract of their own.
each_rule = pytest.mark.parametrize("name", table.judging(Judged.TEXT))

VARIED = "".join(f"word{i} " for i in range(200_000))
TEXTS = {
    "loop": "void 0;\n" * 130_000,
    "varied": VARIED,
    "one word without end": "x" * 1_000_000,
    "white space": " \n" * 500_000,
    "runs that come and go": ("a b " * 400 + VARIED[:3000]) * 300,
}


def test_every_rule_is_tested_here() -> None:
    assert {*EXAMPLES} == {*table.judging(Judged.TEXT)}


@each_rule
def test_the_entry_says_what_users_need(name: str) -> None:
    entry = table.RULES[name]
    assert entry.name == name == example_rule(name).name
    assert all((entry.title, entry.source, entry.channels, entry.states, entry.blind_spots))
    config = entry.config()
    assert entry.armed(config)
    assert entry.load()(config).ceiling == config.lowest
    for knob in entry.knobs:
        assert knob.default == getattr(config, knob.name)
        assert all((knob.help, knob.heading, knob.argument))


@each_rule
def test_its_ceiling_is_the_knob_that_the_entry_names(name: str) -> None:
    entry, example = table.RULES[name], EXAMPLES[name]
    rule = example_rule(name)
    rule.update(text_event(example.loop[: example.near]))
    if entry.ceiling_knob is None:
        assert rule.peak.ceiling is not None
    else:
        assert rule.ceiling == getattr(example.config, entry.ceiling_knob)
        assert rule.peak.ceiling is None


@each_rule
def test_its_docstring_shows_where_it_fires(name: str) -> None:
    (test,) = [
        test
        for test in doctest.DocTestFinder(recurse=False).find(table.RULES[name].load())
        if test.examples
    ]
    assert "chars" in "".join(example.source for example in test.examples)
    assert doctest.DocTestRunner().run(test).failed == 0
    fired = example_rule(name).update(text_event(EXAMPLES[name].loop))
    assert fired is not None
    assert str(fired.chars) in "".join(example.want for example in test.examples)


@each_rule
def test_its_config_cannot_be_changed(name: str) -> None:
    config = EXAMPLES[name].config
    for knob in table.RULES[name].knobs:
        with pytest.raises(AttributeError):
            setattr(config, knob.name, 1)


@each_rule
def test_it_refuses_a_zero_that_would_make_every_reply_a_loop(name: str) -> None:
    entry = table.RULES[name]
    for knob in entry.knobs:
        if knob.zero:
            with pytest.raises(ConfigError, match=f"{knob.name} cannot be 0"):
                entry.load()(entry.config(**{knob.name: 0}))


@each_rule
def test_it_fires_once_and_stays_as_it_is(name: str) -> None:
    rule = example_rule(name)
    assert rule.verdict is None
    verdict = rule.update(text_event(EXAMPLES[name].loop))
    assert isinstance(verdict, Verdict)
    assert rule.verdict is verdict
    assert verdict.rule == name
    assert verdict.gauge >= verdict.ceiling
    before = rule.snapshot()
    assert rule.update(text_event(VARIED[:100_000])) is verdict
    assert rule.snapshot() == before


@each_rule
def test_past_its_trip_it_measures_on(name: str) -> None:
    loop = EXAMPLES[name].loop
    rule = example_rule(name, past_trip=True)
    verdict = rule.update(text_event(loop))
    first = rule.peak
    assert rule.update(text_event(loop)) is verdict
    assert rule.peak.value > first.value >= verdict.gauge
    assert rule.chars == 2 * len(loop)


@each_rule
def test_gauge_peak_and_ceiling_are_there_from_the_start(name: str) -> None:
    rule = example_rule(name)
    assert (rule.gauge, rule.peak, rule.words, rule.chars) == (0, Peak(), 0, 0)
    assert rule.ceiling > 0
    rule.update(text_event(EXAMPLES[name].loop[: EXAMPLES[name].near]))
    assert 0 < rule.gauge == rule.peak.value < rule.ceiling
    assert rule.peak.repeated


@each_rule
def test_the_same_text_gives_the_same_state_in_any_process(name: str) -> None:
    """Hashes of str change from process to process; nothing may depend on them."""
    program = (
        "import sys, json; sys.path[:0] = sys.argv[1:3]\n"
        "from helpers import text_event\n"
        "from rule_examples import EXAMPLES, example_rule\n"
        "name = sys.argv[3]; rule = example_rule(name, past_trip=True)\n"
        "[rule.update(text_event(EXAMPLES[name].loop[i:i + 997])) for i in range(0, 20000, 997)]\n"
        "print(json.dumps(rule.snapshot()))"
    )
    root = Path(__file__).parents[2]
    folders = [root, root / "tests" / "support"]
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


ODD_EVENTS: list[Event] = [
    text_event(""),
    text_event("\ud83d\ude00 \x00\x1c\ufeff\u2028"),
    text_event("lane", Lane(Channel.TOOL_ARGS, 3, 4, "tool")),
    ToolStart(0, 0, "", ""),
    ToolCall(0, 0, "tool", "id", "{", False),
    Meta(),
    Usage({}),
    Finish(0, "stop"),
    Done(),
    Restart(),
    ServerLoop(0, "sign"),
    HttpHead(503, "120", 40),
    UpstreamError("message", 1, 2, "code"),
    Problem("message", 1, 2),
    Note("message"),
    BrokenRecord("message", 1, 2),
    SessionStart("session", 1, 2),
    SessionOptions({"ladder": None}, {"tool": False}, 1, 2),
    SessionCall("agent", "tool", "{", "id", CallKind.CLIENT, 1, 2),
    RoundEnd("agent", 1, 2),
    RoundRestart("agent", 1, 2),
    SessionResult("agent", "id", "text", True, 1, 2),
    UserMessage("agent", "text", 1, 2),
]


def test_there_is_an_odd_event_of_every_kind() -> None:
    assert {type(event) for event in ODD_EVENTS} == set(Event.__args__)


@each_rule
def test_no_event_makes_it_raise_and_only_text_moves_it(name: str) -> None:
    for loop in ("", EXAMPLES[name].loop[:9000], EXAMPLES[name].loop):
        rule = example_rule(name)
        rule.update(text_event(loop))
        before = rule.snapshot()
        for event in ODD_EVENTS[3:]:
            assert rule.update(event) is rule.verdict
        assert rule.snapshot() == before
        for event in ODD_EVENTS:
            rule.update(event)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(["a b ", "void 0;\n", "x" * 130, "\ud83d", "\x1c", " ", ""]),
        st.text(max_size=10),
        st.builds(
            lambda unit, n: unit * n, st.sampled_from(["a b ", "| a ", "ab"]), st.integers(1, 2000)
        ),
    ),
    max_size=10,
)


@each_rule
@settings(max_examples=60)
@given(pieces=PIECES, at=st.integers(0, 10), past=st.booleans())
def test_a_snapshot_is_json_and_continues_identically(
    name: str, pieces: list[str], at: int, past: bool
) -> None:
    first = example_rule(name, past_trip=past)
    for piece in pieces[:at]:
        first.update(text_event(piece))
    state = json.loads(json.dumps(first.snapshot()))
    second = example_rule(name, past_trip=past)
    second.restore(state)
    assert json.dumps(second.snapshot()) == json.dumps(first.snapshot())
    for piece in pieces[at:]:
        assert first.update(text_event(piece)) == second.update(text_event(piece))
        assert (first.gauge, first.peak) == (second.gauge, second.peak)
    assert json.dumps(second.snapshot()) == json.dumps(first.snapshot())


@each_rule
def test_a_snapshot_is_a_copy(name: str) -> None:
    rule = example_rule(name)
    rule.update(text_event(EXAMPLES[name].loop[:4000]))
    state = rule.snapshot()
    before = json.dumps(state)
    rule.update(text_event(EXAMPLES[name].loop[:4000]))
    assert json.dumps(state) == before


@each_rule
@pytest.mark.parametrize("kind", TEXTS)
def test_its_state_does_not_grow_with_the_text(name: str, kind: str) -> None:
    example, sizes = EXAMPLES[name], []
    rule, text = example_rule(name, past_trip=True), TEXTS[kind][:1_000_000]
    for number, piece in enumerate(cut(text, [1000] * 1000), 1):
        rule.update(text_event(piece))
        if number * 1000 in (example.full, len(text)):
            sizes.append(len(json.dumps(rule.snapshot())))
    assert rule.chars == len(text) == 1_000_000
    # A verdict may have come to it, and figures have more digits; nothing else may grow.
    full, end = sizes
    assert end <= full + max(1000, full // 10)
    assert end <= example.most
