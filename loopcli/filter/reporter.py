"""What the filter reports, kept until the bytes that it is about have been written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from loopcli.output.base import Renderer
from loopcli.watch import PlacedVerdict

if TYPE_CHECKING:
    from loopcli.session_verdicts import SessionOutput

# A session may warn of each of its calls.
_MAX_WARNINGS = 100


class Reporter:
    """Hands reports to every renderer, in order, but not before ``flush``.

    A message about some bytes would otherwise come before them: they are judged
    first, and written up to where a rule fired.
    """

    def __init__(self, renderers: Sequence[Renderer]) -> None:
        self._renderers = renderers
        self._pending: list[Callable[[Renderer], None]] = []
        self._warned: set[str] = set()

    def add(self, call: Callable[[Renderer], None]) -> None:
        """Keep what is to be reported."""
        self._pending.append(call)

    def verdict(self, placed: PlacedVerdict, bytes_in: int) -> None:
        """Keep the verdict of a rule that fired when ``bytes_in`` bytes had been read."""
        self.add(lambda renderer: renderer.verdict(placed, bytes_in))

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """Keep a round, or where a session begins or ends; each warning once."""
        for warning in getattr(output, "warnings", ()):
            if warning not in self._warned and len(self._warned) < _MAX_WARNINGS:
                self._warned.add(warning)
                self.warning(warning)
        self.add(lambda renderer: renderer.session(output, bytes_in))

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Keep an error, with its line if it has one."""
        self.add(lambda renderer: renderer.problem(message, line=line, kind=kind))

    def warning(self, message: str, *, of_input: bool = True) -> None:
        """Keep a warning."""
        self.add(lambda renderer: renderer.warning(message, of_input=of_input))

    def flush(self) -> None:
        """Report what has been kept."""
        pending, self._pending = self._pending, []
        for call in pending:
            for renderer in self._renderers:
                call(renderer)
