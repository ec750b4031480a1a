"""The saturation rule under a whole grid of knobs, exact, without a run per combination.

A word with occurrences at positions p[0] < p[1] < ... has more than P of them in the last W words
exactly while some stretch of P+1 occurrences has been entered and its first one not yet evicted:
during the intervals [p[j+P], p[j]+W) that are not empty.  Testing after eviction (gg.md 1.2) is
what makes the right end open.  From these intervals, merged per word, one sorted list of events
gives the number of offenders over time, hence the saturated stretches for every breadth M; the run
length R and the length backstop L are read off the stretches.

What keeps it fast: an occurrence that does not qualify at (W, P) qualifies neither at a higher P
nor at a smaller W, so thresholds go up and windows go down on a shrinking list; and many
transcripts share one pass, laid out on one axis with gaps that no window can bridge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from loopcli.analyze.sweep.axis import Axis
from loopcli.analyze.sweep.grid import Grid
from loopcli.analyze.sweep.tokens import Flags, Ints, Tokens
from loopcli.rules.saturation.config import SaturationConfig


class StopKind(IntEnum):
    """Why a reply was stopped."""

    LENGTH = 0
    REPETITION = 1


@dataclass(frozen=True, slots=True)
class Trips:
    """Trips under one length backstop, one entry for each transcript and rule that trips.

    transcript, rule: indexes into the batch and into the grid's rules.
    kinds: `StopKind` values.  words, chars: completed words and characters read at the trip.
    """

    transcript: Ints
    rule: Ints
    kinds: NDArray[np.int8]
    words: Ints
    chars: Ints


@dataclass(frozen=True, slots=True)
class SweepResult:
    """Peaks and trips of a batch, sparse: ordinary text has none for most of the grid.

    words, chars: length of each transcript.
    peak_*: one entry for each (transcript, cell) whose peak is above 0.
    trip_*: one entry for each (transcript, rule) whose repetition rule fires, backstop aside.
    length_words: words completed when the backstop fires, per transcript and backstop; -1 where
    it does not.
    """

    grid: Grid
    words: Ints
    chars: Ints
    peak_transcript: Ints
    peak_cell: Ints
    peak: Ints
    trip_transcript: Ints
    trip_rule: Ints
    trip_words: Ints
    trip_chars: Ints
    length_words: Ints

    def peaks(self) -> Ints:
        """Highest saturated runs in words, shape (transcripts, cells)."""
        dense = np.zeros((len(self.words), self.grid.cells), np.int64)
        dense[self.peak_transcript, self.peak_cell] = self.peak
        return dense

    def trips(self, limit: int) -> Trips:
        """The trips under the `limit`-th value of max_response_chars.

        The backstop fires with the first character beyond its value; a repetition on that same
        character wins, a later one never happens.
        """
        ceiling = self.grid.max_response_chars[limit]
        kept = self.trip_chars <= ceiling + 1 if ceiling else np.ones(len(self.trip_rule), np.bool_)
        transcript, rule = self.trip_transcript[kept], self.trip_rule[kept]
        stopped = np.flatnonzero(self.length_words[:, limit] >= 0)
        by_length = np.ones((len(stopped), self.grid.rules), np.bool_)
        both = np.isin(transcript, stopped)
        by_length[np.searchsorted(stopped, transcript[both]), rule[both]] = False
        row, long_rule = np.nonzero(by_length)
        long = stopped[row]
        return Trips(
            np.concatenate([transcript, long]),
            np.concatenate([rule, long_rule]),
            np.repeat(
                np.array([StopKind.REPETITION, StopKind.LENGTH], np.int8), [len(rule), len(long)]
            ),
            np.concatenate([self.trip_words[kept], self.length_words[long, limit]]),
            np.concatenate([self.trip_chars[kept], [ceiling + 1] * len(long)]).astype(np.int64),
        )


@dataclass(frozen=True, slots=True)
class _Stretches:
    """Saturated stretches [begin, end) on the axis, in order, each inside one transcript."""

    begin: Ints
    end: Ints
    transcript: Ints


def sweep(batch: Sequence[Tokens], grid: Grid) -> SweepResult:
    """Evaluate every combination of `grid` on every transcript of `batch`.

    The result equals running the detector once per transcript and combination.
    """
    axis = Axis(batch, grid.window_words[-1])
    peaks: list[tuple[Ints, Ints, Ints]] = []
    trips: list[tuple[Ints, Ints, Ints]] = []
    for cell, window, stretches in _saturated(axis, grid):
        peaks.append(_peaks(stretches, cell))
        if window <= axis.longest:  # else no window is ever full, and only a full one trips
            trips += _trips(stretches, axis, cell, window, grid.min_saturated_run)
    peak_transcript, peak_cell, peak = _columns(peaks)
    trip_transcript, trip_rule, trip_words = _columns(trips)
    limits = grid.max_response_chars
    return SweepResult(
        grid,
        axis.words,
        np.array([tokens.chars for tokens in batch], np.int64),
        peak_transcript,
        peak_cell,
        peak,
        trip_transcript,
        trip_rule,
        trip_words,
        axis.end_chars(trip_transcript, trip_words),
        np.array([_stop(tokens, limit) for tokens in batch for limit in limits], np.int64).reshape(
            len(batch), len(limits)
        ),
    )


def stretches(
    batch: Sequence[Tokens], config: SaturationConfig
) -> dict[int, list[tuple[int, int]]]:
    """Return the saturated stretches of each transcript that has any, under one combination.

    A stretch [begin, end) holds the words after each of which the window is saturated.
    """
    axis = Axis(batch, config.window_words)
    by_transcript: dict[int, list[tuple[int, int]]] = {}
    for _, _, cell in _saturated(axis, Grid(*((value,) for value in config))):
        first = axis.first[cell.transcript]
        columns = cell.transcript, cell.begin - first, cell.end - first
        for transcript, begin, end in zip(*(column.tolist() for column in columns), strict=True):
            by_transcript.setdefault(transcript, []).append((begin, end))
    return by_transcript


def _stop(tokens: Tokens, limit: int) -> int:
    """Words completed when the backstop `limit` fires, -1 if it does not."""
    return tokens.words_at(limit + 1) if 0 < limit < tokens.chars else -1


def _columns(parts: list[tuple[Ints, Ints, Ints]]) -> tuple[Ints, ...]:
    """Concatenate parts of three columns each."""
    empty = np.zeros(0, np.int64)
    return tuple(np.concatenate(column) for column in zip([empty] * 3, *parts, strict=True))


def _saturated(axis: Axis, grid: Grid) -> Iterator[tuple[int, int, _Stretches]]:
    """Yield (cell, window, stretches) for every cell that is saturated anywhere."""
    windows, thresholds, breadths = grid.axes[:3]
    keys = axis.occurrences(thresholds[0])
    widest = _all_qualifying(keys, thresholds[0], axis.gap)
    for row, window in reversed(list(enumerate(windows))):
        span = min(window, axis.longest)
        qualifying = widest
        for column, threshold in enumerate(thresholds):
            qualifying = _still_qualifying(keys, qualifying, threshold, span)
            if column == 0:
                widest = qualifying
            if not len(qualifying):
                break
            positions, offenders = _offenders(keys, qualifying, threshold, span, axis.shift)
            most = int(offenders.max())
            cell = (row * len(thresholds) + column) * len(breadths)
            for offset, breadth in enumerate(breadths):
                if breadth > most:
                    break
                yield cell + offset, window, _stretches(positions, offenders >= breadth, axis)


def _all_qualifying(keys: Ints, threshold: int, span: int) -> Ints:
    """Indexes j into `keys` where occurrence j + threshold lies less than `span` behind j."""
    return np.flatnonzero(keys[threshold:] - keys[: max(0, len(keys) - threshold)] < span)


def _still_qualifying(keys: Ints, qualifying: Ints, threshold: int, span: int) -> Ints:
    """The part of ascending indexes `qualifying` that holds for this threshold and span too."""
    last = len(keys) - threshold
    inside = qualifying[: np.searchsorted(qualifying, last)]
    return inside[keys[inside + threshold] - keys[inside] < span]


def _offenders(
    keys: Ints, qualifying: Ints, threshold: int, span: int, shift: int
) -> tuple[Ints, Ints]:
    """Positions at which the number of offenders changes, ascending, and that number.

    The number has one entry more, since it is 0 before the first change and after the last.
    Where several words change at one position the starts come first, so that the number passes
    through values it never has between words, but never dips below both neighbours.
    """
    starts = keys[qualifying + threshold]
    stops = keys[qualifying] + span
    bounds = np.ones(len(qualifying) + 1, np.bool_)
    np.greater(starts[1:], stops[:-1], out=bounds[1:-1])  # a new interval, or a new word
    mask = (1 << shift) - 1
    begin = (starts[bounds[:-1]] & mask) << 1
    end = (stops[bounds[1:]] & mask) << 1 | 1
    events = np.concatenate([begin, end])
    events.sort()
    offenders = np.zeros(len(events) + 1, np.int64)
    np.cumsum(1 - 2 * (events & 1), out=offenders[1:])
    return events >> 1, offenders


def _stretches(positions: Ints, saturated: Flags, axis: Axis) -> _Stretches:
    """The saturated stretches, cut at the end of the transcript; those of no length left out."""
    turns = np.flatnonzero(saturated[1:] != saturated[:-1])
    begin, end = positions[turns[0::2]], positions[turns[1::2]]
    real = begin < end
    begin, end = begin[real], end[real]
    transcript = np.searchsorted(axis.first, begin, side="right") - 1
    return _Stretches(begin, np.minimum(end, axis.ends[transcript]), transcript)


def _first_of_each(transcript: Ints) -> Ints:
    """Indexes where a new transcript begins in an ascending column."""
    heads = np.ones(len(transcript), np.bool_)
    np.not_equal(transcript[1:], transcript[:-1], out=heads[1:])
    return np.flatnonzero(heads)


def _peaks(stretches: _Stretches, cell: int) -> tuple[Ints, Ints, Ints]:
    """Columns transcript, cell, longest stretch."""
    heads = _first_of_each(stretches.transcript)
    runs = stretches.end - stretches.begin
    longest = np.maximum.reduceat(runs, heads) if len(heads) else runs
    return stretches.transcript[heads], np.full(len(heads), cell), longest


def _trips(
    stretches: _Stretches, axis: Axis, cell: int, window: int, ceilings: Sequence[int]
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Columns transcript, rule, words at the trip; one part for each ceiling that is reached.

    In a stretch that begins at b the run reaches R with word b + R - 1, and a trip waits for the
    window to be full as well; a ceiling of 0 asks for a saturated word all the same.
    """
    longest = int((stretches.end - stretches.begin).max(initial=0))
    first = axis.first[stretches.transcript]
    for offset, ceiling in enumerate(ceilings):
        if ceiling > longest:
            break
        fires = np.maximum(stretches.begin + max(ceiling, 1) - 1, first + window - 1)
        hits = np.flatnonzero(fires < stretches.end)
        hits = hits[_first_of_each(stretches.transcript[hits])]
        rule = np.full(len(hits), cell * len(ceilings) + offset)
        yield stretches.transcript[hits], rule, (fires - first)[hits] + 1
