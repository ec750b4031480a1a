"""Small things that many tests need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import EventMarks, Lane, Text
from loopcli.rules.base import Rule
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.verdicts import Peak, Verdict


def text_event(text: str, lane: Lane | None = None) -> Text:
    """A text event as if one wire event had brought it."""
    return Text(lane or Lane(), text, EventMarks([text], [len(text)]))


def cut(text: str, sizes: Iterable[int]) -> Iterator[str]:
    """Cut a text at the given sizes; what is left over is the last piece."""
    at = 0
    for size in sizes:
        if at >= len(text):
            return
        yield text[at : at + size]
        at += size
    yield text[at:]


def run_rule(
    text: str, config: SaturationConfig, pieces: Iterable[str] | None = None, *, past: bool = False
) -> SaturationRule:
    """Feed a text to a fresh saturation rule."""
    rule = SaturationRule(config, past_trip=past)
    for piece in pieces if pieces is not None else [text]:
        rule.update(text_event(piece))
    return rule


def judged(text: str, rule: Rule, sizes: list[int] | None = None) -> tuple[Verdict | None, Peak]:
    """Feed a text in pieces of these sizes, over and over; its verdict, and the peak.

    The verdict's offset, which counts within the event that fired, is made absolute.
    """
    found, at, turn = None, 0, 0
    sizes = sizes or [max(len(text), 1)]
    while at < len(text):
        piece = text[at : at + sizes[turn % len(sizes)]]
        turn += 1
        had = rule.verdict
        verdict = rule.update(text_event(piece))
        if verdict is not None and had is None:
            assert 0 < verdict.offset <= len(piece)
            found = verdict._replace(offset=at + verdict.offset)
        at += len(piece)
    return found, rule.peak
