"""Time limits: how long a wait may take, and which limit has passed. The clock is monotonic."""

from __future__ import annotations

import time
from collections.abc import Callable

# poll() takes milliseconds as a C int; a longer wait polls again.
_LONGEST_POLL = 2**31 - 1


class TimeLimitError(Exception):
    """An idle or total time limit passed. The message is for the user."""


class IdleError(TimeLimitError):
    """The idle limit passed, and the total limit had not."""


class Limits:
    """Two time limits: ``idle`` counts from the last ``touch``, ``total`` from the start.

    Both are in seconds; 0 means no limit.
    """

    def __init__(
        self, *, idle: float = 0, total: float = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._idle = idle
        self._total = total
        self._clock = clock
        self._started = self._touched = clock()

    def touch(self) -> None:
        """Restart the idle clock."""
        self._touched = self._clock()

    def pause(self) -> float:
        """Restart the idle clock for a wait of another kind; return what was on it."""
        before = self._touched
        self.touch()
        return self._touched - before

    def resume(self, idle: float) -> None:
        """Put the idle clock back to what ``pause`` returned: the wait does not count."""
        self._touched = self._clock() - idle

    def wait(self) -> float | None:
        """Return how many milliseconds poll() may wait; ``None`` means without limit."""
        now = self._clock()
        left = []
        if self._total:
            left.append(self._started + self._total - now)
        if self._idle:
            left.append(self._touched + self._idle - now)
        return poll_time(min(left)) if left else None

    def check(self) -> None:
        """Raise ``TimeLimitError`` once a limit has passed."""
        now = self._clock()
        # If both passed, report the total limit.
        if self._total and now >= self._started + self._total:
            raise TimeLimitError(f"no end after {self._total:g} s (--timeout)")
        if self._idle and now >= self._touched + self._idle:
            raise IdleError(f"no delta from the model for {self._idle:g} s (--idle-timeout)")


def poll_time(seconds: float) -> float:
    """Return seconds in poll()'s milliseconds, rounded up so that it never returns early."""
    return min(max(0.0, seconds) * 1000 + 1, _LONGEST_POLL)
