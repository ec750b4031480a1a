"""Tool arguments as words, and deltas that hold all the text so far."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.wires import spoken
from loopcli.events import Lane, Text
from loopcli.readers.arguments import Unescaper
from loopcli.readers.collector import Collector
from loopcli.readers.snapshots import Snapshots


def joined(text: str) -> str:
    """Surrogate pairs as the collector joins them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def words(fragments: list[str]) -> str:
    unescaper = Unescaper()
    return "".join(map(unescaper.feed, fragments))


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ("", ""),
        ("{}", ""),
        ("[]", ""),
        ('{"a":"x","b":[1,true,null,-2.5e3,{"c":"y z"}]}', "x\n1\ntrue\nnull\n-2.5e3\ny z\n"),
        ('{ "a" :\n "x" , "b" : { } }', "x\n"),
        (r'{"a":"tab\tline\nquote\"slash\\\/"}', 'tab\tline\nquote"slash\\/\n'),
        (r'{"a":"\u00e9\u65e5 \ud83e\uddf1"}', "é日 \ud83e\uddf1\n"),
        ('"alone"', "alone\n"),
        ('{"cut":"in the mid', "in the mid"),
        # What models and servers really send:
        ('{"a":"raw\nline"}', "raw\nline\n"),
        (r'{"a":"\d+ \x41 \u12"}', "\\d+ \\x41 \\u12\n"),
        (r'{"a":"\u12\n\\"}', "\\u12\n\\\n"),
        ('{}{"a":"b"}', "b\n"),
        ("plain text", "plain text"),
        ("  ls -l\n", "ls -l\n"),
        ("12", "12"),
        ("{'a': 'b'}", "'a': 'b'}"),
        ("{not json at all}", "not json at all}"),
        ('{"a": b c}', "b\nc}"),
        ('{"a":1}trailing', "1\ntrailing"),
        ("[1,2]]", "1\n2\n]"),
        # A key twice in one object; in two objects it is as it should be.
        ('{"a":{},"b":true,"a":{},"a":1}', 'true\n:{},"a":1}'),
        ('[{"a":1},{"a":2},{"b":{"a":3},"a":4}]', "1\n2\n3\n4\n"),
        ('{"\u0061":1,"a":2}', "1\n:2}"),
        ("[" * 300, "[" * 44),
    ],
)
def test_arguments_as_words(arguments: str, want: str) -> None:
    assert words([arguments]) == want
    assert words(list(arguments)) == want


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=30),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        ),
        max_leaves=12,
    ),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_json_gives_its_values(value: object, ascii_only: bool, indent: int | None) -> None:
    arguments = json.dumps({"": value}, ensure_ascii=ascii_only, indent=indent)
    assert joined(words(list(arguments))) == joined(spoken(arguments))


@settings(max_examples=300)
@given(text=st.text('{}[]",:\\u12dn \n\tae', max_size=60), sizes=st.lists(st.integers(0, 9)))
def test_anything_cut_anywhere(text: str, sizes: list[int]) -> None:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(text[at : at + size])
        at += size
    assert words([*pieces, text[at:]]) == words([text])


def test_blanks_beyond_any_indentation_are_heard() -> None:
    assert words(['{"a":1,' + " " * 64 + '"b":2}']) == "1\n2\n"
    assert words(['{"a":1,' + " " * 40, " " * 60 + '"b":2}']) == "1\n" + " " * 36 + "2\n"


def test_a_key_beyond_any_key_is_heard() -> None:
    assert words(['{"' + "k" * 256 + '":1}']) == "1\n"
    assert words(['{"' + "void 0; " * 100]) == ("void 0; " * 100)[256:]


def test_brackets_and_keys_beyond_any_empty_form_are_heard() -> None:
    form = ",".join(f'"field {n}":{{}}' for n in range(70))
    assert words(["{" + form + "}"]) == ""
    assert words(['{"rows":[' + "{}," * 2000]) == ("{}," * 2000)[1017:]
    # A value in between is judged itself.
    assert words(['{"rows":[' + "{}," * 300 + '"x",' + "{}," * 300]) == "x\n"


@pytest.mark.parametrize(
    ("arguments", "complete"),
    [("", False), ("{", False), ("{}", True), ('{"a":[1', False), ('{"a":"}"}', True)],
)
def test_complete_arguments(arguments: str, complete: bool) -> None:
    unescaper = Unescaper()
    unescaper.feed(arguments)
    assert unescaper.complete == complete


def test_a_pair_in_two_deltas_is_one_character() -> None:
    out = Collector()
    for delta in ("a\ud83e", "\uddf1b\ud83e", "c", "\ud83e"):
        out.add_text(Lane(), delta, 1)
    found = out.take()
    out.add_text(Lane(), "\uddf1", 9)
    out.close()
    found += out.take()
    texts = [event for event in found if isinstance(event, Text)]
    assert "".join(event.text for event in texts) == "a🧱b\ud83ec🧱"
    assert texts[-1].marks.byte_after(1) == 9


# --- Growth --------------------------------------------------------------------------------------


def grown(deltas: list[str]) -> str:
    growth, out = Snapshots(), []
    for end, delta in enumerate(deltas):
        out += growth.take(delta, end)
    ends = [end for _, end in out]
    assert ends == sorted(ends)
    return "".join(text for text, _ in out + growth.close())


PROSE = "".join(f"Sentence {n} says {n * n}. " for n in range(200))


def test_growing_deltas_give_the_text_once() -> None:
    assert grown([PROSE[:n] for n in range(1, len(PROSE), 17)] + [PROSE]) == PROSE


def test_an_equal_delta_in_growth_adds_nothing() -> None:
    deltas = [PROSE[:n] for n in range(10, 900, 30) for _ in ((1, 2) if n > 500 else (1,))]
    assert grown(deltas) == PROSE[:880]


def test_growth_that_is_replaced_by_another_text_begins_anew() -> None:
    other = PROSE[::-1]
    deltas = [PROSE[:n] for n in range(10, 900, 30)] + [other[:n] for n in range(10, 900, 30)]
    assert grown(deltas) == PROSE[:880] + other[:880]


@given(unit=st.text("ab ", min_size=1, max_size=4), counts=st.lists(st.integers(1, 60)))
def test_a_loop_is_never_taken_for_growth(unit: str, counts: list[int]) -> None:
    deltas = [unit * count for count in counts]
    assert grown(deltas) == "".join(deltas)


@given(st.lists(st.text("ab", min_size=1, max_size=5)))
def test_plain_deltas_are_appended(deltas: list[str]) -> None:
    assert grown(deltas) == "".join(deltas)
