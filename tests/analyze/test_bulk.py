"""Replies that are judged together give the rows that they give one by one."""

from __future__ import annotations

import json
import random
import sysconfig
from functools import partial
from pathlib import Path

import oracle
import pytest
from helpers import cut
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KNOBS, REPETITIVE

from loopcli.analyze import bulk, survey
from loopcli.analyze.bulk import Bulk, TokenCounter
from loopcli.analyze.replay import PIECE_CHARS, Lanes, ReplayRow, replay
from loopcli.analyze.sweep.tokens import tokenise
from loopcli.cli import main
from loopcli.events import Channel, Lane
from loopcli.rules.base import Armed
from loopcli.rules.novelty.rule import NoveltyRule
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.verdicts import Label
from loopcli.words import WordCounter

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
        Armed(partial(SaturationRule, config, past_trip=True), frozenset({Channel.CONTENT})),
        Armed(partial(NoveltyRule, past_trip=True), EVERYWHERE),
        Armed(partial(PeriodRule, knobs, past_trip=True), EVERYWHERE),
    ]


def reply(draw: random.Random, most: int) -> str:
    """Code, with now and then a repetition of any unit, a counter, or what is not ASCII."""
    parts = []
    for _ in range(draw.randrange(4)):
        source = draw.choice(SOURCES)
        at = draw.randrange(len(source))
        parts.append(source[at : at + draw.choice([0, 1, 31, 300, 1023, 1024, 3000])])
        unit = source[at : at + draw.choice([1, 2, 5, 20, 90, 400, 2000, 4000])]
        copies = draw.choice([0, 0, 0, 2, 3, 30])
        if draw.random() < 0.2:
            parts += [f"{unit[:90]} {number}\n" for number in range(copies * 3)]
        else:
            parts.append(unit * min(copies, 20_000 // len(unit)))
        parts += draw.choice(
            [[], [], [], ["é 日本\u2003"], ["x" * 127], ["y" * 128], ["\x1c \x85"]]
        )
    return "".join(parts)[:most]


@pytest.mark.parametrize(("config", "knobs"), [(None, None), (NARROW, LOW), (WIDE, None)])
@pytest.mark.parametrize("seed", range(12))
def test_rows_are_those_of_single_replays(
    seed: int,
    config: SaturationConfig | None,
    knobs: PeriodConfig | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bulk, "KEPT_CHARS", 60_000)  # the long reply of each seed has more
    monkeypatch.setattr(bulk, "_BATCH_CHARS", 50_000)
    draw = random.Random(seed)
    replies: list[tuple[str, list[tuple[Lane, str]]]] = []
    for number in range(60):
        lanes = [
            (draw.choice([Lane(), Lane(), Lane(Channel.REASONING), Lane(block=number)]), text)
            for text in [reply(draw, 5000) for _ in range(draw.choice([0, 1, 1, 1, 2]))]
        ]
        replies.append((f"a#{number}", lanes))
    replies[draw.randrange(60)][1].append((Lane(), reply(draw, 90_000) + SOURCES[0][:PIECE_CHARS]))
    together, rows = Bulk(armed(config, knobs)), []
    for ident, lanes in replies:
        at = draw.randrange(1, 3000)
        pieces = [(lane, iter([text[:at], text[at:]])) for lane, text in lanes]
        rows += together.take(ident, pieces, Label.CLEAN, 7)
    rows += together.flush()
    want = [
        row
        for ident, lanes in replies
        for row in replay(
            ident, [(lane, [text]) for lane, text in lanes], armed(config, knobs), Label.CLEAN, 7
        )
    ]
    assert rows == want
    assert not together.flush()


def swept(text: str, config: SaturationConfig, before: str) -> ReplayRow:
    """The saturation rule's row for a text that is judged together with another one."""
    together = Bulk(armed(config)[:1])
    rows = [
        row
        for each in (before, text)
        for row in together.take("a#1", [(Lane(), [each])], None, None)
    ]
    return [*rows, *together.flush()][1]


@settings(max_examples=300, deadline=None)
@given(text=REPETITIVE, before=REPETITIVE, knobs=KNOBS)
def test_a_row_equals_the_oracle(text: str, before: str, knobs: dict[str, int]) -> None:
    row = swept(text, SaturationConfig(**knobs), before)
    want = oracle.judge(text, **knobs, past_trip=True)
    assert (row.words, row.chars) == (want.total_words, want.total_chars)
    assert (row.peak, row.peak_word, row.peak_char) == (want.peak, want.peak_word, want.peak_char)
    assert (row.verdict, row.repeated) == (want.kind, want.peak_repeated)
    assert row.peak_char is None or row.peak_line == 1 + text[: row.peak_char].count("\n")
    if row.verdict is not None:
        assert (row.trip_word, row.trip_char) == (want.words, want.chars)


@settings(deadline=None)
@given(text=REPETITIVE, sizes=st.lists(st.integers(0, 300)))
def test_known_words_count_as_counted_ones(text: str, sizes: list[int]) -> None:
    known, counted = TokenCounter(tokenise(text)), WordCounter()
    for piece in cut(text, sizes):
        for chars in {0, len(piece) // 2, len(piece)}:
            assert known.after(piece, chars) == counted.after(piece, chars)
        known.feed(piece)
        counted.feed(piece)
        assert known.total == counted.total


@pytest.mark.parametrize("lanes", [[], [(Lane(), [])], [(Lane(), ["Yes."])]])
def test_the_shortest_replies_do_not_pile_up(lanes: Lanes) -> None:
    together, count = Bulk(armed()), 5_000
    rows = most = 0
    for number in range(count):
        given = len(together.take(f"a#{number}", lanes, None, None))
        rows, most = rows + given, max(most, given)
    assert rows + len(together.flush()) == 3 * count
    assert 0 < most < 5000


def test_a_large_corpus_is_judged_in_bulk_and_reads_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(0)
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text(reply(draw, 30_000) + "void 0; " * 2000, "utf-8")
    asked = [str(tmp_path), "--rules", "saturation,period", "--max-response-chars", "0"]
    records, used = [], []
    real = Bulk.take
    monkeypatch.setattr(Bulk, "take", lambda *args: used.append(args[1]) or real(*args))
    for worth in (1 << 40, 1):
        monkeypatch.setattr(survey, "_WORTH_NUMPY", worth)
        assert main(["analyze", "--jobs", "1", "--format", "jsonl", *asked]) == 0
        records.append([json.loads(line) for line in capfd.readouterr().out.splitlines()])
        assert bool(used) == (worth == 1)
    assert records[0] == records[1]
    assert any(record["peak"] for record in records[0])
