"""The oracle against the golden vectors, so that whatever is later held against it stands firm.

The numbers in the test names are those of the vector list. The vectors that pin how a text is cut
into pushes do not apply: the oracle sees no pushes, and its backstop fires on an exact character.
"""

from __future__ import annotations

import doctest
import hashlib

import oracle
import pytest
from oracle import Outcome, judge, split_words, window_counts

NEVER = 10**12
VOID = "void 0;\n"


def tilemap(rows: int, columns: int) -> str:
    """A game level as a model may write it: legitimate data from a tiny vocabulary."""
    state, lines = 0x5EED1337, []
    for row in range(rows):
        entries = []
        for column in range(columns):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            draw = (state >> 33) % 20
            tile = 0 if draw <= 10 else 1 if draw <= 16 else 2 if draw <= 18 else 3
            last = row == rows - 1 and column == columns - 1
            entries.append(f"{tile}" if last else f"{tile},")
        lines.append("  " + " ".join(entries) + "\n")
    return "const LEVEL_TILES = [\n" + "".join(lines) + "];\n"


def tuned(text: str, knobs: tuple[int, int, int, int, int]) -> Outcome:
    """Judge with the knobs in the order the vectors give them: N, P, M, R, L."""
    n, p, m, r, limit = knobs
    return judge(
        text,
        window_words=n,
        repeat_threshold=p,
        min_offenders=m,
        min_saturated_run=r,
        max_response_chars=limit,
    )


def trip(outcome: Outcome) -> tuple[str | None, int, int, int, int]:
    """The figures a trip is told by."""
    return outcome.kind, outcome.offenders, outcome.run, outcome.words, outcome.chars


def test_doctests() -> None:
    assert doctest.testmod(oracle).failed == 0


def test_1_void_loop() -> None:
    outcome = judge(VOID * 5000)
    assert trip(outcome) == ("repetition", 2, 3000, 3065, 12261)
    assert outcome.chars // len(VOID) + 1 == 1533
    assert outcome.repeated == ("0;", "void")
    assert (outcome.onset_word, outcome.onset_char) == (65, 261)


def test_tilemap_is_the_one_of_the_vectors() -> None:
    text = tilemap(47, 32)
    digest = "77b4e0696ee39183a155132b7a075222b1f29679c471197dc3893c5b0af70997"
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    assert text.splitlines()[1].startswith("  2, 1, 1, 1, 0, 0, 2, 0,")
    counts = window_counts(split_words(text), NEVER)
    assert [counts[word] for word in ("0,", "1,", "2,", "3,", "1")] == [829, 468, 142, 64, 1]


def test_2_tilemap_then_code() -> None:
    text = tilemap(47, 32)
    outcome = judge(text)
    assert trip(outcome) == (None, 2, 1409, 1509, 4630)
    assert outcome.peak == 1409
    after = judge(text + " ".join(f"name{i}" for i in range(300)) + "\n")
    assert (after.kind, after.run) == (None, 0)


@pytest.mark.parametrize(
    ("rows", "columns", "chars"), [(64, 64, 9408), (56, 56, 9422), (97, 32, 9504)]
)
def test_3_tilemaps_that_trip(rows: int, columns: int, chars: int) -> None:
    assert trip(judge(tilemap(rows, columns))) == ("repetition", 2, 3000, 3100, chars)


@pytest.mark.parametrize(
    ("rows", "columns", "peak"), [(55, 55, 2930), (94, 32, 2913), (96, 32, 2977)]
)
def test_4_tilemaps_that_do_not(rows: int, columns: int, peak: int) -> None:
    outcome = judge(tilemap(rows, columns))
    assert (outcome.kind, outcome.peak) == (None, peak)


def test_5_small_knobs() -> None:
    outcome = tuned("void 0; " * 40, (8, 3, 2, 6, 0))
    assert trip(outcome) == ("repetition", 2, 6, 13, 53)


def test_6_no_white_space() -> None:
    assert trip(tuned("void0;" * 600, (16, 4, 2, 8, 0))) == ("repetition", 3, 8, 21, 2688)


def test_7_characters_not_bytes() -> None:
    text = "日本語" * 200
    outcome = judge(text)
    assert (outcome.kind, outcome.words, outcome.chars) == (None, 4, 600)
    outcome = judge(text + " ünïcödé wörds — and an emoji 🧱 too\n")
    assert (outcome.kind, outcome.words, outcome.chars) == (None, 13, 636)


def test_8_blank_text() -> None:
    blank = "        \n\t\n   \n"
    assert (judge(blank).words, judge(blank).chars) == (0, 15)
    assert judge(blank + "    const x = 1;\n").words == 4


def test_9_to_11_words() -> None:
    assert split_words("cons" + "tructTile" + "Map ") == ["constructTileMap"]
    assert split_words("one two thr") == ["one", "two"]
    words = split_words("".join(f"w{i} " for i in range(10)))
    assert window_counts(words, 4) == {"w6": 1, "w7": 1, "w8": 1, "w9": 1}


@pytest.mark.parametrize(("length", "words"), [(127, 1), (128, 1), (129, 2), (256, 2)])
def test_words_are_cut_at_128(length: int, words: int) -> None:
    assert len(split_words("x" * length + " ")) == words


def test_12_window() -> None:
    assert window_counts(split_words("a a a b "), 3) == {"a": 2, "b": 1}
    counts = window_counts(split_words("a a a b c d "), 3)
    assert len(counts) == 3
    assert "a" not in counts


def test_13_run_resets() -> None:
    knobs = (4, 1, 2, 1000, 0)
    outcome = tuned("a b a b ", knobs)
    assert (outcome.offenders, outcome.run) == (2, 1)
    outcome = tuned("a b a b c d e f ", knobs)
    assert (outcome.offenders, outcome.run, outcome.peak) == (0, 0, 1)
    assert (outcome.peak_word, outcome.peak_char) == (3, 6)
    assert outcome.peak_repeated == ("a", "b")


def test_14_window_must_be_full() -> None:
    outcome = tuned("a b a b a b ", (64, 1, 2, 0, 0))
    assert (outcome.kind, outcome.offenders, outcome.words) == (None, 2, 6)


def test_15_no_run_demanded() -> None:
    assert trip(tuned("a b " * 50, (8, 2, 2, 0, 0))) == ("repetition", 2, 3, 8, 16)


def test_16_peak_without_trip() -> None:
    outcome = tuned("a b " * 50, (8, 2, 2, 1000, 0))
    assert (outcome.kind, outcome.peak, outcome.peak_word) == (None, 95, 5)


def test_17_backstop_is_exact() -> None:
    text = "lorem ipsum dolor sit amet " * 20
    outcome = tuned(text, (256, 32, NEVER, 3000, 100))
    assert (outcome.kind, outcome.chars) == ("length", 101)
    assert (outcome.onset_word, outcome.onset_char) == (None, None)
    assert tuned(text[:100], (256, 32, NEVER, 3000, 100)).kind is None


def test_18_backstop_off() -> None:
    outcome = tuned("lorem ipsum dolor " * 5000, (256, 32, NEVER, 3000, 0))
    assert (outcome.kind, outcome.chars) == (None, 90000)


def test_19_backstop_by_default() -> None:
    assert judge("x" * 250000).kind is None
    outcome = judge("x" * 250000 + "y")
    assert (outcome.kind, outcome.chars) == ("length", 250001)


@pytest.mark.parametrize("period", range(1, 9))
def test_20_periods(period: int) -> None:
    text = "".join(f"w{i} " for i in range(period)) * 20000
    outcome = judge(text, max_response_chars=0)
    if 2 <= period <= 7:
        expected = ("repetition", period, 3000, 32 * period + 3001)
        assert trip(outcome)[:4] == expected
    else:
        assert outcome.kind is None


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("void0;", ("repetition", 3, 3000, 3097, 396416)),
        ("abcdefg", ("repetition", 7, 3000, 3225, 412800)),
        ("ab", None),
        ("a();", None),
    ],
)
def test_21_units_without_white_space(
    unit: str, expected: tuple[str, int, int, int, int] | None
) -> None:
    outcome = judge(unit * 300000, max_response_chars=0)
    assert outcome.kind is None if expected is None else trip(outcome) == expected


def test_22_backstop_before_repetition() -> None:
    outcome = judge("void0;" * 60000)
    assert (outcome.kind, outcome.chars) == ("length", 250001)


def test_23_table_rows() -> None:
    outcome = judge("| a | b | c |\n" * 5000)
    assert (outcome.offenders, outcome.words, outcome.chars) == (4, 3225, 6450)
    assert outcome.repeated == ("|", "a", "b", "c")


def test_24_one_offender() -> None:
    outcome = judge("0, " * 20000, max_response_chars=0)
    assert (outcome.kind, outcome.peak, outcome.peak_word, outcome.peak_repeated) == (
        None,
        0,
        None,
        (),
    )


@pytest.mark.parametrize(("count", "words", "chars"), [(100, 3165, 12651), (1000, 4065, 17151)])
def test_25_loop_after_an_opening(count: int, words: int, chars: int) -> None:
    opening = "".join(f"n{i} " for i in range(count))
    outcome = judge(opening + VOID * 5000)
    assert (outcome.words, outcome.chars) == (words, chars)
    assert (outcome.onset_word, outcome.onset_char) == (count + 65, len(opening) + 261)


@pytest.mark.parametrize("unit", ["a\x1cb ", "a\ufeffb "])
def test_26_no_white_space(unit: str) -> None:
    outcome = judge(unit * 4000)
    assert outcome.kind is None
    assert set(split_words(unit * 4000)) == {unit[:3]}


@pytest.mark.parametrize("unit", ["a\x85b ", "a\xa0b\u3000"])
def test_27_rare_white_space(unit: str) -> None:
    outcome = judge(unit * 4000)
    assert (outcome.kind, outcome.words, outcome.chars) == ("repetition", 3065, 6130)


def test_28_waits_for_a_full_window() -> None:
    outcome = tuned("a a b c d ", (4, 1, 1, 0, 0))
    assert trip(outcome)[:4] == ("repetition", 1, 3, 4)
    assert (outcome.onset_word, outcome.onset_char) == (1, 2)


def test_29_figures_that_cannot_trip() -> None:
    assert tuned("a " * 10, (1, 1, 1, 0, 0)).kind is None
    assert tuned("a b " * 10000, (2, 32, 300, 0, 0)).kind is None


def test_repetition_wins_a_shared_character() -> None:
    text = "void 0; " * 40
    assert tuned(text, (8, 3, 2, 6, 52)).kind == "repetition"
    earlier = tuned(text, (8, 3, 2, 6, 51))
    assert (earlier.kind, earlier.chars, earlier.words) == ("length", 52, 12)


def test_past_trip_keeps_the_verdict_and_measures_on() -> None:
    text = VOID * 2000 + "so the loop has ended "
    first = judge(text)
    whole = judge(text, past_trip=True)
    assert trip(whole) == trip(first)
    assert (whole.repeated, whole.onset_word, whole.onset_char) == (
        first.repeated,
        first.onset_word,
        first.onset_char,
    )
    assert (first.peak, first.total_words, first.total_chars) == (3000, 3065, 12261)
    assert (whole.total_words, whole.total_chars) == (4005, len(text))
    assert whole.peak > 3900
    assert (whole.peak_word, whole.peak_char) == (65, 261)


def test_first_stretch_wins_a_tie() -> None:
    outcome = tuned("a b a b c d e f a b a b c d e f ", (4, 1, 2, 1000, 0))
    assert (outcome.peak, outcome.peak_word) == (1, 3)
