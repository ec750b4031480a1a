"""Reading whole streams in tests, and comparing what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from loopcli.events import (
    Channel,
    Event,
    Lane,
    Problem,
    Restart,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
)
from loopcli.readers.base import Reader
from loopcli.readers.detection.auto import reader


def without_reads(events: Iterable[Event]) -> Iterator[Event]:
    """Events as if each had come in a read of its own: of token counts in a row, the last.

    Counts follow the text of their read, so they are put in front of the next event.
    """
    counts: Usage | None = None
    for event in events:
        if isinstance(event, Usage):
            counts = Usage(event.counts)
            continue
        if counts and not isinstance(event, Text):
            yield counts
            counts = None
        yield event
    if counts:
        yield counts


class Heard:
    """What a stream gave: the characters of each lane with their bytes, and everything else.

    Of long texts only some bytes are kept. Nothing of it depends on where the reads fell.
    """

    def __init__(self, reading: Reader, events: Iterable[Event]) -> None:
        self.lanes: dict[Lane, str] = {}
        self.ends: dict[Lane, list[int]] = {}
        self.others: list[Event] = []
        for event in without_reads(events):
            if isinstance(event, Text):
                lane, marks = event.lane, event.marks
                self.lanes[lane] = self.lanes.get(lane, "") + event.text
                ends = self.ends.setdefault(lane, [])
                before = len(self.lanes[lane]) - len(event.text)
                ends += [
                    marks.byte_after(size)
                    for size in range(1, len(event.text) + 1)
                    if before + size < 4000 or (before + size) % 997 == 0
                ]
            else:
                self.others.append(event)
                if isinstance(event, Restart):
                    self.lanes, self.ends = {}, {}
        self.format, self.framing = reading.name, reading.framing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heard) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def said(self, channel: str) -> list[str]:
        """The texts of a channel, in the order of their choices and blocks."""
        return [text for lane, text in sorted(self.lanes.items()) if lane.channel == channel]

    def of(self, kind: type[Event]) -> list[Any]:
        """The events of a kind."""
        return [event for event in self.others if type(event) is kind]

    @property
    def errors(self) -> list[str]:
        """What providers reported."""
        return [error.message for error in self.of(UpstreamError)]

    @property
    def problems(self) -> list[str]:
        """Why the reader gave up."""
        return [problem.message for problem in self.of(Problem)]

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The tool calls: name and arguments."""
        return [(call.name, call.arguments) for call in self.of(ToolCall)]


def hear(data: bytes, sizes: Iterable[int] = (), name: str = "auto") -> Heard:
    """Read in pieces of the given sizes; what is left over is the last piece."""
    reading, events, at = reader(name), [], 0
    for size in sizes:
        if at >= len(data):
            break
        events += reading.feed(data[at : at + size])
        at += size
    events += reading.feed(data[at:])
    return Heard(reading, events + reading.close())


CHANNELS = [channel.value for channel in Channel]
