"""One turn of a session: attempts until an answer, then the record of what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from loopcli.output.console import Console
from loopcli.run import turn_records
from loopcli.run.attempt import AttemptRunner, StartError
from loopcli.run.attempts import AttemptOutcome, Attempts, ask
from loopcli.run.journal import Journal, LockWait, Previous, Record
from loopcli.run.messages import TurnMessages
from loopcli.run.price import ASK_EVERY, BUDGET, Abandoned, Fetch, look_up
from loopcli.run.report import RunReport
from loopcli.run.turn_records import Turn
from loopcli.status import RunStatus, from_signal
from loopcli.system.output import OutputError, ReaderGoneError, StalledError
from loopcli.system.signals import SignalledError, Signals
from loopcli.system.stdio import SIGPIPE, die_by
from loopcli.wording import counted

# Seconds to wait for the journal's lock. Who holds it writes a line or reads a file;
# whoever has been asked to end waits no longer than nobody notices.
_LOCK_SECONDS = 10.0
_LOCK_SECONDS_AT_THE_END = 0.5


class TurnLabel(NamedTuple):
    """Names the turn in messages and in the journal.

    ``number`` 0 stands for the turn after the session's last one in the journal.
    """

    session: str = ""
    model: str = ""
    number: int = 0
    agent: str = ""


class TurnRunner:
    """Runs one turn; ``run`` returns the exit status."""

    def __init__(
        self,
        attempts: Attempts,
        runner: AttemptRunner,
        label: TurnLabel,
        console: Console,
        *,
        messages: TurnMessages,
        report: RunReport | None = None,
        journal: Journal | None = None,
        fetch: Fetch | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._attempts = attempts
        self._runner = runner
        self._label = label
        self._console = console
        self._messages = messages
        self._report = report
        self._journal = journal
        self._fetch = fetch
        self._now = now
        self._signalled = 0
        self._failure: int = 0
        self._interrupted = False

    def run(self, signals: Signals) -> int:
        """Make the attempts, print the answer, write the record; may die by a signal.

        A signal ends the step that it arrives in; the record is written nevertheless.
        """
        try:
            with signals:
                ran = self._guarded(lambda: self._ask(signals))
                self._interrupted = bool(self._signalled or self._failure)
                self._guarded(self._print)
                # If the command never ran, there was no turn.
                if ran or self._attempts.outcomes:
                    self._guarded(lambda: self._account(self._record(signals), signals))
        except SignalledError as error:
            self._signalled = error.number
        self._end_report()
        if self._signalled:
            return die_by(self._signalled)
        return self._failure or self._attempts.status

    def _end_report(self) -> None:
        """Write the end of the report, now that the status is known."""
        if self._report is None:
            return
        status = self._failure or (self._attempts.status if self._attempts.outcomes else 0)
        if self._signalled:
            status = from_signal(self._signalled)
        self._report.end(self._attempts, status, self._runner.output.written)
        if self._report.error is not None:
            self._fail(f"the report is incomplete: {self._report.error.strerror}", lost=True)

    def _guarded(self, step: Callable[[], None]) -> bool:
        """Take a step and note how it failed; return whether a command can have run."""
        try:
            step()
        except SignalledError as error:
            self._signalled, self._interrupted = error.number, True
        except ReaderGoneError:
            self._signalled = SIGPIPE
        except StalledError as error:
            self._interrupted = True
            self._fail(str(error), RunStatus.TIME_LIMIT)
        except OutputError as error:
            self._fail(f"<stdout>: {error}", lost=True)
        except StartError as error:
            self._fail(str(error), error.status)
            return False
        return True

    def _ask(self, signals: Signals) -> None:
        ask(self._attempts, self._attempt, signals.sleep, self._retrying, time.time)

    def _attempt(self) -> AttemptOutcome:
        outcome = self._runner.attempt()
        if self._report is not None:
            self._report.attempt(len(self._attempts.outcomes) + 1, outcome)
        return outcome

    def _retrying(self, seconds: float) -> None:
        self._console.warning(self._messages.retry(self._attempts, seconds))

    def _fail(self, message: str, status: int = RunStatus.FAILED, *, lost: bool = False) -> None:
        self._failure = status
        self._console.line(message, lost=lost)

    def _print(self) -> None:
        """Print the answer, if there is one, and close standard output."""
        if self._attempts.answered and not self._signalled:
            self._runner.release()
        if not (self._signalled or self._failure):
            self._runner.end_line()
        try:
            self._runner.output.close()
        except OSError as error:
            if not self._failure:  # otherwise it has been reported already
                self._fail(f"<stdout>: {error.strerror}", lost=True)

    def _record(self, signals: Signals) -> Turn:
        attempts, label = self._attempts, self._label
        # An attempt that failed early may have ended before the stream named its model.
        models = [outcome.meta.model for outcome in attempts.outcomes if outcome.meta.model]
        turn = Turn(
            attempts=attempts,
            number=label.number or 1,
            session=label.session,
            model=label.model or (models[-1] if models else ""),
            at=self._now(),
            interrupted=self._interrupted,
        )

        def make(previous: Previous) -> list[Record]:
            nonlocal turn
            turn = turn._replace(number=label.number or previous.turns + 1)
            return turn_records.of_turn(turn, previous)

        self._append(make, signals)
        return turn

    def _append(self, make: Callable[[Previous], list[Record]], signals: Signals) -> None:
        if self._journal is None:
            return
        path = self._journal.path
        try:
            if self._written(self._journal, make, signals):
                message = f"{path}: the last line was torn; it does not count"
                self._console.warning(message, lost=True)
        except OSError as error:
            self._fail(f"{path}: cannot record this turn: {error.strerror}", lost=True)

    def _written(
        self, journal: Journal, make: Callable[[Previous], list[Record]], signals: Signals
    ) -> bool:
        """Append to the journal; return whether its last line was torn."""
        if not self._ending:
            try:
                wait = LockWait(self._runner.settings.bounded(_LOCK_SECONDS), signals.sleep)
                return journal.append(self._label.session, make, wait)
            except SignalledError as error:
                self._signalled = error.number
        wait = LockWait(_LOCK_SECONDS_AT_THE_END, time.sleep)
        return journal.append(self._label.session, make, wait)

    @property
    def _ending(self) -> bool:
        """Whether a signal or a time limit has asked this process to end."""
        status = self._failure or (self._attempts.outcomes and self._attempts.status)
        return bool(self._signalled) or status == RunStatus.TIME_LIMIT

    def _account(self, turn: Turn, signals: Signals) -> None:
        """Report what was discarded and what it cost."""
        attempts = self._attempts
        if not turn.interrupted and not attempts.answered:
            for line in self._messages.failure(attempts, turn.number):
                self._console.line(line)
        elif not turn.interrupted and (line := self._messages.discarded(attempts, turn.number)):
            self._console.warning(line)
        if self._fetch is None or not attempts.looped or self._signalled:
            return
        replies = [
            Abandoned(o.meta.generation_id, o.words, o.chars, self._label.model or o.meta.model)
            for o in attempts.looped
        ]
        budget = self._runner.settings.bounded(BUDGET + ASK_EVERY)
        prices = look_up(replies, self._fetch, signals.sleep, time.monotonic, budget)
        record = turn_records.of_prices(turn, zip(replies, prices, strict=True), self._label.agent)
        self._append(lambda _: [record], signals)
        self._report_price(len(replies), record["loopAbortUnpriced"], record["totalCost"])

    def _report_price(self, discarded: int, unpriced: int, cost: float) -> None:
        line = f"loop detection: {counted(discarded, 'discarded response')} "
        if unpriced == discarded:
            # A sum of no prices would read as if the replies had been free.
            line += "could not be priced"
        else:
            line += f"cost {cost:.6g}"
            line += f"; {unpriced} of them could not be priced" if unpriced else ""
        self._console.line(line)
