"""A bar on the terminal that shows how many files have been read."""

from __future__ import annotations

import os
from typing import Any, TextIO


class Bar:
    """Counts files; the line is wiped at the end, and for every message."""

    def __init__(self, stream: TextIO) -> None:
        # Here and not above: who draws no bar must not pay for the import.
        from tqdm import tqdm

        # Its thread would have to survive a fork.
        tqdm.monitor_interval = 0
        self._bar: tqdm[Any] = tqdm(
            total=0,
            file=stream,
            leave=False,
            unit=" files",
            # Some terminals say that they have no columns and no rows.
            nrows=20,
            ncols=os.get_terminal_size(stream.fileno()).columns or 80,
        )

    def tick(self, done: int, total: int) -> None:
        """Draw; tqdm itself keeps the rate of drawing low."""
        self._bar.total = total
        if done:
            self._bar.update(done - self._bar.n)
        else:
            self._bar.refresh()

    def clear(self) -> None:
        """Make room for a message."""
        self._bar.clear()

    def close(self) -> None:
        """Wipe the line."""
        self._bar.close()
