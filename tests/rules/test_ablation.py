"""What each part of the period rule buys: switched off, what is missed, later or falsely cut.

A part that changes nothing here has no reason to be there. Texts are named as in
``fixtures.shapes`` (with a letter and a number), ``samples`` and ``ablations``.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ablations import PARTS, Effect, ablation_texts, alarms, effect
from helpers import judged
from samples import QUIET

from loopcli.rules.period import mending, probes, tail, track
from loopcli.rules.period.rule import PeriodRule


def names(text: str) -> frozenset[str]:
    return frozenset(filter(None, (name.strip() for name in text.split(";"))))


def changes(missed: str = "", later: str = "", cut: str = "") -> Effect:
    return Effect(names(missed), names(later), names(cut))


TEXTS = ablation_texts()
GRIDS = """zeros 64x64; zeros 100x100; zeros 100x100, bare; zeros 100x100, no blanks;
    zeros 100x100, one line; B75 grid of zeros"""
BYTES = "base64, zeros; base64, zeros in lines; base64, a pattern; hex bytes; escapes"
BOARDS = "letters 64x64; board of letters; B75 grid of signs; box; tablature"

TABLE = {
    # Short units would be looked for every 1,024 characters instead of every 256.
    "the near probe": changes(
        missed="A55 near forms",
        later="""A1 one word; A1 one word a line; A4 word to the cap; A6 before a call;
            A6 Japanese; A16 two lines; A34 one CJK character; A35 one letter;
            A48 identical objects; A56 nonsense in a call; A59 Chinese sentence; a call;
            a Chinese sentence; inside an open fence; a slip in every second copy""",
    ),
    # Units of more than 512 characters.
    "the far probe": changes(
        missed="""A40 code block; M 178 words; M 126-word list; M proof step;
            code block of 3.5 KB; damaged, 3500; a unit that is mostly a divider""",
    ),
    # The nearest copy of the last characters is one inside the unit.
    "longer distances": changes(missed="a unit that is mostly a divider"),
    # Units in which a number counts.
    "masked digits": changes(
        missed="A32 numbered steps; A37 turns, counted; M Case 59; M both numbers"
    ),
    # Loops that slip.
    "mending": changes(
        missed="""damaged, 24; damaged, 300; damaged, 3500; two odd words;
            a slip in every second copy""",
        later="A37 turns, counted; M both numbers",
    ),
    "the later tries": changes(missed="two odd words"),
    "the free echo": changes(
        missed="a slip in every second copy", later="damaged, 300; two odd words"
    ),
    "mending behind": changes(later="A55 near forms"),
    # What mending must not join.
    "the price of damage": changes(cut="dividers; seven numbered cards; a table of wide columns"),
    "the price of signs": changes(cut="a table of wide columns"),
    "the same repetition": changes(
        cut="""a sentence, a divider; a syllable, a divider; a word, another word;
            a sentence, another"""
    ),
    "rows of a board": changes(cut="letters 64x64"),
    # What is repeated on purpose.
    "the kind of signs": changes(cut="ordinary sum"),
    "the kind of drawings": changes(cut=f"{BOARDS}; skyline"),
    "the kind of tables": changes(cut="table, no numbers; html cells; empty elements"),
    "the kind of data": changes(cut=f"{GRIDS}; {BYTES}; nulls; constants"),
    "four copies of letters": changes(cut="same paragraph thrice"),
    "150 rows": changes(cut=BOARDS),
    # What is equal but for its numbers by nature.
    "eight counted copies": changes(cut="seven numbered cards"),
    "records": changes(
        later="A37 turns, counted",  # taken for running text, which is allowed more
        cut=f"""{GRIDS}; {BOARDS}; {BYTES}; nulls; constants; tilemap 1504; tilemap 55x55;
            tilemap 64x64; table, one state; wide padded table; html cells; csv; yaml, counted;
            json array, counted; code, counted; assembler""",
    ),
    "marks of a chat template": changes(missed="A37 turns, counted"),
}


@cache
def whole() -> dict[str, int | None]:
    return alarms(TEXTS)


def test_the_whole_rule_detects_every_loop_and_nothing_else() -> None:
    for name, (_, onset) in TEXTS.items():
        assert (whole()[name] is None) == (onset is None), name


def test_the_table_has_every_part() -> None:
    assert set(TABLE) == set(PARTS)


@pytest.mark.parametrize("part", TABLE)
def test_without_a_part(part: str) -> None:
    changed = effect(part, TEXTS, whole())
    assert changed == TABLE[part]
    assert any(changed)


# --- Parts that buy time -------------------------------------------------------------------------


def compared(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How often a text is compared with itself, and over how many characters."""
    looked: list[int] = []

    def counted(function: Callable[..., int]) -> Callable[..., int]:
        def wrapped(*args: Any) -> int:
            looked.append(function(*args))
            return looked[-1]

        return wrapped

    with monkeypatch.context() as patch:
        for name in ("copied_ahead", "copied_behind"):
            for module in (tail, probes, mending):
                patch.setattr(module, name, counted(getattr(track, name)), raising=False)
        judged(text, PeriodRule(past_trip=True), [65_536])
    return len(looked), sum(looked)


def test_following_only_what_may_be_a_period_spares_code_most_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[::6]
    code = "".join(path.read_text("utf-8") for path in paths)
    often, _ = compared(code, monkeypatch)
    monkeypatch.setattr(tail, "worth_following", lambda *_: True)
    assert compared(code, monkeypatch)[0] > 5 * often


def test_probing_no_further_inside_a_stretch_spares_grids_most_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = QUIET["zeros 100x100"]
    _, chars = compared(text, monkeypatch)
    monkeypatch.setattr(tail.Tail, "_covered", lambda *_: False)
    assert compared(text, monkeypatch)[1] > 5 * chars
