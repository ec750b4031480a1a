"""The shape of a renderer, and what it is told at the end."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from loopcli.detector import Gauge
from loopcli.verdicts import Peak
from loopcli.watch import End, PlacedVerdict, StreamState


class Summary(NamedTuple):
    """The figures of one finished run of the filter."""

    status: int  # the exit status
    end: End
    words: int
    chars: int
    bytes_in: int
    bytes_out: int
    peaks: dict[str, Peak]  # for each rule, with the ceiling of that stretch
    state: StreamState


class Renderer(Protocol):
    """Tells somebody what happens to a stream. It never raises for a reader that has gone."""

    def begin(self, info: dict[str, Any]) -> None:
        """Judging begins; ``info`` says with what."""

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """A rule fired; ``bytes_in`` is how much had been read by then."""

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Something is wrong; ``kind`` says what.

        malformed, cut, upstream, time-limit, io (reading), output (writing), bug.
        """

    def warning(self, message: str) -> None:
        """Something is worth knowing and changes nothing."""

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """A read has been judged."""

    def end(self, summary: Summary) -> None:
        """It is over."""
