"""What every sweep answers with: one small row of figures for each combination of knobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from loopcli.analyze.scoring import Score
from loopcli.rules.base import RuleConfig
from loopcli.verdicts import Label

LABELS = (Label.CLEAN, Label.LOOP, None)
"""The order in which a sweep counts transcripts by their label; the last are not labelled."""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One combination over the corpus; what the corpus cannot define is None.

    knobs: the combination, as the rule's configuration.
    clean_peak: among clean transcripts the peak that came nearest to its ceiling, in the rule's
    unit.  clean_ceiling: that ceiling.  *_trips: transcripts of that label that trip.
    length_trips: those, of any label, that trip by length.  caught: loops that trip after their
    onset.  delay_chars: median from onset to trip over the caught loops with a known onset.
    saved_chars: characters behind the trip, in transcripts not labelled clean.  score: recall,
    false alarms, and the same delay in words.
    """

    knobs: RuleConfig
    clean_peak: int | None
    clean_ceiling: int | None
    clean_trips: int
    loop_trips: int
    other_trips: int
    length_trips: int
    caught: int
    delay_chars: float | None
    saved_chars: int
    score: Score


class Rows(Protocol):
    """Collects a corpus, transcript by transcript, and answers with rows."""

    def flush(self) -> None:
        """Let go of every text; to be done before it is sent to another process."""

    def merge(self, other: Any) -> None:
        """Add what another has collected over the same grid."""

    def count(self, label: Label | None) -> int:
        """Transcripts of that label so far."""

    def rows(self) -> Iterator[SweepRow]:
        """The figures of every combination so far, in the grid's order."""


class ReplyRows(Rows, Protocol):
    """Collects replies."""

    def add(self, lanes: Sequence[str], label: Label | None, onset: int | None) -> None:
        """Add one reply: the texts of its lanes, and its label and onset if known."""
