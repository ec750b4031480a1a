"""What one run of the period rule tells a sweep about runs under other knobs."""

from __future__ import annotations

from loopcli.rules.period.config import PeriodConfig, UnitKind


class _AskedConfig(PeriodConfig):
    """Knobs that note which ceilings were asked for, and what they were."""

    def __init__(self, *_: int) -> None:
        self.answers: dict[tuple[UnitKind, int], int] = {}

    def ceiling(self, kind: UnitKind, period: int) -> int:
        """Return the ceiling, which is noted."""
        answer = self.answers[kind, period] = super().ceiling(kind, period)
        return answer


class PeriodNotes:
    """The rule uses its knobs for nothing but the ceilings that it asks for.

    So a run that would have been given the same answers is the same run. And a
    reply in which the lowest ceilings leave nothing worth noting has nothing
    under any higher ones.
    """

    def __init__(self, config: PeriodConfig) -> None:
        self.config = _AskedConfig(*config)

    def ceiling_under(
        self, other: PeriodConfig, peak: int, ceiling: int, tripped: bool
    ) -> int | None:
        """Return the ceiling of the same outcome under other knobs, ``None`` if it may differ."""
        asked = self.config
        nothing = not tripped and not peak
        if nothing and all(one >= mine for one, mine in zip(other, asked, strict=True)):
            return other.lowest
        if other.judged_from != asked.judged_from:
            return None
        same = all(other.ceiling(*ask) == answer for ask, answer in asked.answers.items())
        return ceiling if same else None
