"""A bar on the terminal that shows how many files have been read."""

from __future__ import annotations

import os
from typing import Any, TextIO


class Bar:
    """Counts files. The line is erased at the end, and for every message."""

    def __init__(self, stream: TextIO) -> None:
        # Slow to import, and most runs draw no bar.
        from tqdm import tqdm

        # No thread of its own: worker processes are forked.
        tqdm.monitor_interval = 0
        self._bar: tqdm[Any] = tqdm(
            total=0,
            file=stream,
            leave=False,
            unit=" files",
            # Some terminals report no columns and no rows.
            nrows=20,
            ncols=os.get_terminal_size(stream.fileno()).columns or 80,
        )

    def tick(self, done: int, total: int) -> None:
        """Draw the numbers of files done and of all files; tqdm limits how often."""
        self._bar.total = total
        if done:
            self._bar.update(done - self._bar.n)
        else:
            self._bar.refresh()

    def clear(self) -> None:
        """Erase the line, to make room for a message."""
        self._bar.clear()

    def close(self) -> None:
        """Erase the line for good."""
        self._bar.close()
