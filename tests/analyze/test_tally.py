"""The rows of a corpus against the detector run once per transcript and combination."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import GRIDS, TEXTS
from sweeping import Verdict, judge

import loopcli.analyze.sweep.tally as tally_module
from loopcli.analyze.scoring import ScoredReply, detected, score
from loopcli.analyze.sweep.cells import SweepResult, sweep
from loopcli.analyze.sweep.grid import Grid
from loopcli.analyze.sweep.rows import LABELS, SweepRow
from loopcli.analyze.sweep.tally import Tally
from loopcli.analyze.sweep.tokens import Tokens, tokenise
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.verdicts import Label

Reply = tuple[list[str], Label | None, int | None]
REPLIES = st.lists(
    st.tuples(
        st.lists(TEXTS, max_size=2) | TEXTS.map(lambda text: [text]),
        st.sampled_from(LABELS),
        st.none() | st.integers(0, 60),
    ),
    max_size=5,
)


def expected(replies: list[Reply], knobs: SaturationConfig) -> SweepRow:
    """One row, from one run of the oracle per transcript."""
    peaks: list[int] = []
    trips = dict.fromkeys(LABELS, 0)
    by_length = caught = saved = 0
    outcomes: list[ScoredReply] = []
    delay_words: list[int] = []
    for lanes, label, onset in replies:
        verdicts = [judge(text, knobs) for text in lanes]
        tripped = [at for at, verdict in enumerate(verdicts) if verdict.kind is not None]
        lane = tripped[0] if tripped else -1
        verdict = verdicts[lane] if tripped else Verdict(0, None, 0, 0)
        alarm = verdict.chars if tripped else None
        trips[label] += alarm is not None
        by_length += verdict.kind == "length"
        if label is Label.CLEAN:
            peaks += [0, *(each.peak for each in verdicts)]
        elif alarm is not None:
            saved += len("".join(lanes[lane:])) - alarm
        if label is not None:
            words = sum(tokenise(text).words for text in lanes)
            outcomes.append(ScoredReply(label is Label.LOOP, words, alarm, onset))
        if label is Label.LOOP and detected(alarm, onset):
            caught += 1
            if onset is not None:
                delay_words.append(verdict.words - tokenise(lanes[lane]).words_at(onset))
    in_chars = score(outcomes)
    return SweepRow(
        knobs=knobs,
        clean_peak=max(peaks, default=None),
        clean_ceiling=knobs.min_saturated_run if peaks else None,
        clean_trips=trips[Label.CLEAN],
        loop_trips=trips[Label.LOOP],
        other_trips=trips[None],
        length_trips=by_length,
        caught=caught,
        delay_chars=in_chars.delay,
        saved_chars=saved,
        score=replace(in_chars, delay=median(delay_words) if delay_words else None),
    )


@given(REPLIES, GRIDS, st.integers(0, 5), st.sampled_from([1, 9, 1000]))
def test_rows_equal_one_run_per_combination(
    replies: list[Reply], grid: Grid, split: int, batch: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally_module, "BATCH_CHARS", batch)
        parts = Tally(grid), Tally(grid)
        for index, reply in enumerate(replies):
            parts[index >= split].add(*reply)
        parts[0].merge(parts[1])
        rows = list(parts[0].rows())
    assert rows == [expected(replies, knobs) for knobs in grid]


def test_an_alarm_on_the_last_character_before_the_onset_is_early() -> None:
    tally = Tally(Grid((8,), (3,), (2,), (6,), (0,)))
    for onset in (52, 53):
        tally.add(["void 0; " * 40], Label.LOOP, onset)
    (row,) = tally.rows()
    assert (row.loop_trips, row.caught, row.delay_chars, row.score.delay) == (2, 1, 1.0, 1.0)


def test_short_transcripts_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "BATCH_TRANSCRIPTS", 2)
    swept: list[int] = []

    def watched(batch: list[Tokens], grid: Grid) -> SweepResult:
        swept.append(len(batch))
        return sweep(batch, grid)

    monkeypatch.setattr(tally_module, "sweep", watched)
    tally = Tally(Grid((8,), (3,), (2,), (6,), (0,)))
    for _ in range(5):
        tally.add([""])
    assert swept == [2, 2]
    next(tally.rows())
    assert swept == [2, 2, 1]


def test_only_tallies_over_one_grid_merge() -> None:
    one, other = Grid((8,), (3,), (2,), (6,), (0,)), Grid((8,), (3,), (2,), (7,), (0,))
    with pytest.raises(ValueError, match="different grids"):
        Tally(one).merge(Tally(other))
