"""The knobs of the streaks rule: the ladder of the whole session, and the length of a cycle."""

from __future__ import annotations

from typing import NamedTuple

from loopcli.ladder import MAX_ESCALATIONS, Ladder

NAME = "streaks"
_LADDER = Ladder()


class StreaksConfig(NamedTuple):
    """The thresholds of the ladder, which every rule for sessions shares, and what else counts.

    A threshold of 0 turns a rung off. The figures of the rungs are the document's.
    """

    observe: int = _LADDER.observe or 0
    steer: int = _LADDER.steer or 0
    escalate: int = _LADDER.escalate or 0
    block: int = _LADDER.block or 0
    stop: int = _LADDER.stop or 0
    max_escalations: int = MAX_ESCALATIONS
    # The longest cycle in public reports has five steps. The document has none.
    max_cycle: int = 5

    @property
    def ladder(self) -> Ladder:
        """The ladder that the thresholds make."""
        return Ladder(*(threshold or None for threshold in self[:5]))

    @property
    def lowest(self) -> int:
        """The streak at which the strongest rung acts; 0 if all are off."""
        return next((threshold for _, threshold in reversed(self.ladder.rungs())), 0)
