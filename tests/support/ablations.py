"""The parts of the period rule, each of which can be switched off, and texts that need them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from helpers import judged
from samples import PROSE, QUIET, YES

from fixtures.shapes import prose, shapes
from loopcli.rules.period import config, kinds, mending, probes, rule, tail, track
from loopcli.rules.period.config import PeriodConfig, UnitKind
from loopcli.rules.period.probes import GramProbe
from loopcli.rules.period.rule import PeriodRule

RNG = random.Random(11)


COUNTED = ("A32 numbered steps", "M Case 59", "M both numbers")


class AblationText(NamedTuple):
    """A text, and where the loop in it begins; a text without one must stay quiet."""

    text: str
    onset: int | None


class Patch(NamedTuple):
    """A name of a module, and what stands there instead."""

    module: Any
    name: str
    value: Any


class Effect(NamedTuple):
    """What changes without a part: loops that are missed, or found later, and good texts cut.

    Later means by more than 50 characters.
    """

    missed: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()


def _letters(size: int) -> str:
    return "".join(RNG.choice("abcdefgh kmnop") for _ in range(size))


def _damaged(period: int, change: str, lost: int = 1) -> AblationText:
    """A loop with one damaged spot, which ends before the copies behind the spot are enough."""
    ceiling = PeriodConfig().ceiling(UnitKind.LETTERS, period)
    before = period + ceiling * 3 // 4
    endless = _letters(period) * (4 * ceiling // period + 8)
    end = before + period + ceiling - 50
    return AblationText(PROSE + (endless[:before] + change + endless[before + lost :])[:end], 580)


def _slipping(period: int, every: int) -> AblationText:
    """A loop with a slip in every so many copies, each somewhere else in the unit."""
    unit = _letters(period)
    copies = [unit] * (90 * every)
    for slip in range(0, len(copies), every):
        at = RNG.randrange(period)
        copies[slip] = f"{unit[:at]}#{unit[at + 1 :]}"
    return AblationText(PROSE + "".join(copies), len(PROSE))


def ablation_texts() -> dict[str, AblationText]:
    texts = {
        shape.name: AblationText(shape.text, None if shape.want == "no" else shape.onset)
        for shape in shapes(seed=1)
        # The others are loops that only the novelty rule detects, or that someone asked for.
        if shape.want in ("no", "early") or shape.name in COUNTED
    }
    texts |= {name: AblationText(text, None) for name, text in QUIET.items()}
    texts |= {
        name: AblationText(lead + unit * n, len(lead)) for name, (lead, unit, n) in YES.items()
    }
    texts |= {f"damaged, {period}": _damaged(period, "") for period in (24, 300, 3500)}
    texts["two odd words"] = _damaged(90, "and so on, yes.")
    texts["a slip in every second copy"] = _slipping(90, 2)
    texts["a unit that is mostly a divider"] = AblationText((_letters(113) + "-" * 911) * 6, 0)
    columns = "|".join("-" * RNG.randint(70, 120) for _ in range(30))
    texts["a table of wide columns"] = AblationText(f"|{columns}|\n{PROSE}", None)
    card = prose(RNG, 120).strip()
    cards = "".join(f"Card {n}. {card}\n" for n in range(1, 8))
    texts["seven numbered cards"] = AblationText(cards + PROSE, None)
    for name, one, other in (
        ("a sentence, a divider", "All work and no play. " * 20, "=" * 300),
        ("a word, another word", "No. " * 100, "Yes. " * 100),
        ("a syllable, a divider", "la " * 150, "-" * 300),
        ("a sentence, another", "All work and no play. " * 25, "Red rum blue rum. " * 25),
    ):
        texts[name] = AblationText(f"Intro. {one}{other}{PROSE}", None)
    return texts


def _without(kind: UnitKind) -> tuple[Patch, ...]:
    """Have units of a kind taken for units with letters."""
    kind_of = kinds.kind_of

    def patched(unit: str, before: str = "") -> UnitKind:
        judged_kind = kind_of(unit, before)
        return UnitKind.LETTERS if judged_kind is kind else judged_kind

    return (Patch(kinds, "kind_of", patched),)


def _forgetful(stretch: track.Track, *args: Any, mend: Any = mending.mend) -> None:
    stretch.expected = ""
    mend(stretch, *args)


FREE = tuple(Patch(track, name, 0) for name in ("_DAMAGE", "_DAMAGE_CAP", "_DAMAGE_SIGNS"))
PARTS: dict[str, tuple[Patch, ...]] = {
    # How the copying is found.
    "the near probe": (Patch(rule, "NEAR", GramProbe(1024, 128, 4096)), Patch(rule, "FAR", None)),
    "the far probe": (Patch(rule, "FAR", None),),
    "longer distances": (Patch(probes, "_LEVELS", 1),),
    "masked digits": (Patch(rule, "masked", lambda text: text),),
    # How it is carried over damage.
    "mending": (Patch(tail, "mend", lambda *_: None),),
    "the later tries": (Patch(tail, "TRIES", (32,)), Patch(track, "TRIES", (32,))),
    "the free echo": (Patch(tail, "mend", _forgetful),),
    "mending behind": (Patch(tail, "mend_behind", lambda *_: None),),
    "the price of damage": FREE,
    "the price of signs": (Patch(track, "_DAMAGE_SIGNS", 16),),
    "the same repetition": (Patch(mending, "_alike", lambda *_: True),),
    "rows of a board": (Patch(mending, "_new_row", lambda *_: False),),
    # What is too long.
    "the kind of signs": _without(UnitKind.SIGNS),
    "the kind of drawings": _without(UnitKind.ART),
    "the kind of tables": _without(UnitKind.TABLE),
    "the kind of data": _without(UnitKind.DATA),
    "four copies of letters": (Patch(config, "_LETTERS_COPIES", 0),),
    "150 rows": (Patch(config, "_ROWS", 0),),
    "eight counted copies": (Patch(config, "_COUNTER_COPIES", 0),),
    "records": (Patch(kinds, "counter_kind", lambda _: UnitKind.COUNTER),),
    "marks of a chat template": (Patch(kinds, "_MARKS", kinds.re.compile(r"(?!)")),),
}


_CACHED = kinds.kind_of, kinds.counter_kind


def alarms(texts: Mapping[str, AblationText]) -> dict[str, int | None]:
    """Where the rule fires in each text, in characters from its beginning."""
    for function in _CACHED:
        function.cache_clear()
    verdicts = {name: judged(text, PeriodRule())[0] for name, (text, _) in texts.items()}
    return {name: None if each is None else each.chars for name, each in verdicts.items()}


def effect(part: str, texts: Mapping[str, AblationText], whole: Mapping[str, int | None]) -> Effect:
    """What changes without a part, against the alarms of the whole rule."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for module, name, value in PARTS[part]:
            monkeypatch.setattr(module, name, value)
        without = alarms(texts)
    fired = {name: at for name, at in whole.items() if at is not None}
    return Effect(
        frozenset(name for name in fired if without[name] is None),
        frozenset(name for name, at in fired.items() if (without[name] or 0) > at + 50),
        frozenset(name for name, at in without.items() if at is not None and whole[name] is None),
    )
