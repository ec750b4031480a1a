"""Raw streams and response bodies: whatever the filter reads, kept in a file.

Rules of this file:

- The readers know what the bytes mean; here their events become replies.
- Each choice is a reply of its own, with its content, reasoning and tool
  arguments as lanes.
- The lanes of a stream interleave, so their text is kept until the stream
  ends. That is bounded: a stream with more text than any reply has is read up
  to the bound, and said to be.
- Where a gateway gave up an attempt and began another, both are replies: the
  model wrote both, and neither continues the other.
- A choice counts as a reply from the first thing that is said of it, even if
  the model said nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import Event, Finish, Lane, Problem, Restart, Text, ToolStart, UpstreamError
from loopcli.readers.detection.auto import AutoReader
from loopcli.recordings.base import Defect, Found, Reply
from loopcli.recordings.formats.plain_text import lazily, texts_of
from loopcli.status import Status

MAX_STREAM_CHARS = 64 * 1024 * 1024
# How a stream begins, whatever its file is called: fields, comments, an HTTP head.
STARTS = (b"data:", b"event:", b"id:", b"retry:", b":", b"HTTP/")
# What a reader calls the things that are no stream.
_NO_STREAM = frozenset({"text", "unknown"})
_NO_DIALECT = _NO_STREAM | {"error"}


def read(pieces: Iterable[bytes], *, max_chars: int = MAX_STREAM_CHARS) -> Iterator[Found]:
    """Yield the replies of a stream; what turns out to be plain text is one lazy reply."""
    reader = AutoReader()
    feed = iter(pieces)
    gathered = _Gathered(max_chars)
    for piece in feed:
        events = reader.feed(piece)
        if reader.name == "text":
            yield from lazily(_texts(reader, events, feed))
            return
        gathered.take(events)
    events = reader.close()
    if reader.name == "text":
        yield from lazily(texts_of(events))
        return
    gathered.take(events)
    yield from gathered.found()


def _texts(reader: AutoReader, events: list[Event], feed: Iterator[bytes]) -> Iterator[str]:
    yield from texts_of(events)
    for piece in feed:
        yield from texts_of(reader.feed(piece))
    yield from texts_of(reader.close())


def body(raw: bytes, *, max_chars: int = MAX_STREAM_CHARS) -> list[Found] | None:
    """Return what a response body holds; ``None`` if it is no answer of a model's API.

    A recorded session has bodies of any kind; only what is known for an answer
    is the model's, so plain text is not.
    """
    name, found = _take(raw, max_chars)
    return None if name in _NO_STREAM else found


def speaks(raw: bytes) -> bool:
    """Tell whether ``raw`` is (a part of) an answer of an API that is known; an error is none."""
    name, _ = _take(raw, MAX_STREAM_CHARS)
    return name not in _NO_DIALECT


def _take(raw: bytes, max_chars: int) -> tuple[str, list[Found]]:
    reader = AutoReader()
    gathered = _Gathered(max_chars)
    events = reader.feed(raw)
    if reader.name == "text":
        return reader.name, []
    gathered.take(events)
    gathered.take(reader.close())
    return reader.name, gathered.found()


class _Gathered:
    """Collects events into replies."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars
        self._overflowed = False
        self._attempts: list[dict[int, dict[Lane, list[str]]]] = [{}]
        self._defects: list[Defect] = []

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case Text(lane, text):
                    lanes = self._attempts[-1].setdefault(lane.choice, {})
                    self._left -= len(text)
                    if self._left < 0:
                        self._overflowed = True
                    else:
                        lanes.setdefault(lane, []).append(text)
                case ToolStart(choice) | Finish(choice):
                    self._attempts[-1].setdefault(choice, {})
                case Restart():
                    if any(self._attempts[-1].values()):
                        self._attempts.append({})
                    else:  # nothing had been said
                        self._attempts[-1] = {}
                case UpstreamError(message, line, _, code):
                    shown = f"upstream error {code}: {message}" if code else message
                    self._defects.append(Defect(shown, f"line {line}", Status.UPSTREAM))
                case Problem(message, line):
                    self._defects.append(Defect(message, f"line {line}"))

    def found(self) -> list[Found]:
        """Return the replies, by attempt and choice, and what was wrong."""
        replies: list[Found] = [
            Reply(list(lanes.items()))
            for attempt in self._attempts
            for _, lanes in sorted(attempt.items())
        ]
        if self._overflowed:
            message = "the stream holds more text than is kept; its rest is not analysed"
            self._defects.append(Defect(message, status=Status.TROUBLE))
        return replies + self._defects
