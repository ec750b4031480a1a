"""The sweep against the per-character oracle and the golden vectors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import WHITE_SPACE
from strategies import GRIDS, TEXTS
from sweeping import Verdict, judge

import loopcli.analyze.sweep.tokens as tokens_module
from loopcli.analyze.sweep.axis import stable_order
from loopcli.analyze.sweep.cells import StopKind, sweep
from loopcli.analyze.sweep.grid import Grid
from loopcli.analyze.sweep.tokens import CHUNK_CHARS, Tokens, tokenise, tokenise_all
from loopcli.rules.saturation.config import SaturationConfig

DEFAULTS = SaturationConfig(256, 32, 2, 3000, 250_000)
NAMES = {int(StopKind.LENGTH): "length", int(StopKind.REPETITION): "repetition"}


def verdicts(batch: list[Tokens], grid: Grid) -> list[dict[SaturationConfig, Verdict]]:
    """The sweep's answers in the oracle's shape, one mapping per transcript."""
    result = sweep(batch, grid)
    peaks, limits = result.peaks(), len(grid.max_response_chars)
    trips: dict[tuple[int, int], tuple[str, int, int]] = {}
    for limit in range(limits):
        found = result.trips(limit)
        columns = (found.transcript, found.rule, found.kinds, found.words, found.chars)
        for at, rule, kind, words, chars in np.array(columns).T.tolist():
            key = (at, rule * limits + limit)
            assert key not in trips
            trips[key] = (NAMES[kind], words, chars)
    per_cell = len(grid) // grid.cells
    return [
        {
            knobs: Verdict(int(peaks[at, combo // per_cell]), *trips.get((at, combo), (None, 0, 0)))
            for combo, knobs in enumerate(grid)
        }
        for at in range(len(batch))
    ]


@given(st.lists(TEXTS, max_size=4), GRIDS, st.sampled_from([150, 400, CHUNK_CHARS]))
def test_every_cell_equals_the_detector(texts: list[str], grid: Grid, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_module, "CHUNK_CHARS", chunk)
        batch = list(tokenise_all(texts))
    expected = [{knobs: judge(text, knobs) for knobs in grid} for text in texts]
    assert verdicts(batch, grid) == expected


def test_every_short_text_of_two_words() -> None:
    texts = [
        "".join(f"{word} " for word in words)
        for length in range(8)
        for words in product("ab", repeat=length)
    ]
    grid = Grid((1, 2, 3, 4, 5), (1, 2), (1, 2), (0, 1, 2, 3, 4), (0, 9))
    expected = [{knobs: judge(text, knobs) for knobs in grid} for text in texts]
    assert verdicts([tokenise(text) for text in texts], grid) == expected
    alone = [verdicts([tokenise(text)], grid)[0] for text in texts]
    assert alone == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_the_order_of_hashes_that_begin_alike(parts: list[tuple[int, int]]) -> None:
    ids = np.array([head << 48 | tail for head, tail in parts], np.uint64)
    assert stable_order(ids).tolist() == sorted(range(len(ids)), key=lambda at: int(ids[at]))


def walk(text: str) -> list[tuple[str, int, int]]:
    """Words with start and end, found character by character."""
    words: list[tuple[str, int, int]] = []
    begin = 0
    for index, char in enumerate(text):
        blank = char in WHITE_SPACE
        stop = index if blank else index + 1
        if stop > begin and (blank or stop - begin == 128):
            words.append((text[begin:stop], begin, index + 1))
            begin = stop
        if blank:
            begin = index + 1
    return words


def check_tokens(text: str, found: Tokens) -> None:
    """Compare with the walk; ids must be equal exactly where words are."""
    expected = walk(text)
    ids, names = found.ids.tolist(), [word for word, _, _ in expected]
    assert found.starts.tolist() == [begin for _, begin, _ in expected]
    assert found.ends.tolist() == [end for _, _, end in expected]
    assert found.chars == len(text)
    assert len(ids) == len(names) == found.words
    assert len(set(ids)) == len(set(names)) == len(set(zip(ids, names, strict=True)))


@given(st.lists(TEXTS, max_size=5), st.sampled_from([131, 150, 400, CHUNK_CHARS]))
def test_tokens_equal_a_walk_over_the_characters(texts: list[str], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_module, "CHUNK_CHARS", chunk)
        found = list(tokenise_all(texts))
    assert len(found) == len(texts)
    for text, tokens in zip(texts, found, strict=True):
        check_tokens(text, tokens)


@pytest.mark.parametrize("space", ["", " ", "\u3000", "\n \n"])
@pytest.mark.parametrize("length", [1, 126, 127, 128, 129, 255, 256, 257, 383, 384, 385])
@pytest.mark.parametrize("before", ["", "a ", "日 "])
def test_slices(before: str, length: int, space: str) -> None:
    for text in (before + "x" * length + space, before + "x" * length + space + "after "):
        check_tokens(text, tokenise(text))


@given(st.text(st.sampled_from("ab\0 "), max_size=60), st.integers(0, 60))
def test_words_at(text: str, chars: int) -> None:
    assert tokenise(text).words_at(chars) == sum(end <= chars for _, _, end in walk(text))


def test_a_long_text_is_read_in_pieces() -> None:
    blanks = " " * (CHUNK_CHARS + 7)
    text = f"a{blanks}{'xyz' * CHUNK_CHARS} {blanks}b é{'ab ' * CHUNK_CHARS}{'y' * 1000}"
    check_tokens(text, tokenise(text))


@pytest.mark.parametrize("spare", range(-8, 4))
def test_chunks_are_filled_to_the_last_character(spare: int) -> None:
    whole = "ab " * (CHUNK_CHARS // 3 - 1)
    texts = [whole + "x" * (CHUNK_CHARS - len(whole) + spare), "c "]
    texts += ["a " * 20, "b" * (CHUNK_CHARS - 40 + spare) + " "]
    for text, tokens in zip(texts, tokenise_all(texts), strict=True):
        check_tokens(text, tokens)


def test_no_two_words_of_a_large_vocabulary_share_an_id() -> None:
    short = [
        "".join(chars) for size in (1, 2, 3) for chars in product("\0\1abcdefgh09é日", repeat=size)
    ]
    numbers = [f"{number}" for number in range(100_000)]
    padded = [f"{'=' * left}{number}" for left in range(1, 128, 7) for number in range(10)]
    words = short + numbers + padded
    ids = tokenise(" ".join(words) + " ").ids
    assert len(np.unique(ids)) == len(set(words)) == len({*short, *numbers, *padded})


def test_white_space_is_unicode_white_space_for_every_code_point() -> None:
    points = [chr(point) for point in range(0x110000) if chr(point) not in WHITE_SPACE]
    solid = tokenise("".join(points))
    assert solid.ends.tolist() == list(range(128, len(points), 128))
    apart = tokenise("".join(f"a{space}" for space in sorted(WHITE_SPACE)))
    assert apart.words == len(WHITE_SPACE) == 25
    assert tokenise("a\x1cb\x1db\x1eb\x1fb c ").ends.tolist() == [10, 12]


def tilemap(rows: int, columns: int) -> str:
    """The generated level of gg.md section 2."""
    state, entries = 0x5EED1337, []
    for index in range(rows * columns):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        value = (state >> 33) % 20
        tile = 0 if value <= 10 else 1 if value <= 16 else 2 if value <= 18 else 3
        lead = "  " if index % columns == 0 else ""
        comma = "," if index + 1 < rows * columns else ""
        entries.append(f"{lead}{tile}{comma}" + ("\n" if (index + 1) % columns == 0 else " "))
    return f"const LEVEL_TILES = [\n{''.join(entries)}];\n"


def cycle(period: int) -> str:
    """`period` different words, 20,000 times."""
    return " ".join(f"w{number}" for number in range(period)) + " "


REPETITION, LENGTH = "repetition", "length"
VECTORS = [
    pytest.param(DEFAULTS, "void 0;\n" * 3000, (REPETITION, 3065, 12_261), None, id="1"),
    pytest.param(DEFAULTS, tilemap(47, 32), (None, 0, 0), 1409, id="2"),
    pytest.param(DEFAULTS, tilemap(64, 64), (REPETITION, 3100, 9408), None, id="3a"),
    pytest.param(DEFAULTS, tilemap(97, 32), (REPETITION, 3100, 9504), None, id="3b"),
    pytest.param(DEFAULTS, tilemap(55, 55), (None, 0, 0), 2930, id="4a"),
    pytest.param(DEFAULTS, tilemap(96, 32), (None, 0, 0), 2977, id="4b"),
    pytest.param(
        SaturationConfig(8, 3, 2, 6, 0), "void 0; " * 40, (REPETITION, 13, 53), None, id="5"
    ),
    pytest.param(
        SaturationConfig(16, 4, 2, 8, 0), "void0;" * 600, (REPETITION, 21, 2688), None, id="6"
    ),
    pytest.param(SaturationConfig(8, 2, 2, 0, 0), "a b " * 50, (REPETITION, 8, 16), None, id="15"),
    pytest.param(SaturationConfig(8, 2, 2, 1000, 0), "a b " * 50, (None, 0, 0), 95, id="16"),
    pytest.param(DEFAULTS, "x" * 250_000, (None, 0, 0), 0, id="19a"),
    pytest.param(DEFAULTS, "x" * 250_001, (LENGTH, 1953, 250_001), 0, id="19b"),
    pytest.param(
        SaturationConfig(256, 32, 2, 3000, 0),
        cycle(2) * 9000,
        (REPETITION, 3065, 9195),
        None,
        id="20-2",
    ),
    pytest.param(
        SaturationConfig(256, 32, 2, 3000, 0),
        cycle(7) * 9000,
        (REPETITION, 3225, 9675),
        None,
        id="20-7",
    ),
    pytest.param(
        SaturationConfig(256, 32, 2, 3000, 0), cycle(8) * 9000, (None, 0, 0), 0, id="20-8"
    ),
    pytest.param(
        SaturationConfig(256, 32, 2, 3000, 0),
        "void0;" * 90_000,
        (REPETITION, 3097, 396_416),
        None,
        id="21",
    ),
    pytest.param(DEFAULTS, "| a | b | c |\n" * 5000, (REPETITION, 3225, 6450), None, id="23"),
    pytest.param(SaturationConfig(256, 32, 2, 3000, 0), "0, " * 20_000, (None, 0, 0), 0, id="24"),
    pytest.param(SaturationConfig(256, 32, 2, 3000, 0), "a\x1cb " * 4000, (None, 0, 0), 0, id="26"),
    pytest.param(DEFAULTS, "a\u0085b " * 4000, (REPETITION, 3065, 6130), None, id="27"),
    pytest.param(SaturationConfig(4, 1, 1, 0, 0), "a a b c d ", (REPETITION, 4, 8), 3, id="28"),
    pytest.param(SaturationConfig(1, 1, 1, 0, 0), "a " * 10, (None, 0, 0), 0, id="29a"),
    pytest.param(SaturationConfig(2, 32, 300, 0, 0), "a b " * 10_000, (None, 0, 0), 0, id="29b"),
]


@pytest.mark.parametrize(("knobs", "text", "trip", "peak"), VECTORS)
def test_golden_vectors(
    knobs: SaturationConfig, text: str, trip: tuple[str | None, int, int], peak: int | None
) -> None:
    grid = Grid(*((value,) for value in knobs))
    found = verdicts([tokenise("other words "), tokenise(text)], grid)[1][knobs]
    assert found[1:] == trip
    assert peak is None or found.peak == peak


def test_a_repetition_wins_on_the_character_of_the_backstop() -> None:
    grid = Grid((8,), (3,), (2,), (6,), (51, 52, 53))
    found = verdicts([tokenise("void 0; " * 40)], grid)[0]
    assert [verdict[1:] for verdict in found.values()] == [
        (LENGTH, 12, 52),
        (REPETITION, 13, 53),
        (REPETITION, 13, 53),
    ]


def test_an_empty_batch_and_empty_texts() -> None:
    grid = Grid((8,), (3,), (2,), (0,), (0, 2))
    assert verdicts([], grid) == []
    found = verdicts([tokenise(""), tokenise(" \n\t "), tokenise("a")], grid)
    assert [list(each.values()) for each in found] == [
        [(0, None, 0, 0), (0, None, 0, 0)],
        [(0, None, 0, 0), (0, LENGTH, 0, 3)],
        [(0, None, 0, 0), (0, None, 0, 0)],
    ]
