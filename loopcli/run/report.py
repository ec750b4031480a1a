"""The report of ``run``: JSON Lines, a record for each attempt, written as each one ends."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from loopcli.output.jsonl import RecordFile, stream_members, verdict_record
from loopcli.run.attempts import AttemptOutcome, Attempts

if TYPE_CHECKING:
    from loopcli.session_verdicts import SessionOutput


class RunReport:
    """Writes the records of one turn. The first failure to write is kept as ``error``."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._file = RecordFile(stream)

    @property
    def error(self) -> OSError | None:
        """Why the report is incomplete, if it is."""
        return self._file.error

    def begin(self, info: dict[str, Any]) -> None:
        """Write the settings."""
        self._file.write({"type": "begin", **info})

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """Write what there is to report on an agent's session, as the filter does."""
        from loopcli.output.session import session_records  # only an agent pays for the import

        for record in session_records(output, bytes_in):
            self._file.write(record)

    def attempt(self, number: int, outcome: AttemptOutcome) -> None:
        """Write how an attempt ended, after the verdict that ended it, if there is one.

        That of a session has been written already, with its round.
        """
        if outcome.tripped is not None and outcome.tripped.verdict.chars:
            self._file.write(verdict_record(outcome.tripped, outcome.bytes_in))
        self._file.write(
            {
                "type": "attempt",
                "attempt": number,
                "kind": outcome.kind,
                "message": outcome.plain or outcome.cause or None,
                "retryable": outcome.retryable,
                "exit_status": outcome.exit_status,
                "words": outcome.words,
                "chars": outcome.chars,
                "bytes_in": outcome.bytes_in,
                **outcome.times,
                **({} if outcome.state is None else stream_members(outcome.state)),
            }
        )

    def end(self, attempts: Attempts, status: int, bytes_out: int) -> None:
        """Write the totals."""
        loops, words, chars = attempts.tally
        self._file.write(
            {
                "type": "end",
                "status": status,
                "attempts": len(attempts.outcomes),
                "looped": loops,
                "discarded_words": words,
                "discarded_chars": chars,
                "bytes_out": bytes_out,
            }
        )
