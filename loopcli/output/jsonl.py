"""The filter's JSON Lines: one object a line, ``"type"`` first, each written at once."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from loopcli.detector import Gauge
from loopcli.lenient_json import dump_line
from loopcli.output.base import Summary
from loopcli.watch import PlacedVerdict
from loopcli.wording import clean

if TYPE_CHECKING:
    from loopcli.session_verdicts import SessionOutput


class JsonLinesRenderer:
    """Writes a record for each event of a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        # The first failure to write. Nothing is written after it; the filter reports it once.
        self.error: OSError | None = None

    def begin(self, info: dict[str, Any]) -> None:
        """Write the configuration."""
        self._write({"type": "begin", **info})

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """Write a verdict: where the rule fired, and apart from that, how much had been read."""
        verdict = ruling.verdict
        lane = verdict.lane
        self._write(
            {
                "type": "verdict",
                "rule": verdict.rule,
                "kind": verdict.kind,
                "channel": lane.channel,
                "choice": lane.choice,
                "block": lane.block,
                "tool": lane.tool or None,
                "message": verdict.message,
                **verdict.facts,
                "words": verdict.words,
                "chars": verdict.chars,
                "gauge": verdict.gauge,
                "ceiling": verdict.ceiling,
                "repeated": list(map(clean, verdict.repeated)),
                "onset_word": verdict.onset_word,
                "onset_char": verdict.onset_char,
                "cut_byte": ruling.cut,
                "bytes_read": bytes_in,
            }
        )

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """Write what there is to report on a session."""
        from loopcli.output.session import session_records

        for record in session_records(output, bytes_in):
            self._write(record)

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Write a problem."""
        self._write({"type": "problem", "kind": kind, "message": clean(message), "line": line})

    def warning(self, message: str, *, of_input: bool = True) -> None:
        """Write a warning."""
        self.problem(message, kind="warning")

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """Write nothing."""

    def end(self, summary: Summary) -> None:
        """Write the totals."""
        state = summary.state
        self._write(
            {
                "type": "end",
                "status": int(summary.status),
                "end": summary.end,
                "format": state.format,
                "words": summary.words,
                "chars": summary.chars,
                "bytes_in": summary.bytes_in,
                "bytes_out": summary.bytes_out,
                "peak": {
                    name: {
                        "value": peak.value,
                        "ceiling": peak.ceiling,
                        "word": peak.word,
                        "char": peak.char,
                        "repeated": list(map(clean, peak.repeated)),
                    }
                    for name, peak in summary.peaks.items()
                },
                "finish_reason": state.finish_reason,
                "usage": state.usage and state.usage.counts,
                "generation_id": state.meta.generation_id or None,
                "model": state.meta.model or None,
                "provider": state.meta.provider or None,
            }
        )

    def _write(self, record: dict[str, Any]) -> None:
        if self.error is not None:
            return
        try:
            self._stream.write(dump_line(record) + b"\n")
            self._stream.flush()
        except OSError as error:
            self.error = error
