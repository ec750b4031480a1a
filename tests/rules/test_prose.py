"""The prose rule: which sentences count as repeated, at the exact sentence."""

from __future__ import annotations

import json

import pytest
from helpers import cut, judged, text_event
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import QUIET

from loopcli.errors import ConfigError
from loopcli.rules import table
from loopcli.rules.prose.config import ProseConfig
from loopcli.rules.prose.rule import ProseRule
from loopcli.rules.prose.sentences import SentenceSplitter
from loopcli.verdicts import Verdict

CHECK = "I want to see if the containers are up. "
VALID = "The file has no error; next I read its status. "
BOTH = CHECK + VALID
TICKS = "```"


def whole(text: str, threshold: int = 3) -> Verdict | None:
    return judged(text, ProseRule(ProseConfig(threshold)))[0]


def sentences(text: str) -> list[str]:
    return [one.shown for one in SentenceSplitter().feed(text)]


def fired_at(text: str, threshold: int = 3) -> int:
    """The number of the sentence at which the rule fires; 0 if it does not."""
    verdict = whole(text, threshold)
    return len(sentences(text[: verdict.chars])) if verdict else 0


def written(letters: str) -> str:
    """A text with a sentence for each letter."""
    return "".join(f"Sentence of kind {letter} stands written here. " for letter in letters)


def thue_morse(length: int) -> str:
    """A word of two letters in which nothing comes three times in a row."""
    return "".join("AB"[number.bit_count() % 2] for number in range(length))


# What stays quiet


# Good replies that the document's rule stops: sentences or lines that are equal on purpose.
EQUAL_ON_PURPOSE = {
    "empty elements",
    "trailing blanks",
    "same paragraph thrice",
    "six lines of a chorus",
}


@pytest.mark.parametrize("name", sorted(QUIET.keys() - EQUAL_ON_PURPOSE))
def test_quiet(name: str) -> None:
    assert whole(QUIET[name]) is None


@pytest.mark.parametrize(
    "text",
    [
        BOTH * 2,
        "OK. " * 40,
        "Done now. " * 40,
        "I am stuck. " * 40,  # 11 characters
        "Unbelievably incomprehensible. " * 40,  # two words
        written("XXYXX"),
        "looking at the containers again " * 30,  # nothing ends
        f"{TICKS}\n" + "look at the status again\n" * 10 + f"{TICKS}\n",
        f"{TICKS}python\n" + CHECK * 10,
        f"~~~~\n{TICKS}\n~~~\n" + CHECK * 10,
        f"   {TICKS}\n" + CHECK * 10,
        "> Looking at the status again now.\n" * 10,
        "  > " + CHECK * 10,
        "".join(f"Number {n} of the steps goes on here. " for n in range(9)) * 3,
        written("DDFBCAABCBEBKCJLHIEGADAA"),  # 17 of them repeated
        written("AKGBDBLEDACJMFFAAGEBHICA"),  # 13 distinct ones
        written("FFDDCAEBFFDECBAEABEDBCCA"),  # one at most 4 times
        written(thue_morse(23)),
    ],
)
def test_what_is_no_loop(text: str) -> None:
    assert whole(text) is None


def test_names_and_numbers_stay_whole() -> None:
    text = "I update the .env. I update README.md. v1.2.3 is at https://a.b/c.html now. "
    assert len(sentences(text)) == 3
    assert whole(text) is None


# What is detected


@pytest.mark.parametrize(
    ("text", "number", "length"),
    [
        (BOTH * 9, 6, 2),
        ("I now update the .env. " * 9, 3, 1),
        ("I now update README.md. " * 9, 3, 1),
        ("Ich aktualisiere die .env. " * 3, 3, 1),
        ("Looking   at it now.\nlooking at IT now.\nLooking\tat it now.\n", 3, 1),
        ("look at the containers again\n" * 5, 3, 1),
        ("".join(f"Number {n} of the steps goes on here. " for n in range(7)) * 3, 21, 7),
        ("".join(f"Number {n} of the steps goes on here. " for n in range(8)) * 3, 24, 8),
        (f"{TICKS}\ncode\n{TICKS}\n" + CHECK * 9, 3, 1),
        ("> quoted here.\n" + CHECK * 9, 3, 1),
        ('He said "I go there now!" ' * 3, 3, 1),
        ("Is it really so?! " * 3, 3, 1),
    ],
)
def test_a_block_is_detected_at_its_third_copy(text: str, number: int, length: int) -> None:
    verdict = whole(text)
    assert verdict is not None
    assert (fired_at(text), verdict.facts["sentences"]) == (number, length)
    assert (verdict.gauge, verdict.ceiling) == (3, 3)


def test_an_irregular_cycle_needs_twenty_four_sentences() -> None:
    assert fired_at(written(thue_morse(40))) == 24
    verdict = whole(written(thue_morse(40)))
    assert verdict is not None
    assert "24 sentences are 2 different ones" in verdict.message


def test_an_irregular_cycle_at_its_limits() -> None:
    """18 sentences repeated, 12 distinct ones, one of them five times."""
    assert fired_at(written("JBFCILDEABAKDBCGEFACAHBA")) == 24
    assert fired_at(written("JBFCILDEABAKDBCGEFACAHBA"), 4) == 0


@pytest.mark.parametrize("threshold", [3, 4, 7, 10])
def test_the_threshold(threshold: int) -> None:
    assert fired_at(CHECK * 40, threshold) == threshold


def test_the_place_is_exact() -> None:
    text = "Here is the answer at last. " + BOTH * 3
    verdict = whole(text + "More.")
    assert verdict is not None
    assert text[verdict.onset_char :] == BOTH * 3
    assert verdict.chars == len(text)
    assert verdict.words == len(text.split())


def test_a_long_sentence_is_compared_by_its_beginning_and_length() -> None:
    long = "so it goes on " * 1000
    assert whole(f"{long}to here.\n" * 3) is not None
    assert whole(f"{long}.\n{long}and on.\n{long}and on and on.\n") is None


# Cuts


PIECES = st.lists(
    st.sampled_from(
        [CHECK, VALID, "I go on now", ".", " ", "\n", TICKS, "~~~", "> ", '."', "?!", "...", "x"]
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(pieces=PIECES, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_where_the_text_is_cut_never_matters(pieces: list[str], sizes: list[int]) -> None:
    text = "".join(pieces)
    once, apart = ProseRule(past_trip=True), ProseRule(past_trip=True)
    if text:
        once.update(text_event(text))
    for piece in cut(text, sizes * (len(text) + 1)):
        if piece:
            apart.update(text_event(piece))
    first, second = once.verdict, apart.verdict
    assert (first and first._replace(offset=0) == (second and second._replace(offset=0))) or (
        first is second is None
    )
    states = [rule.snapshot() | {"verdict": None} for rule in (once, apart)]
    assert json.dumps(states[0]) == json.dumps(states[1])


# The knob


@pytest.mark.parametrize(("text", "accepted"), [("2", 0), ("3", 1), ("10", 1), ("11", 0), ("0", 0)])
def test_the_range_of_the_knob(text: str, accepted: int) -> None:
    written_knob = {"stream_threshold": ("--stream-threshold", text)}
    if accepted:
        assert table.configs(written_knob)["prose"].lowest == int(text)
    else:
        with pytest.raises(ConfigError):
            table.configs(written_knob)
