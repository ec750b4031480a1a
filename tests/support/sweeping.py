"""What the tests of the sweep share: the slow judge, asked about one combination of knobs."""

from __future__ import annotations

from typing import NamedTuple

from oracle import judge as slow_judge

from loopcli.rules.saturation.config import SaturationConfig


class Verdict(NamedTuple):
    """Highest saturated run over the whole reply, and the trip: kind, words, characters read."""

    peak: int
    kind: str | None
    words: int
    chars: int


def judge(text: str, knobs: SaturationConfig) -> Verdict:
    """Replay one transcript under one combination."""
    found = slow_judge(text, **knobs._asdict(), past_trip=True)
    if found.kind is None:
        return Verdict(found.peak, None, 0, 0)
    return Verdict(found.peak, found.kind, found.words, found.chars)
