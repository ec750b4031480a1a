"""A rule for sessions under a grid of its knobs, exact, in one pass over each session.

What a rule counts does not depend on the ladder. So the combinations that differ
in rungs only share one run of the rule, of which the highest streak and the
first round of each threshold are kept; those that differ otherwise run side by
side. Nothing of a session is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from loopcli.analyze.scoring import rates
from loopcli.analyze.sweep.grid import RuleGrid
from loopcli.analyze.sweep.rows import LABELS, SweepRow
from loopcli.events import Event
from loopcli.ladder import Ladder
from loopcli.rules.base import RuleConfig, SessionRule
from loopcli.rules.streaks.config import StreaksConfig
from loopcli.rules.table import RULES
from loopcli.session_events import RoundEnd, SessionStart
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import Reading
from loopcli.verdicts import Label

# What changes nothing that a rule counts.
_LADDER = {*Ladder._fields, "max_escalations"}


class _SessionCount:
    """What one combination has come to so far."""

    __slots__ = ("peak", "trips")

    def __init__(self) -> None:
        self.peak = 0  # of clean sessions
        self.trips = [0] * len(LABELS)

    def add(self, other: _SessionCount) -> None:
        self.peak = max(self.peak, other.peak)
        self.trips = [mine + theirs for mine, theirs in zip(self.trips, other.trips, strict=True)]


class SessionRuns:
    """Collects sessions and answers with rows, as ``Rows`` does for replies.

    ``ladder`` is the configuration of the ladder in use, which a rule without
    rungs of its own keeps.
    """

    def __init__(self, grid: RuleGrid, ladder: StreaksConfig) -> None:
        self.grid = grid
        self._ladder = ladder
        self._counts = [_SessionCount() for _ in grid]
        self._sessions = [0] * len(LABELS)
        self._clean_rounds = 0

    def open(self, setup: SessionSetup, label: Callable[[int], Label | None]) -> SessionRun:
        """Return what takes the events of a file; ``label`` is that of the session of a number."""
        return SessionRun(self, setup, label)

    def ceiling(self, knobs: RuleConfig) -> int:
        """Return the streak at which a session trips; 0 never."""
        ladder = knobs if isinstance(knobs, StreaksConfig) else self._ladder
        return ladder.lowest

    def take(self, label: Label | None, rounds: int, peaks: list[int]) -> None:
        """Add a session: the highest streak under each combination."""
        place = LABELS.index(label)
        self._sessions[place] += 1
        if label is Label.CLEAN:
            self._clean_rounds += rounds
        for knobs, count, peak in zip(self.grid, self._counts, peaks, strict=True):
            if label is Label.CLEAN:
                count.peak = max(count.peak, peak)
            count.trips[place] += 0 < self.ceiling(knobs) <= peak

    def flush(self) -> None:
        """Nothing waits."""

    def merge(self, other: Any) -> None:
        """Add what another has collected over the same grid."""
        if other.grid != self.grid:
            raise ValueError("runs over different grids cannot be merged")
        pairs = zip(self._sessions, other._sessions, strict=True)
        self._sessions = [mine + theirs for mine, theirs in pairs]
        self._clean_rounds += other._clean_rounds
        for count, more in zip(self._counts, other._counts, strict=True):
            count.add(more)

    def count(self, label: Label | None) -> int:
        """Sessions of that label so far."""
        return self._sessions[LABELS.index(label)]

    def rows(self) -> Iterator[SweepRow]:
        """The figures of every combination so far, in the grid's order."""
        clean, loops, _ = self._sessions
        for knobs, count in zip(self.grid, self._counts, strict=True):
            clean_trips, loop_trips, other_trips = count.trips
            yield SweepRow(
                knobs=knobs,
                clean_peak=count.peak if clean else None,
                clean_ceiling=self.ceiling(knobs) if clean else None,
                clean_trips=clean_trips,
                loop_trips=loop_trips,
                other_trips=other_trips,
                length_trips=0,
                caught=loop_trips,
                delay_chars=None,
                saved_chars=0,
                score=rates(loops, loop_trips, clean, clean_trips, self._clean_rounds, None),
            )


class SessionRun:
    """The runs that a grid needs over the sessions of a file; ``labels`` has those of the ended."""

    def __init__(
        self, runs: SessionRuns, setup: SessionSetup, label: Callable[[int], Label | None]
    ) -> None:
        self._runs = runs
        self._label = label
        self._rounds = 0
        self.labels: list[Label | None] = []
        make = RULES[runs.grid.rule].load()
        self._rules: dict[RuleConfig, tuple[SessionRule, list[int]]] = {}
        self._keys = [_counted(knobs) for knobs in runs.grid]
        for key, knobs in zip(self._keys, runs.grid, strict=True):
            if key not in self._rules:
                self._rules[key] = make(knobs, setup), [0]

    def update(self, event: Event) -> None:
        """Judge one event under every combination."""
        self._rounds += isinstance(event, RoundEnd)
        if isinstance(event, SessionStart):
            self.close()
        for rule, peak in self._rules.values():
            for reading in rule.update(event):
                if isinstance(reading, Reading) and reading.streak > peak[0]:
                    peak[0] = reading.streak

    def close(self) -> None:
        """Add the session to the figures, unless it had no round."""
        rounds, self._rounds = self._rounds, 0
        peaks = [self._rules[key][1][0] for key in self._keys]
        for _, peak in self._rules.values():
            peak[0] = 0
        if rounds:
            label = self._label(len(self.labels) + 1)
            self.labels.append(label)
            self._runs.take(label, rounds, peaks)


def _counted(knobs: RuleConfig) -> RuleConfig:
    """Return knobs without those that change nothing that is counted."""
    values = knobs._asdict()
    return type(knobs)(**{name: value for name, value in values.items() if name not in _LADDER})
