"""What the filter prints of its input: the bytes up to a cut, the text, or an error event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loopcli.events import Event, Restart, Text
from loopcli.filter.settings import FilterSettings
from loopcli.session_events import RoundEnd, RoundRestart
from loopcli.system.output import Output
from loopcli.verdicts import Verdict

if TYPE_CHECKING:
    from loopcli.filter.trimming import TrimPoints
    from loopcli.watch import SessionReport, StreamState


class ReplyWriter:
    """Writes one input to an ``Output`` that the inputs before it may have written to.

    What is written raises what ``Output.write`` raises.
    """

    def __init__(
        self, output: Output, settings: FilterSettings, warn: Callable[[str], None]
    ) -> None:
        self._output = output
        self._settings = settings
        self._warn = warn
        self._before = output.written
        self._takes_text = settings.emit_text or settings.trim
        self._points: TrimPoints | None = None
        if settings.trim:
            from loopcli.filter.trimming import TrimPoints  # only --trim pays for the import

            self._points = TrimPoints()
        self._emitted = 0  # bytes of the text so far, printed or held

    @property
    def written(self) -> int:
        """How many bytes of this input have been printed."""
        return self._output.written - self._before

    def raw(self, data: bytes, keep: int | None) -> None:
        """Write the first ``keep`` bytes of what was read; ``None`` stands for all."""
        if not self._settings.emit_text:
            self._output.write(data if keep is None else data[: max(0, keep)])

    def event(self, event: Event | SessionReport, size: int | None) -> None:
        """Write the text of an event, up to ``size`` characters of it, if text is emitted."""
        if not self._takes_text:
            return
        match event:
            case Text():
                self._text(event, size)
            case Restart() if self._points is not None:
                self._points.restart()
            case RoundEnd(agent) | RoundRestart(agent) if self._points is not None:
                self._points.restart(agent)

    def _text(self, event: Text, size: int | None) -> None:
        if self._settings.emit_text and not event.lane.is_answer:
            return
        if self._points is not None:
            self._points.add(event, self._emitted)
        if self._settings.emit_text:
            data = event.text[:size].encode("utf-8", "replace")
            self._emitted += len(data)
            self._output.write(data)

    def trip_event(self, verdict: Verdict, state: StreamState) -> None:
        """With ``--trip-event``, end the stream with an error of its API."""
        if not self._settings.trip_event:
            return
        from loopcli.filter.trip_event import trip_event  # seldom needed

        message = f"loopcheck stopped the model's reply: {verdict.message}"
        event = trip_event(state.format, state.framing, message)
        if event is None:
            self._warn(f"--trip-event has no effect on {state.input_kind}")
        elif state.framing == "sse":
            self._output.write((b"" if self._output.at_blank_line else b"\n\n") + event)
        else:
            self._output.write((b"\n" if self._output.in_line else b"") + event)

    def finish(self, verdict: Verdict | None, *, clean: bool) -> None:
        """Print what is held of it as the settings ask; end the text's last line.

        ``verdict`` is the one that ended the reply.
        """
        settings = self._settings
        if clean or (settings.trim and (verdict is not None or not settings.hold)):
            self._output.release(self._good(verdict))
        self._output.drop()
        if settings.emit_text and settings.end_line and self._output.ends_line():
            self._output.write(b"\n")

    def _good(self, verdict: Verdict | None) -> int | None:
        """Return how many bytes of what is held are good; ``None`` stands for all."""
        if self._points is None or verdict is None or verdict.onset_char is None:
            return None
        find = self._points.in_text if self._settings.emit_text else self._points.in_input
        return find(verdict.lane, verdict.onset_char)
