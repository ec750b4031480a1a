"""Short replies that are looked at together read as they do one by one."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest
from helpers import text_event

from loopcli.analyze.replay import PIECE_CHARS, Lanes, replay
from loopcli.analyze.screening import copies
from loopcli.analyze.screening.batch import Batch
from loopcli.analyze.screening.copies import Copies
from loopcli.analyze.screening.sight import Eyes, NumpyCounter
from loopcli.events import Channel, Lane
from loopcli.rules.base import Armed
from loopcli.rules.novelty.rule import NoveltyRule
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule

SOURCES = [
    (Path(sysconfig.get_paths()["stdlib"]) / name).read_text("utf-8")
    for name in ("argparse.py", "typing.py", "tarfile.py", "pydoc.py", "html/entities.py")
]
EVERYWHERE = frozenset(Channel)
NARROW = SaturationConfig(64, 6, 2, 40, 3000)
WIDE = SaturationConfig(10**12, 20, 3, 40, 0)
LOW = PeriodConfig(120, 200, 300, 400, 500, 600, 1)


def armed(config: SaturationConfig | None = None, knobs: PeriodConfig | None = None) -> list[Armed]:
    return [
        Armed(lambda: SaturationRule(config, past_trip=True), frozenset({Channel.CONTENT})),
        Armed(lambda: NoveltyRule(past_trip=True), EVERYWHERE),
        Armed(lambda: PeriodRule(knobs, past_trip=True), EVERYWHERE),
    ]


def reply(draw: random.Random, most: int) -> str:
    """Code, with now and then a repetition of any unit, a counter, or what is not ASCII."""
    parts = []
    for _ in range(draw.randrange(4)):
        source = draw.choice(SOURCES)
        at = draw.randrange(len(source))
        parts.append(source[at : at + draw.choice([0, 1, 31, 300, 1023, 1024, 3000])])
        unit = source[at : at + draw.choice([1, 2, 5, 20, 90, 400, 2000, 4000])]
        copies_ = draw.choice([0, 0, 0, 2, 3, 30])
        if draw.random() < 0.2:
            parts += [f"{unit[:90]} {number}\n" for number in range(copies_ * 3)]
        else:
            parts.append(unit * min(copies_, 20_000 // len(unit)))
        parts += draw.choice(
            [[], [], [], ["é 日本\u2003"], ["x" * 127], ["y" * 128], ["\x1c \x85"]]
        )
    return "".join(parts)[:most]


@pytest.mark.parametrize(("config", "knobs"), [(None, None), (NARROW, LOW), (WIDE, None)])
@pytest.mark.parametrize("seed", range(25))
def test_a_batch_gives_the_rows_that_replays_give(
    seed: int, config: SaturationConfig | None, knobs: PeriodConfig | None
) -> None:
    draw = random.Random(seed)
    found = []
    for number in range(60):
        lanes = [
            (draw.choice([Lane(), Lane(), Lane(Channel.REASONING), Lane(block=number)]), text)
            for text in [reply(draw, 5000) for _ in range(draw.choice([0, 1, 1, 1, 2]))]
        ]
        found.append((f"a#{number}", lanes))
    long = draw.randrange(60)
    found[long] = (found[long][0], [(Lane(), reply(draw, 90_000) + SOURCES[0][:PIECE_CHARS])])
    batch, rows = Batch(armed(config, knobs)), []
    for ident, lanes in found:
        cut = draw.randrange(1, 3000)
        pieces = [(lane, iter([text[:cut], text[cut:]])) for lane, text in lanes]
        rows += batch.take(ident, pieces, "clean", 7)
    rows += batch.flush()
    want = [
        row
        for ident, lanes in found
        for row in replay(
            ident, [(lane, [text]) for lane, text in lanes], armed(config, knobs), "clean", 7
        )
    ]
    assert rows == want
    assert not batch.flush()


def test_ordinary_replies_are_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[object] = []
    real = Batch._replay
    monkeypatch.setattr(Batch, "_replay", lambda *args: replayed.append(args) or real(*args))
    batch = Batch([armed()[0], armed()[2]])
    texts = [SOURCES[0][at : at + 4000] for at in range(0, 96_000, 4000)]
    rows = [
        row
        for number, text in enumerate(texts)
        for row in batch.take(f"a#{number}", [(Lane(), [text])], None, None)
    ]
    rows += batch.flush()
    assert len(rows) == 2 * len(texts)
    assert len(replayed) < len(texts) / 3


WORDS = "".join(f"{draw:x} " for draw in random.Random(1).choices(range(1 << 40), k=400))


def twice(size: int) -> str:
    """A text that ends in its second copy of so much, of which a place for a probe sees 128."""
    return WORDS[: 1900 - 200 - size] + WORDS[-size:] + WORDS[2000:2200] + WORDS[-size:]


@pytest.mark.parametrize(
    ("text", "replays"),
    [
        (twice(200) + WORDS[:900], 0),  # over before it could matter
        (twice(200), 1),  # it may go on
        (twice(300) + WORDS[:900], 1),  # long enough to be noted
    ],
)
def test_what_is_copied_once_and_over_needs_no_replay(
    text: str, replays: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed: list[object] = []
    real = Batch._replay
    monkeypatch.setattr(Batch, "_replay", lambda *args: replayed.append(args) or real(*args))
    batch = Batch(armed()[2:])
    batch.take("a#1", [(Lane(), [text])], None, None)
    assert batch.flush() == replay("a#1", [(Lane(), [text])], armed()[2:])
    assert len(replayed) == replays


@pytest.mark.parametrize("lanes", [[], [(Lane(), [])], [(Lane(), ["Yes."])]])
def test_the_shortest_replies_do_not_pile_up(lanes: Lanes) -> None:
    batch, count = Batch(armed()), 5_000
    rows = given = 0
    for number in range(count):
        found = len(batch.take(f"a#{number}", lanes, None, None))
        rows, given = rows + found, max(given, found)
    assert rows + len(batch.flush()) == 3 * count
    assert given < 1000


@pytest.mark.parametrize("seed", range(30))
def test_a_screened_period_rule_gives_what_it_gives_without(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_LEAST_CHARS", 0)
    draw = random.Random(seed)
    knobs = LOW if seed % 2 else PeriodConfig()
    text = "".join(reply(draw, 60_000) for _ in range(4))
    screened = PeriodRule(knobs, past_trip=True, screen=Copies(), counter=NumpyCounter(Eyes()))
    plain = PeriodRule(knobs, past_trip=True)
    at = 0
    while at < len(text):
        piece = text[at : at + draw.choice([1, 50, 3000, 20_000, PIECE_CHARS])]
        at += len(piece)
        for rule in (screened, plain):
            rule.update(text_event(piece))
        assert (screened.gauge, screened.peak) == (plain.gauge, plain.peak)
    assert screened.verdict == plain.verdict
    assert screened.regions == plain.regions
    assert (screened.words, screened.chars) == (plain.words, plain.chars)
    restored = PeriodRule(knobs, past_trip=True)
    restored.restore(screened.snapshot())
    for rule in (restored, plain):
        rule.update(text_event(text[-3000:]))
    assert (restored.gauge, restored.peak, restored.words) == (
        plain.gauge,
        plain.peak,
        plain.words,
    )
