"""Single lines for people, on standard error, from commands that have no stream to name."""

from __future__ import annotations

from contextlib import suppress
from typing import TextIO

from loopcli.wording import escaped


class Console:
    """Prints messages, unless ``quiet``. What another program wrote is escaped."""

    def __init__(self, stream: TextIO | None, *, quiet: bool = False) -> None:
        self._stream = None if quiet else stream

    def line(self, message: str) -> None:
        """Print a message."""
        # If standard error is closed, the work still matters.
        with suppress(OSError, ValueError):
            if self._stream is not None:
                print(f"loopcheck: {escaped(message)}", file=self._stream, flush=True)

    def warning(self, message: str) -> None:
        """Print a warning."""
        self.line(f"warning: {message}")
