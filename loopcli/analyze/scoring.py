"""Alarms judged against labels: the figures by which knobs are compared.

Positions are counts from the beginning of a reply, in any one unit (words, or characters).  An
episode is the looping stretch of a reply labelled ``loop``; its onset is the number of units before
it.  A figure that the data cannot define is None, never 0: the recall of no loops is not zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Two-sided 95 % point of the standard normal distribution."""


class Estimate(NamedTuple):
    """A rate with its 95 % Wilson interval, all three in the same unit."""

    value: float
    low: float
    high: float


class ScoredReply(NamedTuple):
    """What a rule did on one labelled reply.

    loop: the label.  words: length of the reply.  alarm, onset: positions, None where there was no
    alarm and where the onset is not known.
    """

    loop: bool
    words: int
    alarm: int | None
    onset: int | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one rule over labelled replies.

    recall: share of loops caught.  false_per_1000_replies: alarms on clean replies per 1,000 of
    them; false_per_million_words: the same alarms per 1,000,000 words of clean replies.
    delay: median of alarm minus onset over caught loops with a known onset.
    """

    recall: Estimate | None
    false_per_1000_replies: Estimate | None
    false_per_million_words: Estimate | None
    delay: float | None


def wilson(hits: int, trials: int, scale: float = 1.0) -> Estimate | None:
    """The share of `hits` in `trials`, times `scale`, with its Wilson score interval.

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209: unlike the textbook interval it stays inside
    [0, 1] and keeps a width at 0 and at all.

    >>> wilson(0, 0) is None
    True
    >>> [round(figure, 3) for figure in wilson(9, 10)]
    [0.9, 0.596, 0.982]
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} hits in {trials} trials")
    if trials == 0:
        return None
    share = hits / trials
    spread = Z_95 * Z_95 / trials
    centre = (share + spread / 2) / (1 + spread)
    half = Z_95 * sqrt(share * (1 - share) / trials + spread / trials / 4) / (1 + spread)
    # At the two ends one bound is exact; rounding must not push it past the share itself.
    low = 0.0 if hits == 0 else centre - half
    high = 1.0 if hits == trials else centre + half
    return Estimate(scale * share, scale * low, scale * high)


def per_exposure(events: int, exposure: int, scale: float) -> Estimate | None:
    """Events per unit of exposure, times `scale`, with the score interval of a Poisson rate.

    This is the Wilson interval for rare events in very many trials.  Unlike a share, it is also
    defined for more events than units, which backstop trips on replies of blanks may give.

    >>> [round(figure, 2) for figure in per_exposure(2, 4_000_000, 1e6)]
    [0.5, 0.14, 1.82]
    """
    if exposure == 0:
        return None
    centre = events + Z_95 * Z_95 / 2
    half = Z_95 * sqrt(events + Z_95 * Z_95 / 4)
    low = 0.0 if events == 0 else centre - half
    unit = scale / exposure
    return Estimate(unit * events, unit * low, unit * (centre + half))


def detected(alarm: int | None, onset: int | None) -> bool:
    """Whether an alarm on a looping reply detects the episode.

    An alarm before the onset was raised by something else: the loop counts as missed.  If the
    onset is not known, every alarm counts.

    >>> detected(53, 53), detected(54, 53), detected(1, None), detected(None, 53)
    (False, True, True, False)
    """
    return alarm is not None and (onset is None or alarm > onset)


def rates(
    loops: int, caught: int, clean: int, false_alarms: int, clean_words: int, delay: float | None
) -> Score:
    """The figures from counts; `delay` is the median, already taken."""
    return Score(
        wilson(caught, loops),
        wilson(false_alarms, clean, 1_000.0),
        per_exposure(false_alarms, clean_words, 1_000_000.0),
        delay,
    )


def score(outcomes: Iterable[ScoredReply]) -> Score:
    """The figures of one rule from what it did on each labelled reply."""
    loops = caught = clean = false_alarms = clean_words = 0
    delays: list[int] = []
    for outcome in outcomes:
        if outcome.loop:
            loops += 1
            if detected(outcome.alarm, outcome.onset):
                caught += 1
                if outcome.alarm is not None and outcome.onset is not None:
                    delays.append(outcome.alarm - outcome.onset)
        else:
            clean += 1
            clean_words += outcome.words
            false_alarms += outcome.alarm is not None
    delay = float(median(delays)) if delays else None
    return rates(loops, caught, clean, false_alarms, clean_words, delay)
