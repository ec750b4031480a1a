"""The shape of the filter's renderers, and the totals that they get at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from loopcli.detector import Gauge
from loopcli.verdicts import Peak
from loopcli.watch import End, PlacedVerdict, StreamState

if TYPE_CHECKING:
    from loopcli.session_verdicts import SessionOutput


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
    times: Mapping[str, float | None]  # in seconds; see ``Stopwatch``


class Renderer(Protocol):
    """Reports what happens to a stream. A failure to write never raises."""

    def begin(self, info: dict[str, Any]) -> None:
        """Judging begins; ``info`` has the settings."""

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """A rule fired when ``bytes_in`` bytes had been read."""

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """A session began, a round of it was judged, or it ended."""

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Something failed.

        ``kind`` is one of malformed, cut, upstream, time-limit, io (reading), output (writing),
        bug. ``line`` is the line of the stream, if it has one.
        """

    def warning(self, message: str, *, of_input: bool = True) -> None:
        """Something is odd in the input, or else in the settings, and changes nothing."""

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """A read has been judged."""

    def end(self, summary: Summary) -> None:
        """The stream has ended."""
