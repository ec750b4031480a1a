"""A line on the terminal that shows how close the reply is to tripping."""

from __future__ import annotations

import os
import time
from typing import Any, TextIO

from loopcli.detector import Gauge
from loopcli.output.base import Summary
from loopcli.verdicts import share
from loopcli.watch import PlacedVerdict

_INTERVAL = 0.1  # seconds


class ProgressRenderer:
    """Draws the gauge that is nearest to its ceiling; the line is wiped at the end."""

    def __init__(self, stream: TextIO) -> None:
        # Here and not above: a filter that draws nothing must not pay for the import.
        from tqdm import tqdm

        self._drawn = 0.0
        self._bar: tqdm[Any] = tqdm(
            total=0,
            file=stream,
            leave=False,
            bar_format="{desc} |{bar}| {percentage:.0f}%",
            # Some terminals say that they have no columns.
            ncols=os.get_terminal_size(stream.fileno()).columns or 80,
        )

    def begin(self, info: dict[str, Any]) -> None:
        """Nothing to draw yet."""

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """Make room for the line that tells it."""
        self._bar.clear()

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Make room for the line that tells it."""
        self._bar.clear()

    def warning(self, message: str) -> None:
        """Make room for the line that tells it."""
        self._bar.clear()

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """Draw the figures, ten times a second at most."""
        if time.monotonic() - self._drawn < _INTERVAL:
            return
        self._drawn = time.monotonic()
        if not gauges:
            return
        name, (gauge, ceiling, _) = max(gauges.items(), key=lambda item: share(*item[1][:2]))
        figures = f"{words:,} words, {chars:,} characters, {name} {gauge:,} of {ceiling:,}"
        self._bar.set_description_str(figures, refresh=False)
        self._bar.total = max(ceiling, 1)
        self._bar.n = min(gauge, ceiling)
        self._bar.refresh()

    def end(self, summary: Summary) -> None:
        """Wipe the line."""
        self._bar.close()
