"""Words: where they end, how wide they may be, and where they lie in the text."""

from __future__ import annotations

import pytest
from helpers import cut
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Knobs, Measure

from loopcli.events import SharedWords
from loopcli.words import MAX_WORD, Splitter, word_hash

# The Unicode property White_Space, written out from the standard.
WHITE_SPACE = [
    *range(0x09, 0x0E),
    *(0x20, 0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]
# str.isspace() is true of these four, or they look like spaces, and they are none.
NOT_WHITE_SPACE = [0x1C, 0x1D, 0x1E, 0x1F, 0x180E, 0x200B, 0x2060, 0xFEFF]


def words_of(text: str) -> list[str]:
    return Splitter().feed(text)[0]


@pytest.mark.parametrize("point", WHITE_SPACE, ids=hex)
def test_white_space_ends_a_word(point: int) -> None:
    assert words_of(f"a{chr(point)}b ") == ["a", "b"]
    assert words_of(f"a{chr(point)}") == ["a"]


@pytest.mark.parametrize("point", NOT_WHITE_SPACE, ids=hex)
def test_what_is_not_white_space_stays_in_the_word(point: int) -> None:
    word = f"a{chr(point)}b"
    assert words_of(word + " ") == [word]
    splitter = Splitter()
    assert splitter.feed(f"a{chr(point)}")[0] == []
    assert splitter.feed("b ")[0] == [word]


@pytest.mark.parametrize("company", ["", "\x1c "], ids=["str.split", "regex"])
def test_every_code_point_on_both_paths(company: str) -> None:
    """A text with a U+001C takes another path; both know the same white space.

    Beyond the first two planes there is none.
    """
    spaces = set(map(chr, WHITE_SPACE))
    for start in range(0, 0x20000, 0x4000):
        points = [p for p in range(start, start + 0x4000) if company or p not in range(0x1C, 0x20)]
        characters = list(map(chr, points))
        text = company + "".join(f"a{c}b " for c in characters)
        want = company.split(" ")[:-1]
        for c in characters:
            want += ["a", "b"] if c in spaces else [f"a{c}b"]
        assert words_of(text) == want


@pytest.mark.parametrize(
    ("length", "slices"),
    [
        (127, [127]),
        (128, [128]),  # the space after it finds nothing pending
        (129, [128, 1]),
        (255, [128, 127]),
        (256, [128, 128]),
        (257, [128, 128, 1]),
    ],
)
def test_a_run_is_cut_at_128_characters(length: int, slices: list[int]) -> None:
    run = "x" * length + " "
    assert list(map(len, words_of(run))) == slices
    for at in (1, 64, 127, 128, length):
        splitter = Splitter()
        words = splitter.feed(run[:at])[0] + splitter.feed(run[at:])[0]
        assert list(map(len, words)) == slices


def test_a_slice_is_complete_without_white_space() -> None:
    splitter = Splitter()
    assert splitter.feed("y" * 127)[0] == []
    assert splitter.feed("y")[0] == ["y" * 128]
    assert splitter.pending == ""


def test_the_cap_counts_characters_not_bytes_or_utf_16_units() -> None:
    assert words_of("🧱" * 127 + " ") == ["🧱" * 127]
    assert words_of("🧱" * 128) == ["🧱" * 128]


def test_an_unfinished_word_is_no_word() -> None:
    splitter = Splitter()
    assert splitter.feed("one two thr")[0] == ["one", "two"]
    assert splitter.pending == "thr"
    assert splitter.feed("")[0] == []
    assert splitter.feed("ee\n")[0] == ["three"]
    assert splitter.pending == ""


def test_white_space_alone_holds_no_word() -> None:
    splitter = Splitter()
    assert splitter.feed("        \n\t\n   \n")[0] == []
    assert splitter.pending == ""


def test_what_waits_never_grows() -> None:
    splitter = Splitter()
    for _ in range(100):
        splitter.feed("z" * 1001)
        assert len(splitter.pending) < MAX_WORD


def test_identity_is_exact() -> None:
    words = ["void", "Void", "void;", "voi\ud83dd", "e\u0301", "\u00e9", "void "]
    assert len(set(map(word_hash, words))) == len(words)
    assert word_hash("void") == word_hash("vo" + "id")
    assert all(0 <= word_hash(word) < 2**64 for word in words)


# Many blanks, so that words are short, and runs around the cap.
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from([*map(chr, WHITE_SPACE), *map(chr, NOT_WHITE_SPACE), "\ud83d"]),
        st.builds(
            lambda c, n: c * n,
            st.sampled_from("x🧱"),
            st.sampled_from([1, 126, 127, 128, 129, 300]),
        ),
    ),
    max_size=12,
).map("".join)


def per_character(text: str) -> list[tuple[str, int, int]]:
    """Each word with its first character's offset and how much had been read when it ended."""
    measure, found = Measure(Knobs(1, 1, 1, 1, 0)), []
    for char in text:
        if measure.read(char):
            found.append((measure.words[-1], measure.starts[-1], measure.chars))
    return found


@settings(max_examples=300)
@given(text=TEXTS, sizes=st.lists(st.integers(0, 140), max_size=40), backwards=st.booleans())
def test_any_chunking_gives_the_same_words_at_the_same_places(
    text: str, sizes: list[int], backwards: bool
) -> None:
    splitter, found, consumed = Splitter(), [], 0
    for piece in cut(text, sizes):
        words, spans = splitter.feed(piece)
        # Places are found lazily; the order in which they are asked for must not matter.
        order = range(len(words))
        places = {
            i: (consumed + spans.start(i), consumed + spans.end(i))
            for i in (reversed(order) if backwards else order)
        }
        found += [(words[i], *places[i]) for i in order]
        consumed += len(piece)
    assert found == per_character(text)


@settings(max_examples=100)
@given(text=TEXTS, at=st.integers(0, 200))
def test_what_waits_is_all_there_is_to_know(text: str, at: int) -> None:
    splitter = Splitter()
    splitter.feed(text[:at])
    assert Splitter(splitter.pending).feed(text[at:])[0] == splitter.feed(text[at:])[0]


# --- Words that several rules share --------------------------------------------------------------


def test_the_second_rule_takes_the_words_of_the_first() -> None:
    shared, one, other = SharedWords(), Splitter("un"), Splitter("un")
    words = one.words("finished busi", shared)
    assert words == ["unfinished"]
    assert other.words("finished busi", shared) is words
    assert one.pending == other.pending == "busi"


def test_rules_that_disagree_about_what_was_pending_split_for_themselves() -> None:
    shared, text = SharedWords(), "finished busi"
    assert Splitter("un").words(text, shared) == ["unfinished"]
    assert Splitter("re").words(text, shared) == ["refinished"]
    assert Splitter("re").words(text[:4], shared) == []


@given(st.lists(st.tuples(st.text(max_size=60), st.integers(0, 40)), max_size=6))
def test_sharing_changes_nothing(pieces: list[tuple[str, int]]) -> None:
    """One rule sees every text, another only a part of some: both get their own words."""
    whole, part, alone, apart = Splitter(), Splitter(), Splitter(), Splitter()
    for text, seen in pieces:
        shared = SharedWords()
        assert whole.words(text, shared) == alone.words(text)
        some = text[:seen]
        assert part.words(some, shared) == apart.words(some)
        assert (whole.pending, part.pending) == (alone.pending, apart.pending)
