"""One turn of a session: attempts until an answer, then the record of what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from loopcli.run import turn_records
from loopcli.run.attempt import AttemptRunner, StartError
from loopcli.run.attempts import Attempts, ask
from loopcli.run.journal import Journal, Previous, Record
from loopcli.run.price import Abandoned, Fetch, look_up
from loopcli.run.turn_records import Turn
from loopcli.status import RunStatus
from loopcli.system.signals import SignalledError, Signals
from loopcli.system.stdio import SIGINT, SIGPIPE, OutputError, ReaderGoneError, die_by
from loopcli.wording import counted


class Console(Protocol):
    """Whoever tells the user."""

    def say(self, message: str) -> None:
        """Say something."""

    def warn(self, message: str) -> None:
        """Say what is worth knowing."""


class TurnLabel(NamedTuple):
    """Which turn it is; ``number`` 0 is the one after the last in the journal."""

    session: str = ""
    model: str = ""
    number: int = 0
    agent: str = ""


class TurnRunner:
    """Takes one turn; ``run`` returns the exit status."""

    def __init__(
        self,
        attempts: Attempts,
        launch: AttemptRunner,
        whose: TurnLabel,
        teller: Console,
        *,
        journal: Journal | None = None,
        fetch: Fetch | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._attempts = attempts
        self._launch = launch
        self._whose = whose
        self._teller = teller
        self._journal = journal
        self._fetch = fetch
        self._now = now
        self._signalled = 0
        self._failure: int = 0

    def run(self, signals: Signals) -> int:
        """Make the attempts, print the answer, write the record; may die by a signal."""
        try:
            with signals:
                ask(self._attempts, self._launch.attempt, signals.sleep, self._teller.warn)
        except SignalledError as error:
            self._signalled = error.number
        except ReaderGoneError:
            self._signalled = SIGPIPE
        except OutputError as error:
            self._fail(f"<stdout>: {error}")
        except StartError as error:
            self._fail(str(error), error.status)
        interrupted = bool(self._signalled or self._failure)
        try:
            self._print()
            # A command that never ran was no turn.
            if self._attempts.outcomes or self._signalled:
                self._account(self._record(interrupted=interrupted))
        except KeyboardInterrupt:
            self._signalled = SIGINT
        if self._signalled:
            return die_by(self._signalled)
        return self._failure or self._attempts.status

    def _fail(self, message: str, status: int = RunStatus.FAILED) -> None:
        self._failure = status
        self._teller.say(message)

    def _print(self) -> None:
        """Print the answer, if there is one, and close standard output."""
        output = self._launch.output
        try:
            if self._attempts.answered and not self._signalled:
                output.release()
            output.close()
        except ReaderGoneError:
            self._signalled = SIGPIPE
        except OutputError as error:
            self._fail(f"<stdout>: {error}")
        except OSError as error:
            if not self._failure:  # else it has been told already
                self._fail(f"<stdout>: {error.strerror}")

    def _record(self, *, interrupted: bool) -> Turn:
        attempts, whose = self._attempts, self._whose
        # An attempt that failed early may not have come to say whose it was.
        streamed = [o.meta.model for o in attempts.outcomes if o.meta.model]
        turn = Turn(
            attempts,
            whose.number or 1,
            whose.session,
            whose.model or (streamed[-1] if streamed else ""),
            self._now(),
            interrupted,
        )

        def make(previous: Previous) -> list[Record]:
            nonlocal turn
            turn = turn._replace(number=whose.number or previous.turns + 1)
            return turn_records.of_turn(turn, previous)

        self._append(make)
        return turn

    def _append(self, make: Callable[[Previous], list[Record]]) -> None:
        if self._journal is None:
            return
        path = self._journal.path
        try:
            if self._journal.append(self._whose.session, make):
                self._teller.warn(f"{path}: the last line was torn; it does not count")
        except OSError as error:
            self._fail(f"{path}: this turn is not in it: {error.strerror}")

    def _account(self, turn: Turn) -> None:
        """Tell what was thrown away and what it cost."""
        attempts = self._attempts
        if not turn.interrupted:
            line = attempts.discarded_line(turn.number)
            if not attempts.answered:
                last = attempts.last
                if attempts.looped and last not in attempts.looped:
                    self._teller.say(f"the last attempt failed: {last.cause}")
                self._teller.say(attempts.failure(turn.number))
            elif line:
                self._teller.warn(line)
        if self._fetch is None or not attempts.looped or self._signalled:
            return
        replies = [
            Abandoned(o.meta.generation_id, o.words, o.chars, self._whose.model or o.meta.model)
            for o in attempts.looped
        ]
        prices = look_up(replies, self._fetch, time.sleep, time.monotonic)
        record = turn_records.of_prices(turn, zip(replies, prices, strict=True), self._whose.agent)
        self._append(lambda _: [record])
        self._tell_price(len(replies), record["loopAbortUnpriced"], record["totalCost"])

    def _tell_price(self, discarded: int, unpriced: int, cost: float) -> None:
        told = f"loop detection: {counted(discarded, 'discarded response')} "
        if unpriced == discarded:
            # A sum of no prices would read as if they had been free.
            told += "could not be priced"
        else:
            told += f"cost {cost:.6g}"
            told += f"; {unpriced} of them could not be priced" if unpriced else ""
        self._teller.say(told)
