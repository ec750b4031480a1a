"""The period and the novelty rule under a grid of their knobs, exact, by running them again.

Both are quick, and most combinations cannot differ on a given reply: those are told from runs
already made, so that an ordinary reply is run once and a loop as often as its verdicts differ.

- The period rule uses its knobs for nothing but the ceilings it asks for.  A run notes what it
  asked and what the answer was; where other knobs give the same answers the run is the same.
  And a reply in which the lowest ceilings leave nothing worth noting has nothing under any.
- What the novelty rule measures does not depend on its ceiling, so a reply that does not trip
  trips at no higher one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple, Protocol

from loopcli.analyze.replay import NO_MARKS, PIECE_CHARS
from loopcli.analyze.scoring import detected, rates
from loopcli.analyze.sweep.grid import RuleGrid
from loopcli.analyze.sweep.rows import LABELS, SweepRow
from loopcli.events import Lane, Text
from loopcli.rules.base import Rule
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.novelty.rule import NoveltyRule
from loopcli.rules.period.config import PeriodConfig, UnitKind
from loopcli.rules.period.rule import PeriodRule
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


class _Run(Protocol):
    """A run that has been made."""

    outcome: RerunOutcome

    def under(self, knobs: tuple[int, ...]) -> RerunOutcome | None:
        """The outcome under other knobs, None where this run does not tell it."""


class _Asked(PeriodConfig):
    """Knobs that note which ceilings were asked for, and what they were."""

    def __init__(self, *_: int) -> None:
        self.answers: dict[tuple[UnitKind, int], int] = {}

    def ceiling(self, kind: UnitKind, period: int) -> int:
        """The ceiling, which is noted."""
        answer = self.answers[kind, period] = super().ceiling(kind, period)
        return answer


class _PeriodRun:
    def __init__(self, knobs: tuple[int, ...], lanes: Sequence[str], past_trip: bool) -> None:
        self._asked = _Asked(*knobs)
        rules = (PeriodRule(self._asked, past_trip=past_trip) for _ in lanes)
        self.outcome = _judged(rules, lanes, self._asked.lowest)

    def under(self, knobs: tuple[int, ...]) -> RerunOutcome | None:
        config, asked = PeriodConfig(*knobs), self._asked
        nothing = self.outcome.lane is None and not self.outcome.peak
        if nothing and all(one >= other for one, other in zip(config, asked, strict=True)):
            return RerunOutcome(0, config.lowest)
        if config.judged_from != asked.judged_from:
            return None
        same = all(config.ceiling(*ask) == answer for ask, answer in asked.answers.items())
        return self.outcome if same else None


class _NoveltyRun:
    def __init__(self, knobs: tuple[int, ...], lanes: Sequence[str], past_trip: bool) -> None:
        self._config = config = NoveltyConfig(*knobs)
        rules = (NoveltyRule(config, past_trip=past_trip) for _ in lanes)
        self.outcome = _judged(rules, lanes, config.novelty_words)

    def under(self, knobs: tuple[int, ...]) -> RerunOutcome | None:
        config = NoveltyConfig(*knobs)
        if self.outcome.lane is not None or config.novelty_seen != self._config.novelty_seen:
            return None
        higher = config.novelty_words >= self._config.novelty_words
        return self.outcome._replace(ceiling=config.novelty_words) if higher else None


_RUNS: dict[str, Callable[..., _Run]] = {"period": _PeriodRun, "novelty": _NoveltyRun}


def _judged(rules: Iterator[Rule], lanes: Sequence[str], lowest: int) -> RerunOutcome:
    """Let each lane's rule see the lane; ``lowest`` is the ceiling where there is no lane."""
    found = RerunOutcome(0, lowest)
    for at, (rule, text) in enumerate(zip(rules, lanes, strict=True)):
        for place in range(0, len(text), PIECE_CHARS):
            rule.update(Text(Lane(), text[place : place + PIECE_CHARS], NO_MARKS))
        peak = rule.peak
        ceiling = rule.ceiling if peak.ceiling is None else peak.ceiling
        if _height(peak.value, ceiling) > _height(found.peak, found.ceiling):
            found = found._replace(peak=peak.value, ceiling=ceiling)
        if found.lane is None and (verdict := rule.verdict) is not None:
            found = found._replace(lane=at, words=verdict.words, chars=verdict.chars)
    return found


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
        self._counts = [_Count(grid.lowest(knobs)) for knobs in grid]
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
        runs: list[_Run] = []
        for knobs, count in zip(self.grid, self._counts, strict=True):
            found = next((one for run in runs if (one := run.under(knobs)) is not None), None)
            if found is None:
                # Only a clean reply's peak is wanted, and so the rest of it behind a trip.
                runs.append(_RUNS[self.grid.rule](knobs, lanes, clean))
                found = runs[-1].outcome
            if clean:
                count.raise_peak(found.peak, found.ceiling)
            if found.lane is not None:
                _take(count, found, found.lane, lanes, label, onset)

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
    found: RerunOutcome,
    lane: int,
    lanes: Sequence[str],
    label: Label | None,
    onset: int | None,
) -> None:
    """Add a trip."""
    count.trips[LABELS.index(label)] += 1
    if label is not Label.CLEAN:
        count.saved += sum(map(len, lanes[lane:])) - found.chars
    if label is Label.LOOP and detected(found.chars, onset):
        count.caught += 1
        if onset is not None:
            count.chars.append(found.chars - onset)
            count.words.append(found.words - WordCounter().after(lanes[lane], onset))
