"""Lines for people, on standard error."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TextIO

from loopcli.detector import Gauge
from loopcli.output.base import Summary
from loopcli.status import Status
from loopcli.watch import PlacedVerdict
from loopcli.wording import escaped, shown

_RED, _YELLOW, _PLAIN = "\x1b[1;31m", "\x1b[33m", "\x1b[0m"


class TextRenderer:
    """One line a message; silent about a stream that ends clean."""

    def __init__(
        self, stream: TextIO, *, color: bool = False, verbose: bool = False, quiet: bool = False
    ) -> None:
        self._stream = stream
        self._color = color
        self._verbose = verbose
        self._quiet = quiet

    def begin(self, info: dict[str, Any]) -> None:
        """Name the configuration once, if asked to."""
        if self._verbose and info["armed"]:
            self._line(info["armed"], prefix="loopcheck: ")

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """Say what tripped, what repeated, and where that began."""
        verdict = ruling.verdict
        lane = verdict.lane
        where = "" if lane.channel == "content" else f"{lane.channel}: "
        if lane.tool:
            where = f"{lane.channel} of {shown(lane.tool)}: "
        if lane.choice:
            where = f"choice {lane.choice}: {where}"
        line = where + verdict.message
        if verdict.repeated:
            words = " ".join(map(shown, verdict.repeated))
            line += f"; repeating {words} since character {verdict.onset_char}"
        self._line(line, _RED)

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Say what is wrong, and on which line."""
        position = f"line {line}: " if line else ""
        source = "<stdout>" if kind == "output" else "<stdin>"
        self._line(position + escaped(message), _RED, f"loopcheck: {source}: ")

    def warning(self, message: str) -> None:
        """Say what is worth knowing."""
        if not self._quiet:
            self._line("warning: " + escaped(message), _YELLOW)

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """Say nothing: a line a read would be noise."""

    def end(self, summary: Summary) -> None:
        """Sum up, if asked to."""
        if self._verbose and summary.status is not Status.TROUBLE:
            peaks = ", ".join(
                f"peak {peak.value} of {peak.ceiling} ({name})"
                for name, peak in summary.peaks.items()
            )
            self._line(
                f"{summary.end}: {summary.words} words, {summary.chars} characters"
                + (f", {peaks}" if peaks else "")
            )

    def _line(self, message: str, color: str = "", prefix: str = "loopcheck: <stdin>: ") -> None:
        start, stop = (color, _PLAIN) if color and self._color else ("", "")
        # If nobody listens, the stream matters more.
        with suppress(OSError, ValueError):
            print(f"{start}{prefix}{stop}{message}", file=self._stream, flush=True)
