"""The tails rule: the document's values for repetitions, and replies that are identical."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers import cut, text_event
from hypothesis import given
from hypothesis import strategies as st
from session_scripts import Script, verdicts

from loopcli.events import Channel, Lane
from loopcli.identity import fingerprint
from loopcli.rules.tails import rule as tails
from loopcli.rules.tails.config import TailsConfig
from loopcli.rules.tails.repetition import last_units, normalised, repetition
from loopcli.rules.tails.rule import TailsRule
from loopcli.session_events import RoundEnd, RoundRestart, SessionOptions
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import Reading


def words(number: int) -> str:
    """So many different words."""
    return " ".join(f"w{place}" for place in range(number)) + " "


# Repeats, period and covered tokens of the repetition at the end of a text.
GOLDEN: dict[str, tuple[str, tuple[int, int, int] | None]] = {
    "11 times one word": ("stuck " * 11, None),
    "12 times one word": ("stuck " * 12, (12, 1, 12)),
    "4 times three words": ("a b c " * 4, (4, 3, 12)),
    "3 times three words": ("a b c " * 3, None),
    "5 times two words": ("a b " * 5, None),
    "6 times two words": ("a b " * 6, (6, 2, 12)),
    "cut inside the phrase": ("a b " * 6 + "a", (6, 2, 12)),
    "another word at the end": ("a b " * 6 + "end", None),
    "cut inside three words": ("a b c " * 4 + "a b", (4, 3, 12)),
    "the longest period": (words(16) * 4, (4, 16, 64)),
    "the longest period, 3 times": (words(16) * 3, None),
    "a period that is too long": (words(17) * 4, None),
    "more than the window holds": (words(16) * 26, (25, 16, 400)),
    "500 times one word": ("stuck " * 500, (400, 1, 400)),
    "a doubled word": ("No no " * 6, (6, 2, 12)),
    "glued": ("stuck." * 12, None),
    "a sentence": ("I am stuck. " * 4, (4, 3, 12)),
    "words beyond the character budget": (("x" * 3000 + " ") * 12, None),
    "prose before it": ("Now I will look. " + "I am stuck. " * 6, (6, 3, 18)),
    "nothing": ("", None),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_repetitions(name: str) -> None:
    text, wanted = GOLDEN[name]
    end = repetition(normalised(text), TailsConfig())
    assert (end and (end.repeats, end.period, end.covered)) == wanted


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("a b " * 6 + "a", "b a"),
        ("a b c " * 4 + "a b", "c a b"),
        ("I am stuck. " * 4, "I am stuck."),
    ],
)
def test_the_sample_is_what_stands_at_the_end(text: str, sample: str) -> None:
    end = repetition(normalised(text), TailsConfig())
    assert end
    assert end.sample == sample


@pytest.mark.parametrize("space", "\xa0\ufeff\u1680\u2028\u2029\u3000\x0b\t\r\n")
def test_what_separates_words_for_ecmascript(space: str) -> None:
    assert repetition(normalised(f"stuck{space}" * 12), TailsConfig())


@pytest.mark.parametrize("sign", "\x85\x1c\x1d\x1e\x1f\u200b\u180e")
def test_what_does_not(sign: str) -> None:
    assert repetition(normalised(f"stuck{sign}" * 12), TailsConfig()) is None


def test_of_equal_coverage_the_shortest_period_is_taken() -> None:
    end = repetition("a " * 23 + "a", TailsConfig())
    assert end
    assert (end.repeats, end.period) == (24, 1)


@given(
    st.lists(st.sampled_from("ab"), max_size=60),
    st.integers(0, 8),
    st.integers(0, 5),
    st.integers(0, 14),
    st.integers(1, 40),
)
def test_the_search_agrees_with_counting_blocks(
    tokens: list[str], period: int, repeats: int, covered: int, window: int
) -> None:
    config = TailsConfig(period, repeats, covered, window)
    assert repetition(" ".join(tokens), config) == by_blocks(tokens[-window:], config)


def by_blocks(tokens: list[str], config: TailsConfig) -> Any:
    """The same, by comparing whole blocks."""
    best = None
    for period in range(1, min(config.max_period_tokens, len(tokens) // 2) + 1):
        blocks = [tokens[end - period : end] for end in range(len(tokens), period - 1, -period)]
        repeats = next((n for n, b in enumerate(blocks) if b != blocks[0]), len(blocks))
        enough = repeats >= config.min_repeats and repeats * period >= config.min_covered_tokens
        if enough and (best is None or repeats * period > best[0] * best[1]):
            best = (repeats, period, " ".join(blocks[0]))
    return best if len(tokens) >= max(config.min_covered_tokens, 2) else None


def test_lengths_are_utf_16_units() -> None:
    assert last_units("\U0001f600" * 3, 4) == "\U0001f600" * 2
    # Two budgets of 64 units: "🙂" and a blank are 3 units, "a" and a blank 2.
    for sign, units in (("\U0001f642", 3), ("a", 2)):
        config = TailsConfig(min_repeats=2, min_covered_tokens=2, max_window_tokens=2)
        end = repetition(normalised(f"{sign} " * 400), config)
        assert end
        assert (end.repeats, len(sign.encode("utf-16-le")) // 2 + 1) == (2, units)


# --- In a session --------------------------------------------------------------------------------


def test_identical_replies() -> None:
    script = Script()
    wanted = ["", *(f"observe@{n}" for n in range(2, 6)), "stop@6"]
    for turn, verdict in enumerate(wanted):
        text = "The same\nplan. " if turn % 2 else " The same plan."
        judged = script.turn(("t", {"n": turn}), text=text)
        assert verdicts(judged) == [verdict][: bool(verdict)]
    assert judged.stop
    assert judged.stop.reading.detection == "text-streak"


def test_what_breaks_a_streak_of_texts_and_what_does_not() -> None:
    script = Script()
    for text, streak in (
        ("Plan.", 1),
        ("Plan.", 2),
        ("", 2),
        (" \n", 2),
        ("Plan.", 3),
        ("plan.", 1),
        ("Plan.", 1),
    ):
        script.turn(text=text)
        assert script.judge.document()["text"]["streak"] == streak


@pytest.mark.parametrize(
    ("times", "verdict"), [(3, []), (4, ["observe@4"]), (5, ["observe@5"]), (6, ["stop@6"])]
)
def test_a_phrase_at_the_end_of_one_reply(times: int, verdict: list[str]) -> None:
    assert verdicts(Script().turn(text="I am stuck. " * times)) == verdict


def test_the_stronger_of_both_is_reported_and_of_equals_the_repetition() -> None:
    script = Script()
    wanted = ["text-repetition"] * 5 + ["text-streak"]
    for detector in wanted:
        judged = script.turn(text="I am stuck. " * 4)
        assert judged.text
        assert judged.text.reading.detection == detector
        assert len(judged.verdicts) == 1
    assert judged.text.action == "stop"


def test_options() -> None:
    script = Script(options={"text": {"minRepeats": 2, "minCoveredTokens": 2}})
    assert verdicts(script.turn(text="ha ha")) == ["observe@2"]
    for text in (False, {"enabled": False}):
        script = Script(options={"text": text})
        assert [verdicts(script.turn(text="I am stuck. " * 9)) for _ in range(7)] == [[]] * 7
        assert "text" not in script.judge.document()


@pytest.mark.parametrize("text", [None, True, {}, "odd", {"minRepeats": None}, {"minRepeats": "9"}])
def test_odd_options_are_the_defaults(text: Any) -> None:
    rule = TailsRule()
    rule.update(SessionOptions({"text": text}, {}, 1, 1))
    assert rule.options() == TailsRule().options()


def test_numbers_of_the_user_go_before_those_of_the_input() -> None:
    rule = TailsRule(TailsConfig(min_repeats=9), SessionSetup(stated=frozenset({"min_repeats"})))
    rule.update(SessionOptions({"text": {"minRepeats": 2, "maxPeriodTokens": 3}}, {}, 1, 1))
    assert (rule.config.min_repeats, rule.config.max_period_tokens) == (9, 3)


def readings(rule: TailsRule, pieces: list[str], agent: str = "") -> list[Reading]:
    """What a rule reads of a reply that comes in pieces."""
    for piece in pieces:
        rule.update(text_event(piece, Lane(agent=agent)))
    return rule.update(RoundEnd(agent, 1, 1))


@given(st.lists(st.sampled_from(["I am stuck. ", "\ufeff", "a b", " ", "x" * 40])), st.data())
def test_chunks_do_not_matter(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts) * 3
    sizes = data.draw(st.lists(st.integers(1, 9), max_size=20))
    assert readings(TailsRule(), list(cut(text, sizes))) == readings(TailsRule(), [text])


def test_only_the_answer_counts() -> None:
    rule = TailsRule()
    for lane in (Lane(Channel.REASONING), Lane(Channel.TOOL_ARGS, 0, 0, "t"), Lane(choice=1)):
        rule.update(text_event("I am stuck. " * 9, lane))
    assert rule.update(RoundEnd("", 1, 1)) == []


def test_blocks_are_paragraphs_and_a_reply_that_is_given_up_is_dropped() -> None:
    rule = TailsRule()
    rule.update(text_event("Once more.", Lane()))
    rule.update(RoundRestart("", 1, 1))
    rule.update(text_event("one", Lane(block=0)))
    rule.update(text_event("two", Lane(block=3)))
    (reading,) = rule.update(RoundEnd("", 1, 1))
    assert reading.fingerprint == fingerprint("one two")


def test_agents_are_judged_apart() -> None:
    rule = TailsRule()
    assert [readings(rule, ["Plan."], agent)[0].streak for agent in ("", "a", "", "a")] == [
        1,
        1,
        2,
        2,
    ]


def test_a_very_long_reply_is_judged_by_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "MAX_CHARS", 1000)
    rule = TailsRule()
    text = "x" * 5000 + "y " * 499 + "zz"
    for piece in cut(text, [700] * 9):
        rule.update(text_event(piece))
        assert len(json.dumps(rule.snapshot())) < 3000
    (reading,) = rule.update(RoundEnd("", 1, 1))
    assert reading.fingerprint == fingerprint("y " * 499 + "zz")


def test_the_texts_for_the_model() -> None:
    script = Script()
    text = script.turn(text="I am stuck. " * 5).verdicts[0].message
    assert text.startswith('Doom loop suspected: the reply ends in "I am stuck.", 5 times in a row')
    script.turn(text="Plan.")
    text = script.turn(text="Plan.").verdicts[0].message
    assert text.startswith("Doom loop suspected: the text was identical for 2 consecutive turns")


def test_its_state_is_bounded() -> None:
    rule = TailsRule()
    for number in range(1000):
        readings(rule, [f"text {number}"], f"agent-{number}")
        rule.update(text_event("open", Lane(agent=f"open-{number}")))
    state = rule.snapshot()
    assert (len(state["streaks"]), len(state["open"])) == (256, 256)
