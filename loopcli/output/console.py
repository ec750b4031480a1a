"""Single lines for people, on standard error, from commands that have no stream to name."""

from __future__ import annotations

from contextlib import suppress
from typing import TextIO

from loopcli.wording import escaped


class Lines:
    """Says things, unless ``quiet``; what a peer wrote is escaped."""

    def __init__(self, stream: TextIO | None, *, quiet: bool = False) -> None:
        self._stream = None if quiet else stream

    def say(self, message: str) -> None:
        """Say something that is neither good nor bad, or a failure."""
        # If nobody listens, the work matters more.
        with suppress(OSError, ValueError):
            if self._stream is not None:
                print(f"loopcheck: {escaped(message)}", file=self._stream, flush=True)

    def warn(self, message: str) -> None:
        """Say what is worth knowing."""
        self.say(f"warning: {message}")
