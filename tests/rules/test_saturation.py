"""The golden vectors of word saturation; their numbers are those of the specification.

What must stay quiet comes first: a detector that cuts off a good reply is worse than none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers import cut, run_rule, text_event
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.texts import tilemap
from loopcli.errors import ConfigError
from loopcli.rules import table
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.entry import SATURATION
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.rules.saturation.window import WordWindow
from loopcli.wording import kebab
from loopcli.words import Splitter, word_hash

REPLIES = Path(__file__).parents[2] / "fixtures" / "replies"
VOID = "void 0;\n"
WHOLE = 10**9
NEVER = 10**12
DEFAULT = (256, 32, 2, 3000, 250_000)
NO_BACKSTOP = (256, 32, 2, 3000, 0)


def config(knobs: tuple[int, int, int, int, int]) -> SaturationConfig:
    """The knobs in the order of the vectors: N, P, M, R, L."""
    return SaturationConfig(*knobs)


def run(text: str, knobs: tuple[int, int, int, int, int], width: int) -> SaturationRule:
    """Feed a text in pieces of one width."""
    return run_rule(text, config(knobs), cut(text, [width] * (len(text) // width)))


def cycle(period: int) -> str:
    return "".join(f"w{i} " for i in range(period)) * 20_000


def numbered(count: int) -> str:
    return "".join(f"n{i} " for i in range(count))


def reply(name: str) -> str:
    return (REPLIES / name).read_text("utf-8")


# --- What must not fire --------------------------------------------------------------------------


class Quiet(NamedTuple):
    """A text that must pass; figures that the vector does not state are not checked."""

    vector: str
    text: Callable[[], str]
    widths: tuple[int, ...]
    knobs: tuple[int, int, int, int, int] = DEFAULT
    words: int | None = None
    chars: int | None = None
    peak: int | None = None
    run: int | None = None


QUIET = [
    Quiet("2", lambda: tilemap(47, 32), (7, 1, WHOLE), DEFAULT, 1509, 4630, 1409, 1409),
    Quiet("2 then code", lambda: reply("clean/tilemap-then-code.txt"), (7, 1, WHOLE), run=0),
    Quiet("4 55x55", lambda: tilemap(55, 55), (7, 1, WHOLE), peak=2930),
    Quiet("4 94x32", lambda: tilemap(94, 32), (7, 1, WHOLE), peak=2913),
    Quiet("4 96x32", lambda: tilemap(96, 32), (7, 1, WHOLE), peak=2977),
    Quiet("7", lambda: "日本語" * 200, (WHOLE, 1), DEFAULT, 4, 600, 0),
    Quiet(
        "7 whole",
        lambda: "日本語" * 200 + " ünïcödé wörds — and an emoji 🧱 too\n",
        (WHOLE, 1, 600),
        DEFAULT,
        13,
        636,
        0,
    ),
    Quiet("8", lambda: "        \n\t\n   \n", (WHOLE, 1), DEFAULT, 0, 15, 0),
    Quiet(
        "8 then code",
        lambda: "        \n\t\n   \n    const x = 1;\n",
        (15, WHOLE),
        DEFAULT,
        4,
        32,
        0,
    ),
    Quiet("9", lambda: "constructTileMap ", (4, 9, WHOLE), DEFAULT, 1, 17, 0),
    Quiet("10", lambda: "one two thr", (WHOLE, 1), DEFAULT, 2, 11, 0),
    Quiet("14", lambda: "a b a b a b ", (4,), (64, 1, 2, 0, 0), 6, 12),
    Quiet("16", lambda: "a b " * 50, (3,), (8, 2, 2, 1000, 0), 100, 200, 95),
    Quiet(
        "18",
        lambda: "lorem ipsum dolor " * 5000,
        (64,),
        (256, 32, NEVER, 3000, 0),
        15000,
        90_000,
        0,
    ),
    Quiet("19", lambda: "x" * 250_000, (WHOLE, 64), DEFAULT, 1953, 250_000, 0),
    *[
        # 256 / 8 is not more than 32.
        Quiet(f"20 p={p}", lambda p=p: cycle(p), (WHOLE, 4096), NO_BACKSTOP, 20_000 * p, peak=0)
        for p in (1, 8, 9)
    ],
    *[
        # The unit's length divides 128, or its slices are too many.
        Quiet(f"21 {unit}", lambda u=unit: u * 300_000, (WHOLE, 4096), NO_BACKSTOP, peak=0)
        for unit in ("ab", "a();", "abcdefgh", "abcdefghi")
    ],
    Quiet("24", lambda: "0, " * 20_000, (WHOLE, 4096, 7), NO_BACKSTOP, 20_000, 60_000, 0),
    Quiet("26 U+001C", lambda: "a\x1cb " * 4000, (WHOLE, 7), DEFAULT, 4000, 16_000, 0),
    Quiet("26 U+FEFF", lambda: "a\ufeffb " * 4000, (WHOLE, 7), DEFAULT, 4000, 16_000, 0),
    # Entering and leaving at once, the word never exceeds its threshold.
    Quiet("29 N=1", lambda: "a " * 10, (WHOLE, 1), (1, 1, 1, 0, 0), 10, 20, 0),
    Quiet("29 M>N", lambda: "a b " * 10_000, (WHOLE, 64), (2, 32, 300, 0, 0), 20_000, peak=0),
    Quiet("prose", lambda: reply("clean/prose.txt"), (11, 1, WHOLE), DEFAULT, 394, 2167, 0),
    Quiet("program", lambda: reply("clean/program.txt"), (13, 1, WHOLE), DEFAULT, 339, 2715, 0),
    Quiet("table", lambda: reply("clean/table.txt"), (11, 1, WHOLE), DEFAULT, 688, 2485, 0),
    Quiet("base64", lambda: reply("clean/base64.txt"), (77, 1, WHOLE), DEFAULT, 169, 12_969, 0),
    Quiet("CJK", lambda: reply("clean/cjk-emoji.txt"), (3, 1, WHOLE), DEFAULT, 64, 614, 0),
    Quiet("one short of the run", lambda: VOID * 1533, (8, WHOLE), (*NO_BACKSTOP[:3], 3002, 0)),
]


@pytest.mark.parametrize("row", QUIET, ids=lambda row: row.vector)
def test_quiet(row: Quiet) -> None:
    text = row.text()
    for width in row.widths:
        rule = run(text, row.knobs, width)
        assert rule.verdict is None
        found = (rule.words, rule.chars, rule.peak.value, rule.gauge)
        stated = (row.words, row.chars, row.peak, row.run)
        assert found == tuple(f if s is None else s for f, s in zip(found, stated, strict=True))


def test_2_what_the_tilemap_leaves_behind() -> None:
    text = tilemap(47, 32)
    rule = run(text, DEFAULT, 7)
    assert rule.peak.repeated == ("0,", "1,")
    assert (rule.peak.word, rule.peak.char, rule.ceiling) == (100, 318, 3000)
    rule.update(text_event(numbered(300)))
    assert (rule.gauge, rule.verdict) == (0, None)
    assert rule.peak.value > 1409  # the loop lasts until its words have left the window


def test_2_the_fixture_is_the_text_of_the_vector() -> None:
    data = (REPLIES / "clean/tilemap-47x32.txt").read_bytes()
    digest = "77b4e0696ee39183a155132b7a075222b1f29679c471197dc3893c5b0af70997"
    assert hashlib.sha256(data).hexdigest() == digest
    assert data.decode() == tilemap(47, 32)


@pytest.mark.parametrize("widths", [range(1, 40), range(40, 400, 9), range(400, 4640, 191)])
def test_2_the_fixture_at_every_chunking(widths: range) -> None:
    text = reply("clean/tilemap-47x32.txt")
    for width in widths:
        rule = run(text, DEFAULT, width)
        figures = (rule.verdict, rule.peak.value, rule.words, rule.chars, rule.gauge)
        assert figures == (None, 1409, 1509, 4630, 1409)


@settings(max_examples=50)
@given(sizes=st.lists(st.integers(0, 500), max_size=60))
def test_2_the_fixture_cut_anywhere(sizes: list[int]) -> None:
    text = reply("clean/tilemap-47x32.txt")
    rule = run_rule(text, SaturationConfig(), cut(text, sizes))
    assert (rule.verdict, rule.peak.value, rule.words, rule.chars) == (None, 1409, 1509, 4630)


# --- What must fire, and where -------------------------------------------------------------------


class Loud(NamedTuple):
    """A text that must trip: kind, offenders, run, words and characters at that moment."""

    vector: str
    text: Callable[[], str]
    widths: tuple[int, ...]
    knobs: tuple[int, int, int, int, int]
    kind: str
    offenders: int | None
    run: int | None
    words: int | None
    chars: int


def repetition(
    vector: str,
    text: Callable[[], str],
    widths: tuple[int, ...],
    knobs: tuple[int, int, int, int, int],
    figures: tuple[int, int, int, int],
) -> Loud:
    return Loud(vector, text, widths, knobs, "repetition", *figures)


LOREM = "lorem ipsum dolor sit amet " * 20
NO_SPACE_WORDS = {"void0;": (3, 3000, 3097, 396_416), "abcdefg": (7, 3000, 3225, 412_800)}
UNBOUNDED = (256, 32, NEVER, 3000, 100)

LOUD = [
    repetition("1", lambda: VOID * 5000, (8, 1, 7, WHOLE), DEFAULT, (2, 3000, 3065, 12_261)),
    *[
        repetition(f"3 {r}x{c}", lambda r=r, c=c: tilemap(r, c), (7, 1, WHOLE), DEFAULT, figures)
        for r, c, figures in (
            (64, 64, (2, 3000, 3100, 9408)),
            (56, 56, (2, 3000, 3100, 9422)),
            (97, 32, (2, 3000, 3100, 9504)),
        )
    ],
    repetition("5", lambda: "void 0; " * 40, (WHOLE, 1), (8, 3, 2, 6, 0), (2, 6, 13, 53)),
    repetition("6", lambda: "void0;" * 600, (5, 1, WHOLE), (16, 4, 2, 8, 0), (3, 8, 21, 2688)),
    repetition("15", lambda: "a b " * 50, (3, 1, WHOLE), (8, 2, 2, 0, 0), (2, 3, 8, 16)),
    # The reference looks at the length once a push, so its figures for 17, 19 and 22 are those of
    # the pushes: 120 for pushes of 30 and 101 for pushes of 1, 250001, and 360000. Where reads fall
    # is chance. Here the backstop fires on character L + 1 wherever they fall: 101, 250001, 250001.
    Loud(
        "17", lambda: LOREM, (30, 1, WHOLE, 100, 101, 7), UNBOUNDED, "length", None, None, 18, 101
    ),
    Loud(
        "19",
        lambda: "x" * 250_000 + "y",
        (250_000, WHOLE, 64),
        DEFAULT,
        *("length", None, None, 1953, 250_001),
    ),
    Loud(
        "22", lambda: "void0;" * 60_000, (WHOLE, 64), DEFAULT, "length", None, None, 1953, 250_001
    ),
    *[
        repetition(
            f"20 p={p}",
            lambda p=p: cycle(p),
            (WHOLE, 4096, 7),
            NO_BACKSTOP,
            (p, 3000, 32 * p + 3001, 3 * (32 * p + 3001)),
        )
        for p in range(2, 8)
    ],
    *[
        repetition(f"21 {unit}", lambda u=unit: u * 300_000, (WHOLE, 4096), NO_BACKSTOP, figures)
        for unit, figures in NO_SPACE_WORDS.items()
    ],
    repetition("23", lambda: "| a | b | c |\n" * 5000, (WHOLE, 7), DEFAULT, (4, 3000, 3225, 6450)),
    repetition(
        "25", lambda: numbered(100) + VOID * 5000, (WHOLE, 7), DEFAULT, (2, 3000, 3165, 12_651)
    ),
    repetition(
        "25 later",
        lambda: numbered(1000) + VOID * 5000,
        (WHOLE, 7),
        DEFAULT,
        (2, 3000, 4065, 17_151),
    ),
    repetition("27 NEL", lambda: "a\x85b " * 4000, (WHOLE, 7), DEFAULT, (2, 3000, 3065, 6130)),
    repetition(
        "27 wide", lambda: "a\xa0b\u3000" * 4000, (WHOLE, 7), DEFAULT, (2, 3000, 3065, 6130)
    ),
    repetition("28", lambda: "a a b c d ", (WHOLE, 1), (4, 1, 1, 0, 0), (1, 3, 4, 8)),
]


@pytest.mark.parametrize("row", LOUD, ids=lambda row: row.vector)
def test_loud(row: Loud) -> None:
    text = row.text()
    for width in row.widths:
        rule = run(text, row.knobs, width)
        verdict = rule.verdict
        assert verdict is not None
        assert (verdict.kind, verdict.words, verdict.chars) == (row.kind, row.words, row.chars)
        # Inert: what came after the trip is not counted.
        assert (rule.words, rule.chars) == (row.words, row.chars)
        if row.kind == "repetition":
            assert verdict.facts == {"offenders": row.offenders, "run": row.run}
            assert verdict.message == (
                f"{row.offenders} words repeated across {row.run} consecutive words, "
                f"{row.words} words into the reply"
            )
        else:
            message = f"the reply passed {row.chars} characters without finishing"
            assert verdict.message == message
        # The offset is told within the event that was being judged.
        assert verdict.offset == (row.chars - 1) % width + 1


def test_1_push_by_push() -> None:
    rule, pushes = SaturationRule(), 0
    while rule.verdict is None:
        rule.update(text_event(VOID))
        pushes += 1
    assert pushes == 1533
    assert rule.verdict.repeated == ("0;", "void")
    assert (rule.verdict.onset_word, rule.verdict.onset_char) == (65, 261)
    assert (VOID * 100)[261:].startswith("0;\n")


def test_1_a_tripped_rule_is_inert() -> None:
    rule = run(VOID * 5000, DEFAULT, WHOLE)
    verdict, before = rule.verdict, rule.snapshot()
    for text in (VOID, "", numbered(1000), "x" * 300_000):
        assert rule.update(text_event(text)) is verdict
    assert rule.snapshot() == before
    assert (rule.words, rule.chars, rule.gauge) == (3065, 12_261, 3000)


def test_17_exactly_the_limit_passes() -> None:
    assert run(LOREM[:100], UNBOUNDED, WHOLE).verdict is None
    assert run(LOREM[:100], UNBOUNDED, 1).verdict is None


@pytest.mark.parametrize("width", [8, 1, WHOLE])
def test_repetition_wins_on_the_character_of_the_backstop(width: int) -> None:
    for limit, kind in ((12_259, "length"), (12_260, "repetition"), (12_261, "repetition")):
        verdict = run(VOID * 5000, (256, 32, 2, 3000, limit), width).verdict
        assert verdict is not None
        assert (verdict.kind, verdict.chars) == (kind, min(12_261, limit + 1))


# --- The window itself ---------------------------------------------------------------------------


def window_after(text: str, width: int, threshold: int, piece: int, batch: bool) -> WordWindow:
    """What a window holds after a text that came in pieces, word by word or piece by piece."""
    window, splitter = WordWindow(width, threshold), Splitter()
    for part in cut(text, [piece] * len(text)):
        words, _ = splitter.feed(part)
        if batch:
            window.extend(words)
        else:
            for word in words:
                window.push(word)
    return window


def counted(window: WordWindow, *words: str) -> list[int]:
    return [window.counts.get(word_hash(word), 0) for word in words]


@pytest.mark.parametrize("batch", [False, True])
def test_11_the_window_keeps_the_last_words(batch: bool) -> None:
    window = window_after("".join(f"w{i} " for i in range(10)), 4, NEVER, 6, batch)
    assert window.hashes() == [word_hash(f"w{i}") for i in range(6, 10)]
    assert (window.full, window.missing, len(window.counts)) == (True, 0, 4)


@pytest.mark.parametrize("batch", [False, True])
def test_12_what_leaves_is_forgotten(batch: bool) -> None:
    window = window_after("a a a b ", 3, 1, 4, batch)
    assert counted(window, "a", "b") == [2, 1]
    assert (len(window.counts), window.named()) == (2, ("a",))
    window = window_after("a a a b c d ", 3, 1, 4, batch)
    assert counted(window, "a", "b", "c", "d") == [0, 1, 1, 1]
    assert (len(window.counts), window.named()) == (3, ())


@pytest.mark.parametrize("batch", [False, True])
def test_13_offenders_come_and_go(batch: bool) -> None:
    assert window_after("a b a b ", 4, 1, 3, batch).named() == ("a", "b")
    assert window_after("a b a b c d e f ", 4, 1, 3, batch).named() == ()


@pytest.mark.parametrize("width", [3, 1, WHOLE])
def test_13_the_run_is_reset(width: int) -> None:
    rule = run("a b a b ", (4, 1, 2, 1000, 0), width)
    assert (rule.gauge, rule.peak.value) == (1, 1)
    for piece in cut("c d e f ", [width] * 8):
        rule.update(text_event(piece))
    assert (rule.gauge, rule.peak.value, rule.words) == (0, 1, 8)
    assert (rule.peak.word, rule.peak.char, rule.peak.repeated) == (3, 6, ("a", "b"))


def test_14_a_window_that_is_not_full_measures_but_does_not_fire() -> None:
    rule = run("a b a b a b ", (64, 1, 2, 0, 0), 4)
    assert (rule.gauge, rule.verdict) == (3, None)
    window = window_after("a b a b a b ", 64, 1, 4, False)
    assert (window.named(), window.missing, window.full) == (("a", "b"), 58, False)


def test_a_window_of_one_word_never_offends() -> None:
    """The word enters before the last one leaves, so it counts twice for a moment."""
    assert window_after("a " * 10, 1, 1, 2, False).named() == ()


# --- The knobs -----------------------------------------------------------------------------------


def refused(**written: str) -> list[str]:
    """The defects of knobs that are written as flags."""
    spelled = {knob: (f"--{knob.replace('_', '-')}", text) for knob, text in written.items()}
    with pytest.raises(ConfigError) as caught:
        table.configs(spelled)
    return list(caught.value.defects)


def test_nothing_written_is_the_documents_figures() -> None:
    assert table.configs({})["saturation"] == config(DEFAULT)


@pytest.mark.parametrize(
    ("knob", "consequence"),
    [
        ("window_words", "nothing to look back over"),
        ("repeat_threshold", "every word would be an offender"),
        ("min_offenders", "without any offender would count as saturated"),
    ],
)
def test_zero_is_refused_with_its_consequence(knob: str, consequence: str) -> None:
    (defect,) = refused(**{knob: "0"})
    assert defect.startswith(f"--{knob.replace('_', '-')} = `0`: ")
    assert consequence in defect
    with pytest.raises(ConfigError):
        SaturationRule(SaturationConfig(**{knob: 0}))


def test_zero_means_something_for_the_run_and_the_backstop() -> None:
    written = {"min_saturated_run": ("--x", "0"), "max_response_chars": ("--y", "0")}
    assert table.configs(written)["saturation"] == config((256, 32, 2, 0, 0))


@pytest.mark.parametrize(
    "text",
    ["", " ", "-1", "+1", "1.5", "1e3", "0x10", "1_000", "true", "null", "٣", "²", " 8", "8 "],
)
def test_what_is_not_a_whole_number_is_refused(text: str) -> None:
    for knob in SATURATION.knobs:
        (defect,) = refused(**{knob.name: text})
        assert f"`{text}`: not a whole number" in defect


@pytest.mark.parametrize("knob", [knob.name for knob in SATURATION.knobs])
def test_a_number_that_does_not_fit_is_refused(knob: str) -> None:
    widest = 2**32 - 1 if knob == "repeat_threshold" else 2**64 - 1
    fits = table.configs({knob: ("--x", f"000{widest}")})["saturation"]
    assert getattr(fits, knob) == widest
    for text in (str(widest + 1), "9" * 5000):
        (defect,) = refused(**{knob: text})
        assert ("32-bit" if knob == "repeat_threshold" else "64 bits") in defect


def test_all_defects_are_told_together_in_the_order_of_the_knobs() -> None:
    defects = refused(
        max_response_chars="many",
        min_saturated_run="-3",
        min_offenders="0",
        repeat_threshold="4294967296",
        window_words="0",
    )
    assert [defect.split(" = ")[0] for defect in defects] == [
        "--window-words",
        "--repeat-threshold",
        "--min-offenders",
        "--min-saturated-run",
        "--max-response-chars",
    ]


def test_the_one_warning() -> None:
    warning = SATURATION.warning(config((64, 32, 300, 3000, 0)), kebab)
    assert warning == (
        "min-offenders (300) is larger than window-words (64), so the repetition rule can never "
        "fire; only the length backstop is left"
    )
    assert SATURATION.warning(config((64, 32, 64, 3000, 0)), kebab) == ""


def test_the_armed_line() -> None:
    line = table.armed_line(["saturation"], {"saturation": config(DEFAULT)})
    assert line == (
        "loop detection: armed — a reply is abandoned after 3000 consecutive words during which 2 "
        "or more words have each occurred more than 32 times in the last 256, or once it passes "
        "250000 characters"
    )
    line = table.armed_line(["saturation"], {"saturation": config((256, 32, 2, 0, 0))})
    assert line == (
        "loop detection: armed — a reply is abandoned as soon as 2 or more words have each "
        "occurred more than 32 times in the last 256; there is no length backstop"
    )
