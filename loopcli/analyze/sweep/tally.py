"""What a sweep says of a corpus: one small row of figures for every combination of knobs.

Transcripts go in one by one and leave only numbers behind: per combination the counts, and for
each caught loop its delay.  Tallies of disjoint parts of a corpus can be merged, so several
processes can share the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loopcli.analyze.scoring import rates
from loopcli.analyze.sweep.cells import StopKind, Trips, sweep
from loopcli.analyze.sweep.grid import Grid
from loopcli.analyze.sweep.rows import LABELS, SweepRow
from loopcli.analyze.sweep.tokens import Ints, tokenise_all
from loopcli.verdicts import Label

BATCH_CHARS = 1 << 21
"""Characters swept together: enough to hide numpy's cost per call, few enough for the cache."""

BATCH_TRANSCRIPTS = 1 << 10
"""Transcripts swept together at most, since each brings a gap of the largest window."""

_UNKNOWN = -1
_CLEAN, _LOOP = LABELS.index(Label.CLEAN), LABELS.index(Label.LOOP)


class _Marks(NamedTuple):
    """What is known of each lane of a batch.

    owners: its transcript.  labels: that transcript's.  onset_chars, onset_words: characters, and
    completed words, before the onset, or unknown.  rest: characters from the lane's first on, to
    the end of its transcript's last lane.
    """

    owners: Ints
    labels: Ints
    onset_chars: Ints
    onset_words: Ints
    rest: Ints


class _Delays(NamedTuple):
    """Detection delays: combination, words and characters from onset to trip."""

    combos: NDArray[np.int32]
    words: NDArray[np.int32]
    chars: Ints


class Tally:
    """Collects a corpus and answers with rows.

    Memory: a few numbers per combination, 16 bytes for each caught loop with a known onset and
    combination, and the texts of one batch.  Flush before sending a tally to another process.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._transcripts = np.zeros(len(LABELS), np.int64)
        self._words = np.zeros(len(LABELS), np.int64)
        self._clean_peaks = np.zeros(grid.cells, np.int64)
        self._trips = np.zeros((len(LABELS), len(grid)), np.int64)
        self._length_trips = np.zeros(len(grid), np.int64)
        self._caught = np.zeros(len(grid), np.int64)
        self._saved = np.zeros(len(grid), np.int64)
        self._delays: list[_Delays] = []
        self._texts: list[str] = []
        self._replies: list[tuple[int, int, int]] = []
        self._waiting = 0

    def add(
        self, lanes: Sequence[str], label: Label | None = None, onset: int | None = None
    ) -> None:
        """Add one transcript, the texts of its lanes; each lane is judged by itself.

        `onset` is the number of characters before the loop began, in the lane that has it.  A
        transcript trips where the first of its lanes does that trips at all; what that lane still
        held and the later ones are saved.
        """
        self._texts += lanes
        self._replies.append(
            (LABELS.index(label), _UNKNOWN if onset is None else onset, len(lanes))
        )
        self._waiting += sum(map(len, lanes))
        crowd = max(len(self._texts), len(self._replies))
        if self._waiting >= BATCH_CHARS or crowd >= BATCH_TRANSCRIPTS:
            self.flush()

    def flush(self) -> None:
        """Sweep what waits, and let go of the texts."""
        if not self._replies:
            return
        batch = list(tokenise_all(self._texts))
        reply_labels, onsets, lanes = np.array(self._replies, np.int64).T
        owners = np.repeat(np.arange(len(lanes)), lanes)
        labels, onset_chars = reply_labels[owners], onsets[owners]
        onset_words = [each.words_at(chars) for each, chars in zip(batch, onset_chars, strict=True)]
        sizes = np.array([tokens.chars for tokens in batch], np.int64)
        behind = np.bincount(owners, sizes, len(lanes)).astype(np.int64).cumsum()[owners]
        rest = behind - (sizes.cumsum() - sizes)
        marks = _Marks(owners, labels, onset_chars, np.array(onset_words, np.int64), rest)
        self._texts, self._replies, self._waiting = [], [], 0
        result = sweep(batch, self.grid)
        self._transcripts += np.bincount(reply_labels, minlength=len(LABELS))
        np.add.at(self._words, marks.labels, result.words)
        clean = marks.labels[result.peak_transcript] == _CLEAN
        np.maximum.at(self._clean_peaks, result.peak_cell[clean], result.peak[clean])
        for limit in range(len(self.grid.max_response_chars)):
            self._take(limit, result.trips(limit), marks)

    def _take(self, limit: int, trips: Trips, marks: _Marks) -> None:
        """Add the trips of one batch under one length backstop."""
        if not len(trips.rule):
            return
        trips = _first_of_owners(trips, marks.owners, self.grid.rules)
        combos = trips.rule * len(self.grid.max_response_chars) + limit
        labels = marks.labels[trips.transcript]
        onset_chars = marks.onset_chars[trips.transcript]
        np.add.at(self._trips, (labels, combos), 1)
        np.add.at(self._length_trips, combos[trips.kinds == StopKind.LENGTH], 1)
        unwanted = labels != _CLEAN
        saved = marks.rest[trips.transcript] - trips.chars
        np.add.at(self._saved, combos[unwanted], saved[unwanted])
        # As scoring.detected says it; an unknown onset lies below every position.
        caught = (labels == _LOOP) & (trips.chars > onset_chars)
        np.add.at(self._caught, combos[caught], 1)
        timed = np.flatnonzero(caught & (onset_chars != _UNKNOWN))
        onset_words = marks.onset_words[trips.transcript[timed]]
        self._delays.append(
            _Delays(
                combos[timed].astype(np.int32),
                (trips.words[timed] - onset_words).astype(np.int32),
                trips.chars[timed] - onset_chars[timed],
            )
        )

    def merge(self, other: Tally) -> None:
        """Add what another tally over the same grid has collected."""
        if other.grid != self.grid:
            raise ValueError("tallies over different grids cannot be merged")
        other.flush()
        self._transcripts += other._transcripts
        self._words += other._words
        np.maximum(self._clean_peaks, other._clean_peaks, out=self._clean_peaks)
        self._trips += other._trips
        self._length_trips += other._length_trips
        self._caught += other._caught
        self._saved += other._saved
        self._delays += other._delays

    def count(self, label: Label | None) -> int:
        """Transcripts of that label so far."""
        self.flush()
        return int(self._transcripts[LABELS.index(label)])

    def rows(self) -> Iterator[SweepRow]:
        """The figures of every combination so far, in the grid's order."""
        self.flush()
        delay_words = _medians([(delays.combos, delays.words) for delays in self._delays])
        delay_chars = _medians([(delays.combos, delays.chars) for delays in self._delays])
        clean, loops, _ = self._transcripts.tolist()
        clean_words = int(self._words[_CLEAN])
        combos_per_cell = len(self.grid) // self.grid.cells
        for combo, knobs in enumerate(self.grid):
            clean_trips, loop_trips, other_trips = self._trips[:, combo].tolist()
            caught, delay = int(self._caught[combo]), delay_words.get(combo)
            yield SweepRow(
                knobs=knobs,
                clean_peak=int(self._clean_peaks[combo // combos_per_cell]) if clean else None,
                clean_ceiling=knobs.lowest if clean else None,
                clean_trips=clean_trips,
                loop_trips=loop_trips,
                other_trips=other_trips,
                length_trips=int(self._length_trips[combo]),
                caught=caught,
                delay_chars=delay_chars.get(combo),
                saved_chars=int(self._saved[combo]),
                score=rates(loops, caught, clean, clean_trips, clean_words, delay),
            )


def _first_of_owners(trips: Trips, owners: Ints, rules: int) -> Trips:
    """The trips of whole transcripts: for each rule that of the first lane that trips."""
    if np.all(owners[1:] != owners[:-1]):  # the usual case: a lane for each
        return trips
    keys = owners[trips.transcript] * rules + trips.rule
    order = np.lexsort((trips.transcript, keys))
    _, first = np.unique(keys[order], return_index=True)
    kept = order[first]
    return Trips(
        trips.transcript[kept],
        trips.rule[kept],
        trips.kinds[kept],
        trips.words[kept],
        trips.chars[kept],
    )


def _medians(parts: list[tuple[NDArray[np.int32], Ints | NDArray[np.int32]]]) -> dict[int, float]:
    """The median value per combination, over parts of (combinations, values)."""
    if not parts:
        return {}
    combos = np.concatenate([part[0] for part in parts])
    values = np.concatenate([part[1] for part in parts])
    order = np.lexsort((values, combos))
    present, first, sizes = np.unique(combos[order], return_index=True, return_counts=True)
    low, high = first + (sizes - 1) // 2, first + sizes // 2
    middles = (values[order][low] + values[order][high]) / 2
    return dict(zip(present.tolist(), middles.tolist(), strict=True))
