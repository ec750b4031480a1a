"""A line on the terminal that shows how close the reply is to tripping."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, TextIO

from loopcli.detector import Gauge
from loopcli.output.base import Summary
from loopcli.verdicts import share
from loopcli.watch import PlacedVerdict

if TYPE_CHECKING:
    from tqdm import tqdm

    from loopcli.session_verdicts import SessionOutput

# Seconds between two drawings: faster than an eye follows, slow enough to cost nothing.
_INTERVAL = 0.1


class ProgressRenderer:
    """Draws the gauge that is nearest to its ceiling. The line is erased at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = 0.0
        self._bar: tqdm[Any] | None = None

    def begin(self, info: dict[str, Any]) -> None:
        """Draw nothing yet."""

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """Make room for the message."""
        self._clear()

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """Make room for the messages."""
        self._clear()

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Make room for the message."""
        self._clear()

    def warning(self, message: str, *, of_input: bool = True) -> None:
        """Make room for the message."""
        self._clear()

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """Draw the figures, at most ten times a second."""
        if time.monotonic() - self._drawn < _INTERVAL:
            return
        self._drawn = time.monotonic()
        if not gauges:
            return
        name, (gauge, ceiling, _) = max(gauges.items(), key=lambda item: share(*item[1][:2]))
        figures = f"{words:,} words, {chars:,} characters, {name} {gauge:,} of {ceiling:,}"
        if self._bar is None:
            self._bar = self._opened(figures)
        self._bar.set_description_str(figures, refresh=False)
        self._bar.total = max(ceiling, 1)
        self._bar.n = min(gauge, ceiling)
        self._bar.refresh()

    def _opened(self, figures: str) -> tqdm[Any]:
        # Slow to import, and most filters draw nothing.
        from tqdm import tqdm

        return tqdm(
            total=0,
            desc=figures,
            file=self._stream,
            leave=False,
            bar_format="{desc} |{bar}| {percentage:.0f}%",
            # Some terminals report no columns and no rows.
            nrows=20,
            ncols=os.get_terminal_size(self._stream.fileno()).columns or 80,
        )

    def _clear(self) -> None:
        if self._bar is not None:
            self._bar.clear()

    def erase(self) -> None:
        """Erase the line; what is drawn next begins a new one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def end(self, summary: Summary) -> None:
        """Erase the line."""
        self.erase()
