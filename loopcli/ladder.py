"""The ladder: which action a streak asks for, and which ladders cannot work.

Each rung has a threshold, or is off. A streak reaches every rung whose
threshold it is not below, and the strongest of them decides. What has already
happened cannot be blocked, and an escalation needs a mechanism and a budget;
where a rung cannot act, the weaker ones decide.

Source: OpenRouter, Doom-loop detection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from loopcli.actions import Action

# How often one conversation may be escalated: the document's figure.
MAX_ESCALATIONS = 2
# What a saved state may claim: the document's figure.
MAX_STREAK = 1_000_000


class Ladder(NamedTuple):
    """The threshold of each action; ``None`` is off. The figures are the document's."""

    observe: int | None = 2
    steer: int | None = None
    escalate: int | None = None
    block: int | None = 3
    stop: int | None = 6

    @classmethod
    def from_options(cls, options: object) -> Ladder:
        """Return the ladder that the document's ``ladder`` option means.

        What is no threshold is not refused: that rung keeps its default.

        >>> Ladder.from_options({"observe": False, "block": 2.9, "stop": 0})
        Ladder(observe=None, steer=None, escalate=None, block=2, stop=6)
        """
        given = options if isinstance(options, Mapping) else {}
        default = cls()
        return cls(*(_threshold(given.get(a.value), getattr(default, a)) for a in Action))

    def to_json(self) -> dict[str, int | bool]:
        """Return the ladder as the document writes it: a rung that is off is ``false``."""
        return {name: value or False for name, value in self._asdict().items()}

    def rungs(self) -> list[tuple[Action, int]]:
        """Return the rungs that are on, the weakest first."""
        steps = zip(Action, self, strict=True)
        return [(action, threshold) for action, threshold in steps if threshold is not None]

    def decide(
        self, streak: int, *, can_block: bool = True, can_escalate: bool = True
    ) -> tuple[Action, int] | None:
        """Return the strongest action that a streak reaches, and its threshold.

        >>> Ladder().decide(4), Ladder().decide(4, can_block=False), Ladder().decide(1)
        ((<Action.BLOCK: 'block'>, 3), (<Action.OBSERVE: 'observe'>, 2), None)
        """
        barred = {Action.BLOCK: not can_block, Action.ESCALATE: not can_escalate}
        for action, threshold in reversed(self.rungs()):
            if streak >= threshold and not barred.get(action):
                return action, threshold
        return None


def _threshold(value: object, default: int | None) -> int | None:
    if value is False:
        return None
    return count(value) or default


def count(value: object) -> int:
    """Return a number of 1 or more, rounded down; 0 for anything else.

    >>> count(2.9), count("3"), count(True), count(float("inf"))
    (2, 0, 0, 0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return math.floor(value) if math.isfinite(value) and value >= 1 else 0


def saved_streak(value: object, below: int | None = 1) -> int | None:
    """Return a saved count as a whole number, or ``None`` if it is no finite number.

    A count below 1 becomes ``below``.

    >>> saved_streak(2.9), saved_streak(-3), saved_streak(1e12), saved_streak("2")
    (2, 1, 1000000, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(min(value, MAX_STREAK)) if value >= 1 else below


class Escalation(NamedTuple):
    """How a turn can be escalated: on a stronger model, by asking an advisor, or both.

    ``advisor`` is ``True`` or the advisor's options.
    """

    model: str = ""
    advisor: Any = None
    max_escalations: int = MAX_ESCALATIONS

    @classmethod
    def from_options(cls, options: object) -> Escalation | None:
        """Return what the document's ``escalation`` option means; ``None`` without a mechanism."""
        given = options if isinstance(options, Mapping) else {}
        model, advisor = given.get("model"), given.get("advisor")
        escalation = cls(
            model if isinstance(model, str) else "",
            advisor or None,
            count(given.get("maxEscalations")) or MAX_ESCALATIONS,
        )
        return escalation if escalation.model or escalation.advisor else None

    def to_json(self) -> dict[str, Any]:
        """Return the mechanism as the document writes it."""
        return {
            **({"model": self.model} if self.model else {}),
            **({"advisor": self.advisor} if self.advisor else {}),
            "maxEscalations": self.max_escalations,
        }


def hazards(ladder: Ladder, escalation: Escalation | None) -> Iterator[str]:
    """Yield a warning for each combination that is accepted and cannot work as meant."""
    if ladder.block and not ladder.stop:
        yield (
            "`block` is on and `stop` is off: a model may repeat a refused call "
            "for ever, and each time costs a request"
        )
    rungs = ladder.rungs()
    for place, (weak, low) in enumerate(rungs):
        # The weakest of the stronger rungs that win from the same streak on.
        for strong, high in rungs[place + 1 :]:
            if low >= high:
                yield (
                    f"`{weak}` ({low}) can never act, because the stronger "
                    f"`{strong}` ({high}) wins from that streak on"
                )
                break
    if escalation and not ladder.escalate:
        yield "an escalation is configured, but the rung `escalate` is off"
    elif ladder.escalate and not escalation:
        yield "the rung `escalate` has no model and no advisor, so weaker rungs decide instead"
