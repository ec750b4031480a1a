"""A rule under a grid of its knobs, exact, by running it again.

Most combinations cannot differ on a given reply: the notes of runs already made answer those
(`RunNotes`), so that an ordinary reply is run once and a loop as often as its verdicts differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from loopcli.analyze.replay import NO_MARKS, PIECE_CHARS
from loopcli.analyze.scoring import detected, rates
from loopcli.analyze.sweep.grid import RuleGrid
from loopcli.analyze.sweep.rows import LABELS, SweepRow
from loopcli.events import Lane, Text
from loopcli.rules.base import Rule, RuleConfig
from loopcli.rules.registration import RerunEngine, RunNotes
from loopcli.rules.table import RULES
from loopcli.verdicts import Label, share
from loopcli.words import WordCounter


class RerunOutcome(NamedTuple):
    """What one combination makes of a transcript.

    peak, ceiling: of the lane that came nearest to its ceiling; only where it was asked for.
    lane: the first that trips, None if none does.  words, chars: read there at the trip.
    """

    peak: int
    ceiling: int
    lane: int | None = None
    words: int = 0
    chars: int = 0


class RuleRun(NamedTuple):
    """A run that has been made."""

    notes: RunNotes
    outcome: RerunOutcome

    def under(self, other: RuleConfig) -> RerunOutcome | None:
        """The outcome under other knobs, None where this run does not tell it."""
        peak, ceiling, lane, *_ = self.outcome
        now = self.notes.ceiling_under(other, peak, ceiling, lane is not None)
        return None if now is None else self.outcome._replace(ceiling=now)


def _judged(rules: Iterable[Rule], lanes: Sequence[str], lowest: int) -> RerunOutcome:
    """Let each lane's rule see the lane; ``lowest`` is the ceiling where there is no lane."""
    outcome = RerunOutcome(0, lowest)
    for at, (rule, text) in enumerate(zip(rules, lanes, strict=True)):
        for place in range(0, len(text), PIECE_CHARS):
            rule.update(Text(Lane(), text[place : place + PIECE_CHARS], NO_MARKS))
        peak = rule.peak
        ceiling = rule.ceiling if peak.ceiling is None else peak.ceiling
        if _height(peak.value, ceiling) > _height(outcome.peak, outcome.ceiling):
            outcome = outcome._replace(peak=peak.value, ceiling=ceiling)
        if outcome.lane is None and (verdict := rule.verdict) is not None:
            outcome = outcome._replace(lane=at, words=verdict.words, chars=verdict.chars)
    return outcome


def _height(peak: int, ceiling: int) -> tuple[float, int]:
    return share(peak, ceiling), peak


class _Count:
    """What one combination has come to so far."""

    __slots__ = ("caught", "ceiling", "chars", "peak", "saved", "trips", "words")

    def __init__(self, lowest: int) -> None:
        self.peak, self.ceiling = 0, lowest
        self.trips = [0] * len(LABELS)
        self.caught = self.saved = 0
        self.words: list[int] = []
        self.chars: list[int] = []

    def raise_peak(self, peak: int, ceiling: int) -> None:
        if _height(peak, ceiling) > _height(self.peak, self.ceiling):
            self.peak, self.ceiling = peak, ceiling

    def add(self, other: _Count) -> None:
        self.raise_peak(other.peak, other.ceiling)
        self.trips = [mine + theirs for mine, theirs in zip(self.trips, other.trips, strict=True)]
        self.caught += other.caught
        self.saved += other.saved
        self.words += other.words
        self.chars += other.chars


class Reruns:
    """Collects a corpus and answers with rows; keeps numbers and no text."""

    def __init__(self, grid: RuleGrid) -> None:
        self.grid = grid
        self._counts = [_Count(knobs.lowest) for knobs in grid]
        self._replies = [0] * len(LABELS)
        self._clean_words = 0

    def add(
        self, lanes: Sequence[str], label: Label | None = None, onset: int | None = None
    ) -> None:
        """Add one transcript, the texts of its lanes, as ``Tally.add`` does."""
        self._replies[LABELS.index(label)] += 1
        clean = label is Label.CLEAN
        if clean:
            self._clean_words += sum(WordCounter().after(text, len(text)) for text in lanes)
        runs: list[RuleRun] = []
        for knobs, count in zip(self.grid, self._counts, strict=True):
            outcome = next((one for run in runs if (one := run.under(knobs)) is not None), None)
            if outcome is None:
                # Only a clean reply's peak is wanted, and so the rest of it behind a trip.
                runs.append(self._run(knobs, lanes, past_trip=clean))
                outcome = runs[-1].outcome
            if clean:
                count.raise_peak(outcome.peak, outcome.ceiling)
            if outcome.lane is not None:
                _take(count, outcome, outcome.lane, lanes, label, onset)

    def _run(self, knobs: RuleConfig, lanes: Sequence[str], *, past_trip: bool) -> RuleRun:
        entry = RULES[self.grid.rule]
        assert isinstance(entry.sweep.engine, RerunEngine)
        notes, make = entry.sweep.engine.notes(knobs), entry.load()
        rules = (make(notes.config, past_trip=past_trip) for _ in lanes)
        return RuleRun(notes, _judged(rules, lanes, knobs.lowest))

    def flush(self) -> None:
        """Nothing waits."""

    def merge(self, other: Reruns) -> None:
        """Add what another has collected over the same grid."""
        if other.grid != self.grid:
            raise ValueError("reruns over different grids cannot be merged")
        pairs = zip(self._replies, other._replies, strict=True)
        self._replies = [mine + theirs for mine, theirs in pairs]
        self._clean_words += other._clean_words
        for count, more in zip(self._counts, other._counts, strict=True):
            count.add(more)

    def count(self, label: Label | None) -> int:
        """Transcripts of that label so far."""
        return self._replies[LABELS.index(label)]

    def rows(self) -> Iterator[SweepRow]:
        """The figures of every combination so far, in the grid's order."""
        clean, loops, _ = self._replies
        for knobs, count in zip(self.grid, self._counts, strict=True):
            clean_trips, loop_trips, other_trips = count.trips
            delay = float(median(count.words)) if count.words else None
            yield SweepRow(
                knobs=knobs,
                clean_peak=count.peak if clean else None,
                clean_ceiling=count.ceiling if clean else None,
                clean_trips=clean_trips,
                loop_trips=loop_trips,
                other_trips=other_trips,
                length_trips=0,
                caught=count.caught,
                delay_chars=float(median(count.chars)) if count.chars else None,
                saved_chars=count.saved,
                score=rates(loops, count.caught, clean, clean_trips, self._clean_words, delay),
            )


def _take(
    count: _Count,
    outcome: RerunOutcome,
    lane: int,
    lanes: Sequence[str],
    label: Label | None,
    onset: int | None,
) -> None:
    """Add a trip."""
    count.trips[LABELS.index(label)] += 1
    if label is not Label.CLEAN:
        count.saved += sum(map(len, lanes[lane:])) - outcome.chars
    if label is Label.LOOP and detected(outcome.chars, onset):
        count.caught += 1
        if onset is not None:
            count.chars.append(outcome.chars - onset)
            count.words.append(outcome.words - WordCounter().after(lanes[lane], onset))
