"""What the framings share: a reader that cuts documents out of the bytes for a dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, count, repeat
from operator import add
from typing import NamedTuple

from loopcli.events import Event
from loopcli.readers.base import MAX_FRAME_BYTES, Dialect, Frame
from loopcli.readers.collector import Collector
from loopcli.readers.framings.lines import LineSplitter


class DocumentReader:
    """Reads documents; a subclass says where each one ends.

    A document of more than ``max_frame`` bytes makes the stream malformed.
    """

    framing: str

    def __init__(self, dialect: Dialect, max_frame: int = MAX_FRAME_BYTES) -> None:
        self._dialect = dialect
        self._max_frame = max_frame
        self._out = Collector()

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""
        return self._dialect.name

    @property
    def progress(self) -> int:
        """The number of deltas with content that have been read."""
        return self._out.progress

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        if self._out.stopped:
            return []
        self._dialect.take(self.frames(data), self._out)
        self._check_size()
        return self._out.take()

    def close(self) -> list[Event]:
        """Return the events that the end of the input completes."""
        if self._out.stopped:
            return []
        self._dialect.take(self.last_frames(), self._out)
        self._check_size()
        if not self._out.stopped:
            self._out.close()
            self._dialect.close(self._out)
        return self._out.take()

    def _check_size(self) -> None:
        if not self._out.stopped and (excess := self.excess()) is not None:
            self._out.add_problem(*excess)

    def frames(self, data: bytes) -> Iterable[Frame]:
        """Return the documents that ``data`` completes; they are read before the next call."""
        raise NotImplementedError

    def last_frames(self) -> Iterable[Frame]:
        """Return the documents that the end of the input completes."""
        return ()

    def excess(self) -> tuple[str, int, int] | None:
        """Return the message, line and byte of a document longer than allowed, if there is one."""
        raise NotImplementedError


class Shape(NamedTuple):
    """What the events of a fast path have around their payload.

    ``size`` is the number of bytes, ``lines`` that of all lines of an event, ``before``
    that of the lines before the one with the payload. ``name`` is the event's name.
    """

    size: int
    lines: int
    before: int = 0
    name: str = ""


def parsed(
    dialect: Dialect, payloads: Sequence[bytes], lines: LineSplitter, shape: Shape
) -> Iterator[Frame | bytes]:
    """Yield the frames of consecutive events, and the payload of each one that is no document.

    Such a payload is for the careful path, which has to read it, and to move the position
    in ``lines`` over its event, before the next item is asked for.

    Lazily: a document that is used and dropped before the next is parsed costs half of
    one that lives until the end of the read. And without a loop of its own: ``zip`` asks
    the parser first, so that the sizes stand still where parsing fails.
    """
    texts, sizes, at = iter(payloads), map(len, payloads), 0
    while at < len(payloads):
        first = lines.number + shape.before + 1
        numbers = count(first, shape.lines)
        ends = accumulate(map(add, sizes, repeat(shape.size)), initial=lines.at)
        next(ends)
        columns = map(dialect.loads, texts), ends, numbers, repeat(shape.name), repeat(b"")
        with suppress(ValueError):
            yield from zip(*columns, strict=False)
        done = (next(numbers) - first) // shape.lines
        lines.at += sum(map(len, payloads[at : at + done])) + shape.size * done
        lines.number += shape.lines * done
        at += done
        if at < len(payloads):
            next(sizes)
            yield payloads[at]
            at += 1
