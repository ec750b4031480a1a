"""One attempt: runs the command, judges its output, and classifies how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from loopcli.events import Channel, Note, Restart, Text
from loopcli.run.attempts import AttemptKind, AttemptOutcome
from loopcli.run.child import Child
from loopcli.run.classify import command_failure, limit_failure, looped, stream_failure
from loopcli.status import RunStatus
from loopcli.system.limits import Limits, TimeLimitError
from loopcli.system.output import Output, Waiter
from loopcli.system.signals import Signals
from loopcli.system.stopwatch import Stopwatch
from loopcli.watch import PlacedVerdict, SessionReport, Watch, WatchItem

if TYPE_CHECKING:
    from loopcli.output.progress import ProgressRenderer
    from loopcli.session_verdicts import SessionOutput

STDOUT = 1
# How many bytes are kept to be quoted: an HTTP head stands before them and has a few KB.
_MAX_KEPT = 16 * 1024


class StartError(Exception):
    """The command cannot be started; ``status`` says whether it exists."""

    def __init__(self, message: str, status: RunStatus) -> None:
        super().__init__(message)
        self.status = status


class AttemptSettings(NamedTuple):
    """How an attempt runs. Times are in seconds; 0 means no limit (``kill_after``: at once).

    ``printing_idle`` is how long the reader of a held reply may take nothing. By default
    for ever: the reply is whole, and it may be a person who reads it page by page.
    ``emit_text`` prints the text of the reply, and ``end_line`` ends it with a newline.
    ``agent`` says that the command is an agent, which ends with all that it has started.
    """

    idle_timeout: float = 60
    timeout: float = 900
    kill_after: float = 5
    stream: bool = False
    retry_on: frozenset[int] = frozenset()
    printing_idle: float = 0
    emit_text: bool = False
    end_line: bool = False
    agent: bool = False

    def bounded(self, seconds: float) -> float:
        """Return how long a wait of our own may take: no limit of the user's is shorter."""
        return min(limit for limit in (seconds, self.timeout, self.idle_timeout) if limit)


class AttemptRunner:
    """Runs the command once for each call of ``attempt``, with a fresh detector.

    ``stdin`` is a descriptor of a file that every attempt reads from its start.
    After an answered attempt ``output`` holds the reply. ``mask`` is applied to what a
    server said of a failure. ``warn`` reports what may have been lost, ``progress`` draws
    the gauge, ``session`` gets what there is to report on an agent's session.
    """

    def __init__(
        self,
        command: Sequence[str],
        stdin: int,
        settings: AttemptSettings,
        make_watch: Callable[[], Watch],
        signals: Signals,
        warn: Callable[[str], None],
        mask: Callable[[str], str] = str,
        progress: ProgressRenderer | None = None,
        session: Callable[[SessionOutput, int], None] | None = None,
    ) -> None:
        self._command = command
        self._stdin = stdin
        self.settings = settings
        self._make_watch = make_watch
        self._signals = signals
        self._warn = warn
        self._mask = mask
        self._progress = progress
        self._session = session
        self._chars = self._read = 0
        self._start_of_output = b""
        self._notes: list[str] = []
        self._stopwatch = Stopwatch()
        self.output = Output(STDOUT, hold=False)

    def attempt(self) -> AttemptOutcome:
        """Run the command once.

        Raises ``StartError`` if it cannot be started, and what ends ``run`` itself: a
        signal, a failure of standard output.
        """
        settings = self.settings
        watch = self._make_watch()
        self._chars = self._read = 0
        self._start_of_output = b""
        os.lseek(self._stdin, 0, os.SEEK_SET)
        self._stopwatch = Stopwatch()
        child = self._start()
        self.output.drop()
        limits = Limits(idle=settings.idle_timeout, total=settings.timeout)
        wait = Waiter(limits, self._signals)
        self.output = Output(STDOUT, hold=not settings.stream, wait=wait, warn=self._warn)
        limit: TimeLimitError | None = None
        try:
            try:
                tripped = self._copy(child, watch, limits)
            except TimeLimitError as error:
                limit = error
                tripped = self._judge(watch.close())
        finally:
            child.end()
            if self._progress is not None:
                self._progress.erase()
        self._report_notes()
        if child.left_open:
            self._warn("the command ended, but a process held its output open; ended it, too")
        outcome = self._outcome(watch, tripped, limit, child)
        cause, plain = self._mask(outcome.cause), self._mask(outcome.plain)
        outcome = outcome._replace(cause=cause, plain=plain)
        if not self.output.holding:  # what is printed cannot be taken back
            outcome = outcome._replace(retryable=False)
        if outcome.kind is not AttemptKind.ANSWERED:
            self.output.drop()
        return outcome

    def release(self) -> None:
        """Print the held reply, for as long as an attempt may take."""
        limits = Limits(idle=self.settings.printing_idle, total=self.settings.timeout)
        self.output.release(wait=Waiter(limits, self._signals))

    def end_line(self) -> None:
        """End the last line of an emitted text, so that a prompt or a message begins one."""
        if self.settings.emit_text and self.settings.end_line and self.output.ends_line():
            self.output.write(b"\n")

    def _start(self) -> Child:
        settings = self.settings
        try:
            return Child(
                self._command,
                self._stdin,
                self._signals,
                kill_after=settings.kill_after,
                agent=settings.agent,
            )
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            status = RunStatus.NOT_FOUND if missing else RunStatus.CANNOT_RUN
            message = f"cannot run `{self._command[0]}`: {error.strerror}"
            if missing and len(self._command) == 1 and " " in self._command[0].strip():
                message += "; it was given as one word: leave out the quotes, or use sh -c"
            raise StartError(message, status) from error

    def _copy(self, child: Child, watch: Watch, limits: Limits) -> PlacedVerdict | None:
        for data in child.output(limits, STDOUT):
            before = watch.progress
            tripped = self._judge(watch.feed(data))
            progressed = watch.progress != before
            self._stopwatch.read(delta=progressed)
            if progressed:
                limits.touch()
            self._start_of_output += data[: _MAX_KEPT - len(self._start_of_output)]
            if not self.settings.emit_text:
                cut = None if tripped is None else tripped.cut
                self.output.write(data if cut is None else data[: max(0, cut - self._read)])
            self._read += len(data)
            self._report_notes()
            if self._progress is not None:
                self._progress.tick(*watch.detector.totals(), watch.detector.gauges())
            if tripped is not None:
                return tripped
        return self._judge(watch.close())

    def _judge(self, judged: Iterable[WatchItem]) -> PlacedVerdict | None:
        """Return the first verdict; count what the model wrote before it."""
        for event, verdicts in judged:
            if isinstance(event, Text) and event.lane.channel is Channel.CONTENT:
                self._chars += len(event.text)
                if self.settings.emit_text and event.lane.is_answer:
                    size = verdicts[0].verdict.offset if verdicts else None
                    self.output.write(event.text[:size].encode("utf-8", "replace"))
            elif isinstance(event, Restart):
                self._chars = 0
            elif isinstance(event, Note):
                self._notes.append(event.message)
            elif isinstance(event, SessionReport) and self._session is not None:
                self._session(event.output, self._read)
            if verdicts:
                return verdicts[0]
        return None

    def _report_notes(self) -> None:
        """Report the notes on some bytes, which have been written by now."""
        notes, self._notes = self._notes, []
        for note in notes:
            self._warn(note)

    def _outcome(
        self,
        watch: Watch,
        tripped: PlacedVerdict | None,
        limit: TimeLimitError | None,
        child: Child,
    ) -> AttemptOutcome:
        state = watch.state
        outcome = AttemptOutcome(
            AttemptKind.ANSWERED,
            words=watch.detector.totals(Channel.CONTENT)[0],
            chars=self._chars,
            bytes_in=self._read,
            head=state.head,
            meta=state.meta,
            usage=state.usage.counts if state.usage else {},
            state=state,
            times=self._stopwatch.to_json(),
        )
        if tripped is not None:
            return looped(outcome, watch, tripped)
        failed = stream_failure(state, self._start_of_output)
        if limit is not None:
            # A server may keep the connection open after its end mark.
            if not state.done:
                failed = failed or limit_failure(limit, state, self.settings.idle_timeout)
        else:
            unseen = b"" if self.settings.stream else self._start_of_output
            failed = failed or command_failure(state, child.status, unseen)
        if not failed:
            return outcome
        # If we ended the attempt, the command's status means nothing.
        named = limit is None and child.status in self.settings.retry_on
        return outcome._replace(
            kind=failed.kind,
            cause=failed.cause,
            plain=failed.plain,
            retryable=failed.retryable or named,
            exit_status=child.status if failed.kind is AttemptKind.EXITED else 0,
        )
