"""Small things that many tests need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import EventMarks, Lane, Text
from loopcli.rules.saturation import SaturationConfig, SaturationRule


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
