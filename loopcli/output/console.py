"""Message lines for people, on standard error: the one place that writes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from loopcli.wording import escaped

if TYPE_CHECKING:
    from loopcli.output.bar import Bar

RED, YELLOW = "\x1b[1;31m", "\x1b[33m"
_PLAIN = "\x1b[0m"


class Console:
    """Prints messages, one a line: ``loopcheck: SOURCE: MESSAGE``.

    ``quiet`` prints only what was lost, and a ``stream`` of ``None`` nothing, which is what
    Python makes of a closed standard error. Text of other programs is escaped, so that it
    cannot control the terminal. A failure to print is ignored: the work matters more than
    its messages.
    """

    def __init__(self, stream: TextIO | None, *, quiet: bool = False, color: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._color = color
        # A bar that is being drawn on the same terminal makes room for each line.
        self.bar: Bar | None = None
        # Says whether the terminal shows an unfinished line of a reply, which a message ends.
        self.ends_line: Callable[[], bool] = bool

    def line(self, message: str, *, source: str = "", color: str = "", lost: bool = False) -> None:
        """Print a message; ``color`` is for what stands before it.

        One about ``lost`` data is printed even if ``quiet``: no status reports it.
        """
        if self._stream is None or (self._quiet and not lost):
            return
        if self.bar is not None:
            self.bar.clear()
        prefix = f"loopcheck: {escaped(source)}: " if source else "loopcheck: "
        if color and self._color:
            prefix = f"{color}{prefix}{_PLAIN}"
        start = "\n" if self.ends_line() else ""
        with suppress(OSError, ValueError):
            print(start + prefix + escaped(message), file=self._stream, flush=True)

    def warning(self, message: str, *, source: str = "", lost: bool = False) -> None:
        """Print a warning."""
        self.line(f"warning: {message}", source=source, color=YELLOW, lost=lost)
