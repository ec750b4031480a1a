"""Plain text: the file is one reply, however long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import Event, Lane, Text
from loopcli.readers.framings.text import TextReader
from loopcli.recordings.base import Item, Reply


def read(pieces: Iterable[bytes]) -> Iterator[Item]:
    """Yield the reply; its text is decoded as it is asked for."""
    return lazily(_decoded(pieces))


def lazily(texts: Iterator[str]) -> Iterator[Item]:
    """Yield one reply of one lane whose pieces are ``texts``."""
    yield Reply([(Lane(), texts)])
    # A caller that skipped the text still gets the defects at its end.
    for _ in texts:
        pass


def _decoded(pieces: Iterable[bytes]) -> Iterator[str]:
    reader = TextReader()
    for piece in pieces:
        yield from texts_of(reader.feed(piece))
    yield from texts_of(reader.close())


def texts_of(events: Iterable[Event]) -> Iterator[str]:
    """Yield the text of the events that have some."""
    for event in events:
        if isinstance(event, Text):
            yield event.text
