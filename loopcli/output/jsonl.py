"""The filter's JSON Lines: one object a line, ``"type"`` first, each written at once."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from loopcli.detector import Gauge
from loopcli.lenient_json import dump_line
from loopcli.output.base import Summary
from loopcli.watch import PlacedVerdict, StreamState
from loopcli.wording import clean

if TYPE_CHECKING:
    from loopcli.session_verdicts import SessionOutput


class RecordFile:
    """A file of records. The first failure to write is kept, and nothing is written after it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, record: dict[str, Any]) -> None:
        """Write a record at once."""
        if self.error is not None:
            return
        try:
            self._stream.write(dump_line(record) + b"\n")
            self._stream.flush()
        except OSError as error:
            self.error = error


def verdict_record(ruling: PlacedVerdict, bytes_in: int) -> dict[str, Any]:
    """Return the record of a verdict; ``bytes_in`` is how much had been read by then."""
    verdict = ruling.verdict
    lane = verdict.lane
    return {
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


def stream_members(state: StreamState) -> dict[str, Any]:
    """Return what a record says of a stream itself."""
    return {
        "format": state.format,
        "framing": state.framing or None,
        "finish_reason": state.finish_reason,
        "usage": state.usage and state.usage.counts,
        "generation_id": state.meta.generation_id or None,
        "model": state.meta.model or None,
        "provider": state.meta.provider or None,
    }


class JsonLinesRenderer:
    """Writes a record for each event of a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._file = RecordFile(stream)

    @property
    def error(self) -> OSError | None:
        """Why the report is incomplete, if it is; the filter reports it once."""
        return self._file.error

    def begin(self, info: dict[str, Any]) -> None:
        """Write the configuration."""
        self._file.write({"type": "begin", **info})

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """Write a verdict: where the rule fired, and apart from that, how much had been read."""
        self._file.write(verdict_record(ruling, bytes_in))

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """Write what there is to report on a session."""
        from loopcli.output.session import session_records

        for record in session_records(output, bytes_in):
            self._file.write(record)

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Write a problem."""
        self._file.write({"type": "problem", "kind": kind, "message": clean(message), "line": line})

    def warning(self, message: str, *, of_input: bool = True) -> None:
        """Write a warning."""
        self.problem(message, kind="warning")

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """Write nothing."""

    def end(self, summary: Summary) -> None:
        """Write the totals."""
        self._file.write(
            {
                "type": "end",
                "status": int(summary.status),
                "end": summary.end,
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
                **summary.times,
                **stream_members(summary.state),
            }
        )
