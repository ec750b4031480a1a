"""Rows of a replay: exact figures however the text comes, lines, several lanes; and traces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from helpers import cut
from hypothesis import given
from hypothesis import strategies as st
from oracle import judge
from strategies import TEXTS

from loopcli.analyze import gates, recent_text
from loopcli.analyze import replay as replay_module
from loopcli.analyze.replay import ReplayRow, replay
from loopcli.analyze.trace import trace
from loopcli.events import Channel, Lane
from loopcli.rules.base import Armed
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.verdicts import Label

VOID = "void 0;\n"
SMALL = SaturationConfig(8, 2, 2, 6, 300)
ALL = frozenset(Channel)
REASONING, CONTENT = Lane(Channel.REASONING), Lane()


def armed(
    config: SaturationConfig | None = None, channels: frozenset[Channel] = ALL
) -> list[Armed]:
    return [Armed(partial(SaturationRule, config, past_trip=True), channels)]


def one(pieces: Sequence[str], config: SaturationConfig | None = None) -> ReplayRow:
    (row,) = replay("a#1", [(CONTENT, pieces)], armed(config))
    return row


@given(TEXTS, st.lists(st.integers(1, 60), max_size=9), st.sampled_from([7, 90, 64 * 1024]))
def test_a_row_equals_the_oracle(text: str, sizes: list[int], piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_module, "PIECE_CHARS", piece)
        row = one(list(cut(text, sizes)), SMALL)
    wanted = judge(
        text,
        window_words=8,
        repeat_threshold=2,
        min_offenders=2,
        min_saturated_run=6,
        max_response_chars=300,
        past_trip=True,
    )
    assert (row.words, row.chars) == (wanted.total_words, wanted.total_chars)
    assert (row.peak, row.peak_word, row.peak_char) == (
        wanted.peak,
        wanted.peak_word,
        wanted.peak_char,
    )
    assert row.repeated == wanted.peak_repeated
    assert row.verdict == wanted.kind
    tripped = wanted.kind is not None
    assert (row.trip_word, row.trip_char) == (
        (wanted.words, wanted.chars) if tripped else (None, None)
    )
    lines = None if row.peak_char is None else text.count("\n", 0, row.peak_char) + 1
    assert row.peak_line == lines


def test_a_line_from_before_what_is_kept() -> None:
    words = "".join(f"w{n}\n" for n in range(1000))
    text = words + VOID * 2000 + words
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_module, "PIECE_CHARS", 500)
        patch.setattr(recent_text, "KEPT_CHARS", 2000)
        assert one([text]).peak_line == 1033
        # A second, longer run takes so long to overtake that its beginning is gone.
        row = one([VOID * 2000 + words + VOID * 2500])
    assert (row.peak > 4000, row.peak_line) == (True, None)


def test_what_was_highest_only_while_it_lasted_has_no_line() -> None:
    text = "one line\n" * 3 + "x" * 260 + "".join(f"{number:x} " for number in range(99))
    lengths = PeriodConfig()._replace(period_letters=3000, period_signs=3000)
    armed = [Armed(partial(PeriodRule, lengths, past_trip=True), frozenset(Channel))]
    whole = replay("a#1", [(Lane(), [text])], armed)
    assert whole[0].peak_char is None
    assert replay("a#1", [(Lane(), [text[:280], text[280:]])], armed) == whole


def test_the_highest_lane_and_the_first_trip() -> None:
    lanes = [
        (REASONING, ["plain words "]),
        (CONTENT, [VOID * 2000]),
        (Lane(Channel.CONTENT, block=1), [VOID * 3000]),
    ]
    (row,) = replay("a#1", lanes, armed())
    assert (row.words, row.chars) == (2 + 4000 + 6000, 12 + 16_000 + 24_000)
    assert (row.channel, row.peak, row.trip_word) == ("content", 5935, 3065)
    (row,) = replay("a#1", lanes, armed(channels=frozenset({Channel.REASONING})))
    assert (row.channel, row.words, row.peak, row.margin) == ("reasoning", 2, 0, 3000)


def test_a_reply_that_says_nothing() -> None:
    (row,) = replay("a#1", [], armed(), "clean")
    assert (row.words, row.peak, row.margin, row.channel, row.label) == (0, 0, 3000, None, "clean")


def test_a_row_for_each_rule() -> None:
    rows = replay("a#1", [(CONTENT, [VOID * 2000])], armed() + armed(SMALL))
    assert [(row.ceiling, row.trip_word) for row in rows] == [(3000, 3065), (6, 11)]


def test_gates_take_a_reply_as_one() -> None:
    rows = replay("a#1", [(CONTENT, [VOID * 500])], armed() + armed(SMALL), Label.LOOP)
    assert list(gates.labels(rows)) == []  # one of two rules is enough
    rows = replay("a#1", [(CONTENT, [VOID * 500])], armed() + armed(SMALL), Label.CLEAN)
    assert [failure.rule for failure in gates.labels(rows)] == ["saturation"]


@given(TEXTS, st.lists(st.integers(1, 60), max_size=9))
def test_a_trace_does_not_depend_on_the_pieces(text: str, sizes: list[int]) -> None:
    whole = trace([(CONTENT, [text])], armed(SMALL))
    pieces = trace([(CONTENT, list(cut(text, sizes)))], armed(SMALL))
    assert [max((p.gauge for p in each.points), default=0) for each in pieces] == [
        each.peak.value for each in whole
    ]
    assert [each.peak for each in pieces] == [each.peak for each in whole]


def test_a_long_trace_keeps_few_points() -> None:
    (found,) = trace([(CONTENT, [VOID * 10_000])], armed())
    assert 1000 < len(found.points) <= 4096
    assert found.points[-1].words == 20_000
    assert max(point.gauge for point in found.points) == found.peak.value
