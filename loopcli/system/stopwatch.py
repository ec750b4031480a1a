"""How long an input took: to its first byte, to the model's first delta, and to its end."""

from __future__ import annotations

import time
from collections.abc import Callable


class Stopwatch:
    """Runs from when it is made; the clock is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._byte: float | None = None
        self._delta: float | None = None

    def read(self, *, delta: bool) -> None:
        """Note that bytes have arrived, and whether they brought a ``delta``."""
        if self._byte is None:
            self._byte = self._clock() - self._started
        if delta and self._delta is None:
            self._delta = self._clock() - self._started

    def to_json(self) -> dict[str, float | None]:
        """Return the times in seconds, to the millisecond; ``None`` for what never came."""
        times = {
            "seconds": self._clock() - self._started,
            "first_byte_seconds": self._byte,
            "first_delta_seconds": self._delta,
        }
        return {name: None if at is None else round(at, 3) for name, at in times.items()}
