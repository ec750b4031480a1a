"""What the filter prints of its input: the bytes up to a cut, the text, or an error event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loopcli.events import Channel, Text
from loopcli.filter.settings import FilterSettings
from loopcli.lenient_json import dump_line
from loopcli.system.output import Output
from loopcli.verdicts import Verdict

if TYPE_CHECKING:
    from loopcli.watch import StreamState


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

    @property
    def written(self) -> int:
        """How many bytes of this input have been printed."""
        return self._output.written - self._before

    def raw(self, data: bytes, keep: int | None) -> None:
        """Write the first ``keep`` bytes of what was read; ``None`` stands for all."""
        if not self._settings.emit_text:
            self._output.write(data if keep is None else data[: max(0, keep)])

    def text(self, event: Text, size: int | None) -> None:
        """With ``--emit text``, write the text of the first choice, of the main agent."""
        lane = event.lane
        if not self._settings.emit_text or lane.choice or lane.agent:
            return
        if lane.channel is Channel.CONTENT:
            self._output.write(event.text[:size].encode("utf-8", "replace"))

    def trip_event(self, verdict: Verdict, state: StreamState) -> None:
        """With ``--trip-event``, end the stream of events with an error."""
        if not self._settings.trip_event:
            return
        if state.framing != "sse":
            self._warn("--trip-event has no effect: the stream is not SSE")
            return
        error = {
            "message": f"loopcheck stopped the model's reply: {verdict.message}",
            "type": "model_response_loop",
            "param": None,
            "code": "model_response_loop",
        }
        gap = b"" if self._output.at_blank_line else b"\n\n"
        self._output.write(gap + b"data: " + dump_line({"error": error}))
        self._output.write(b"\n\ndata: [DONE]\n\n")

    def finish(self, *, release: bool) -> None:
        """Print what is held if ``release``, or discard it; end the text's last line."""
        if release:
            self._output.release()
        self._output.drop()
        if self._settings.emit_text and self._settings.end_line and self._output.ends_line():
            self._output.write(b"\n")
