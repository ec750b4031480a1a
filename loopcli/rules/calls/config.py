"""The knobs of the calls rule."""

from __future__ import annotations

import math
from typing import NamedTuple

from loopcli.errors import ConfigError

NAME = "calls"


class CallsConfig(NamedTuple):
    """How many equal calls are refused, and within which time.

    Both figures are the document's: two equal calls are an honest retry, and a
    loop of calls takes seconds.
    """

    threshold: int = 3  # this call of its kind is the first that is refused
    window_ms: float = 60_000  # a call counts for this many milliseconds

    def checked(self) -> CallsConfig:
        """Return the configuration. Raises ``ConfigError`` for one that cannot be used."""
        defects = []
        if self.threshold < 2:
            defects.append(f"threshold = `{self.threshold}`: has to be 2 or more")
        if not (math.isfinite(self.window_ms) and self.window_ms > 0):
            defects.append(f"window-ms = `{self.window_ms:g}`: has to be a number above 0")
        if defects:
            raise ConfigError(*defects)
        return self
