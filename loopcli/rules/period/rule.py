"""The period rule: a reply whose end only repeats what stood one period before.

It measures the copied stretch: how many characters up to now equal the
character one period before them, for any period up to 4,096, with whitespace and
case as they are. What is too long depends on what is repeated (``config``,
``kinds``): a sentence is not repeated forty times on purpose, a zero is.

The search itself is in ``tail``. It runs twice, over the text and over the text
with every digit written as 0: a loop that counts (Case 59, Case 60) is an exact
copy there. The two know nothing of each other and judge by ceilings of their
own; what both find, the exact one states.

Source: our own, measured on public recordings of looping and of good replies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopcli.rules.base import refuse_zeros
from loopcli.rules.batching import BatchingRule
from loopcli.rules.period.config import COUNTED, COUNTED_COPIES, NAME, NEVER, PeriodConfig
from loopcli.rules.period.probes import COUNTERS, FAR, NEAR, masked
from loopcli.rules.period.tail import Tail
from loopcli.rules.period.track import Hit, Track, goes_on, line_within, readable, shortened
from loopcli.verdicts import Peak, Region, Verdict, share

# What repeats this part of its ceiling after a stretch that passed its own is the
# same loop, which has changed its unit: 435 of 640 in the one recording that does.
# A divider or a few closing brackets are not.
_ANEW = 3


class PeriodRule(BatchingRule):
    """Measures the copied stretch of one lane, in characters; its ceiling depends on the unit.

    With ``past_trip`` the verdict is latched as ever but measuring goes on, so
    that a replay learns the true peak, and ``regions`` which repetitions ended.

    >>> from loopcli.events import EventMarks, Lane, Text
    >>> rule = PeriodRule()
    >>> loop = "Well, " + "round and " * 100
    >>> verdict = rule.update(Text(Lane(), loop, EventMarks([loop], [len(loop)])))
    >>> verdict.message
    '10 characters repeated 65 times, 655 characters into the reply'
    >>> verdict.chars, verdict.onset_char, verdict.repeated
    (655, 5, ('round and ',))
    >>> verdict.facts["unit_kind"], verdict.facts["good_chars"], verdict.gauge, verdict.ceiling
    ('letters', 15, 640, 640)
    """

    name = NAME

    def __init__(self, config: PeriodConfig | None = None, *, past_trip: bool = False) -> None:
        self.config = config or PeriodConfig()
        refuse_zeros(self.config)
        lowest, counted = self.config.lowest, self.config.lowest_counted
        self._exact = Tail(NEAR, FAR, self._judge_exact, lowest, self.config.period_copies)
        self._masked = Tail(COUNTERS, None, self._judge_counter, counted, COUNTED_COPIES)
        super().__init__(past_trip=past_trip, wake=self._due)

    @property
    def _due(self) -> int:
        """The character at which one of the searches has something to do."""
        return min(self._exact.wake, self._masked.wake)

    @property
    def gauge(self) -> int:
        """The copied stretch that is nearest to its ceiling now, in characters."""
        return self._now.value

    @property
    def ceiling(self) -> int:
        """The ceiling of that stretch; while there is none, the lowest of all."""
        return self._now.ceiling or self.config.lowest

    @property
    def peak(self) -> Peak:
        """The stretch that came nearest to its ceiling so far."""
        if self._stopped:
            return _peak_of(self._stopped)
        self._catch_up()
        return _nearest(self._exact.highest(), self._masked.highest())

    @property
    def regions(self) -> list[Region]:
        """The stretches that reached their ceiling, in order; one within another is left out."""
        self._catch_up()
        regions = [
            _region(track, tail)
            for tail in (self._exact, self._masked)
            for track in tail.regions
            if track.shown
        ]
        regions.sort(key=lambda region: (region.onset_char, -region.end_char))
        kept: list[Region] = []
        for region in regions:
            if not kept or region.end_char > kept[-1].end_char:
                kept.append(region)
        if kept and (self._exact.repeats(_ANEW) or self._masked.repeats(_ANEW)):
            kept[-1] = kept[-1]._replace(ended=False)
        return kept

    def _judge(self, text: str, last: int) -> None:
        first = self._exact.feed(text), self._masked.feed(masked(text))
        hits = [self._name(hit) for hit in first if hit is not None]
        while self._past_trip and (hit := self._exact.scan() or self._masked.scan()):
            self._name(hit)
        self._wake = self._due
        if hits and self.verdict is None:
            # On the same character the exact repetition is stated.
            self._fire(text, last, min(hits, key=lambda hit: hit.chars))

    def _name(self, hit: Hit) -> Hit:
        """Note the unit as it was written."""
        chars, period, track = hit
        track.shown = track.unit
        if track.kind in COUNTED:
            # Not turned like an exact unit: where the numbers change, the turned unit
            # stands nowhere in the reply.
            track.shown = line_within(self._exact.slice(chars - 2 * period, chars), period)
        return hit

    def _fire(self, text: str, last: int, hit: Hit) -> None:
        """State the verdict of a stretch that reached its ceiling."""
        chars, _, track = hit
        period, unit = len(track.unit), _stated(track)
        words, copies = self._words_after(text, chars), 1 + track.ceiling // period
        noun = "character" if period == 1 else "characters"
        alike = " (but for digits)" if track.kind in COUNTED else ""
        self._trip(
            words,
            chars,
            last,
            message=f"{period} {noun} repeated {copies} times{alike}, "
            f"{chars} characters into the reply",
            gauge=track.ceiling,
            ceiling=track.ceiling,
            onset_char=track.onset,
            repeated=(unit,),
            facts={
                "unit": unit,
                "unit_kind": track.kind,
                "period": period,
                "copies": copies,
                "good_chars": track.onset + period,
            },
        )

    @property
    def _now(self) -> Peak:
        if self._stopped:
            return _peak_of(self._stopped)
        self._catch_up()
        return _nearest(self._exact.best(), self._masked.best())

    def _judge_exact(self, track: Track) -> tuple[str, int]:
        from loopcli.rules.period.kinds import kind_of

        kind = kind_of(track.unit, track.before)
        return kind.value, self.config.ceiling(kind, len(track.unit))

    def _judge_counter(self, track: Track) -> tuple[str, int]:
        from loopcli.rules.period.kinds import counter_kind

        kind = counter_kind(track.unit)
        return kind.value, self.config.ceiling(kind, len(track.unit))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON; ``restore`` continues from it identically."""
        state = super().snapshot()
        if not self._stopped:
            state |= {"exact": self._exact.snapshot(), "masked": self._masked.snapshot()}
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        super().restore(state)
        if "exact" in state:
            self._exact.restore(state["exact"])
            self._masked.restore(state["masked"])
            self._wake = self._due


def _nearest(*tracks: Track | None) -> Peak:
    limited = [track for track in tracks if track is not None and track.ceiling < NEVER]
    if not limited:
        return Peak()
    best = max(limited, key=lambda track: share(track.copied, track.ceiling))
    return Peak(best.copied, None, best.onset, (_stated(best),), best.ceiling)


def _stated(track: Track) -> str:
    """Return the unit of a stretch as a verdict states it."""
    if track.shown and track.kind in COUNTED:
        return shortened(track.shown)
    return readable(track.shown or track.unit)


def _peak_of(verdict: Verdict) -> Peak:
    return Peak(verdict.gauge, None, verdict.onset_char, verdict.repeated, verdict.ceiling)


def _region(track: Track, tail: Tail) -> Region:
    period, rest = len(track.unit), tail.slice(track.end, tail.total)
    copies = tail.slice(track.end - 2 * period - len(rest), track.end)
    return Region(
        kind=track.kind,
        unit=_stated(track),
        period=period,
        copies=(track.end - track.onset) // period,
        copied=track.copied,
        ceiling=track.ceiling,
        onset_char=track.onset,
        end_char=track.end,
        ended=goes_on(track, copies, rest),
    )
