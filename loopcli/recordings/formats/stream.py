"""Raw streams and response bodies: everything that the filter reads, kept in a file.

Rules of this file:

- The readers turn the bytes into events; this file turns the events into replies.
- Each choice is a reply of its own, with its content, reasoning and tool arguments
  as lanes.
- The lanes of a stream interleave, so their text is kept until the stream ends, up
  to a limit. A stream with more text is reported as read in part.
- If a gateway gave up an attempt and began another, both are replies: the model
  wrote both, and neither continues the other.
- A choice counts as a reply from its first event, even if it has no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import Event, Finish, Lane, Problem, Restart, Text, ToolStart, UpstreamError
from loopcli.readers.detection.auto import AutoReader
from loopcli.recordings.base import Defect, Item, Reply
from loopcli.recordings.formats.plain_text import lazily, texts_of
from loopcli.status import Status

MAX_STREAM_CHARS = 64 * 1024 * 1024
# The beginnings of a stream, whatever the suffix: fields, comments, an HTTP head.
STARTS = (b"data:", b"event:", b"id:", b"retry:", b":", b"HTTP/")
# The names that a reader gives to input that is not a stream.
_NO_STREAM = frozenset({"text", "unknown"})
_NO_DIALECT = _NO_STREAM | {"error"}


def read(pieces: Iterable[bytes], *, max_chars: int = MAX_STREAM_CHARS) -> Iterator[Item]:
    """Yield the replies of a stream; plain text is one reply, decoded lazily."""
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
    yield from gathered.items()


def _texts(reader: AutoReader, events: list[Event], feed: Iterator[bytes]) -> Iterator[str]:
    yield from texts_of(events)
    for piece in feed:
        yield from texts_of(reader.feed(piece))
    yield from texts_of(reader.close())


def body(raw: bytes, *, max_chars: int = MAX_STREAM_CHARS) -> list[Item] | None:
    """Return the replies of a response body; ``None`` if it is not an answer of a model's API.

    A recorded session has bodies of any kind, and a plain text among them need not be
    a model's, so only answers in a known format are read.
    """
    name, items = _take(raw, max_chars)
    return None if name in _NO_STREAM else items


def speaks(raw: bytes) -> bool:
    """Return whether ``raw`` is an answer of a known API or a part of one; an error is not."""
    name, _ = _take(raw, MAX_STREAM_CHARS)
    return name not in _NO_DIALECT


def _take(raw: bytes, max_chars: int) -> tuple[str, list[Item]]:
    reader = AutoReader()
    gathered = _Gathered(max_chars)
    events = reader.feed(raw)
    if reader.name == "text":
        return reader.name, []
    gathered.take(events)
    gathered.take(reader.close())
    return reader.name, gathered.items()


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
                    else:  # the attempt had no text
                        self._attempts[-1] = {}
                case UpstreamError(message, line, _, code):
                    shown = f"upstream error {code}: {message}" if code else message
                    self._defects.append(Defect(shown, f"line {line}", Status.UPSTREAM))
                case Problem(message, line):
                    self._defects.append(Defect(message, f"line {line}"))

    def items(self) -> list[Item]:
        """Return the replies, by attempt and choice, and the defects."""
        replies: list[Item] = [
            Reply(list(lanes.items()))
            for attempt in self._attempts
            for _, lanes in sorted(attempt.items())
        ]
        if self._overflowed:
            message = "the stream has more text than is kept; the rest is not analysed"
            self._defects.append(Defect(message, status=Status.TROUBLE))
        return replies + self._defects
