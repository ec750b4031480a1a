"""One attempt: runs the command, judges its output, and classifies how it ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from loopcli.events import Channel, HttpHead, Note, Restart, Text
from loopcli.readers.endings import http_status
from loopcli.run.attempts import AttemptKind, AttemptOutcome
from loopcli.run.child import Child
from loopcli.status import RunStatus
from loopcli.system.limits import IdleError, Limits, TimeLimitError
from loopcli.system.output import Output, Waiter
from loopcli.system.signals import Signals
from loopcli.watch import End, PlacedVerdict, StreamState, Watch, WatchItem
from loopcli.wording import counted

STDOUT = 1
# How many bytes of an output that is not printed are quoted in the message. gg's figure.
_MAX_SHOWN = 2000
# How many bytes are kept for that: an HTTP head stands before them and has a few KB.
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
    """

    idle_timeout: float = 60
    timeout: float = 900
    kill_after: float = 5
    stream: bool = False
    retry_on: frozenset[int] = frozenset()
    printing_idle: float = 0

    def bounded(self, seconds: float) -> float:
        """Return how long a wait of our own may take: no limit of the user's is shorter."""
        return min(limit for limit in (seconds, self.timeout, self.idle_timeout) if limit)


class AttemptRunner:
    """Runs the command once for each call of ``attempt``, with a fresh detector.

    ``stdin`` is a descriptor of a file that every attempt reads from its start.
    After an answered attempt ``output`` holds the reply. ``mask`` is applied to what a
    server said of a failure.
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
    ) -> None:
        self._command = command
        self._stdin = stdin
        self.settings = settings
        self._make_watch = make_watch
        self._signals = signals
        self._warn = warn
        self._mask = mask
        self._chars = 0
        self._start_of_output = b""
        self.output = Output(STDOUT, hold=False)

    def attempt(self) -> AttemptOutcome:
        """Run the command once.

        Raises ``StartError`` if it cannot be started, and what ends ``run`` itself: a
        signal, a failure of standard output.
        """
        settings = self.settings
        watch = self._make_watch()
        self._chars = 0
        self._start_of_output = b""
        os.lseek(self._stdin, 0, os.SEEK_SET)
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
        if child.left_open:
            self._warn("the command ended, but a process held its output open; ended it, too")
        outcome = self._outcome(watch, tripped, limit, child)
        outcome = outcome._replace(cause=self._mask(outcome.cause))
        if not self.output.holding:  # what is printed cannot be taken back
            outcome = outcome._replace(retryable=False)
        if outcome.kind is not AttemptKind.ANSWERED:
            self.output.drop()
        return outcome

    def release(self) -> None:
        """Print the held reply, for as long as an attempt may take."""
        limits = Limits(idle=self.settings.printing_idle, total=self.settings.timeout)
        self.output.release(wait=Waiter(limits, self._signals))

    def _start(self) -> Child:
        kill_after = self.settings.kill_after
        try:
            return Child(self._command, self._stdin, self._signals, kill_after=kill_after)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            status = RunStatus.NOT_FOUND if missing else RunStatus.CANNOT_RUN
            message = f"cannot run `{self._command[0]}`: {error.strerror}"
            raise StartError(message, status) from error

    def _copy(self, child: Child, watch: Watch, limits: Limits) -> PlacedVerdict | None:
        read = 0
        for data in child.output(limits, STDOUT):
            before = watch.progress
            tripped = self._judge(watch.feed(data))
            if watch.progress != before:
                limits.touch()
            self._start_of_output += data[: _MAX_KEPT - len(self._start_of_output)]
            cut = None if tripped is None else tripped.cut
            self.output.write(data if cut is None else data[: max(0, cut - read)])
            read += len(data)
            if tripped is not None:
                return tripped
        return self._judge(watch.close())

    def _judge(self, judged: Iterable[WatchItem]) -> PlacedVerdict | None:
        """Return the first verdict; count what the model wrote before it."""
        for event, verdicts in judged:
            if isinstance(event, Text) and event.lane.channel is Channel.CONTENT:
                self._chars += len(event.text)
            elif isinstance(event, Restart):
                self._chars = 0
            elif isinstance(event, Note):
                self._warn(event.message)
            if verdicts:
                return verdicts[0]
        return None

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
            head=state.head,
            meta=state.meta,
            usage=state.usage.counts if state.usage else {},
        )
        if tripped is not None:
            return _looped(outcome, watch, tripped)
        failed = self._stream_failure(state)
        if limit is not None:
            # A server may keep the connection open after its end mark.
            if not state.done:
                failed = failed or _limit_failure(limit, state, self.settings)
        else:
            failed = failed or _command_failure(state, child.status)
        if not failed:
            return outcome
        kind, cause, retryable = failed
        # If we ended the attempt, the command's status means nothing.
        if limit is None and child.status in self.settings.retry_on:
            retryable = True
        if kind is AttemptKind.EXITED and self._start_of_output and not self.settings.stream:
            cause += f"; not printed: {_shown(self._start_of_output)}"
        status = child.status if kind is AttemptKind.EXITED else 0
        return outcome._replace(kind=kind, cause=cause, retryable=retryable, exit_status=status)

    def _stream_failure(self, state: StreamState) -> _Failure | None:
        """Return how the stream failed and whether a retry may help."""
        error, head = state.error, state.head
        if head is not None and head.status >= 300:
            return _http_failure(head, _shown(self._start_of_output[head.byte :]))
        if state.problem is not None:
            where = f"line {state.problem.line}: " if state.problem.line else ""
            return AttemptKind.MALFORMED, where + state.problem.message, False
        if error is not None:
            code = f" (code {error.code})" if error.code else ""
            cause = f"provider returned an error object: {error.message}{code}"
            return AttemptKind.UPSTREAM, cause, _is_temporary(http_status(error.code))
        if state.end() is End.FAILED:
            # There is no error object: the finish_reason is the error.
            cause = f"the reply ended as {state.failure}"
            return AttemptKind.UPSTREAM, cause, _is_temporary(http_status(state.failure))
        return None


def _shown(output: bytes) -> str:
    """Return the beginning of an output, as a message quotes it."""
    text = output.strip()
    if len(text) <= _MAX_SHOWN:
        return text.decode("utf-8", "replace")
    return text[:_MAX_SHOWN].decode("utf-8", "ignore") + "…"


def _looped(outcome: AttemptOutcome, watch: Watch, tripped: PlacedVerdict) -> AttemptOutcome:
    words, chars = watch.detector.totals()
    detail = (
        f"{tripped.verdict.message} ({counted(words, 'word')}, "
        f"{counted(chars, 'character')} read before it was abandoned)"
    )
    cause = f"abandoned a looping reply: {detail}"
    return outcome._replace(
        kind=AttemptKind.LOOPED,
        cause=cause,
        retryable=True,
        detail=detail,
        words=words,
        chars=chars,
    )


_Failure = tuple[AttemptKind, str, bool]


def _http_failure(head: HttpHead, body: str) -> _Failure:
    cause = f"HTTP {head.status}"
    if head.status < 400:
        # A redirect that the client did not follow is not a reply either.
        cause += " (curl follows redirects with -L)"
    elif body:
        cause += f": {body}"
    return AttemptKind.HTTP, cause, _is_temporary(head.status)


def _is_temporary(status: int) -> bool:
    """Return whether a retry may succeed after this HTTP status."""
    return status == 429 or 500 <= status <= 599


def _limit_failure(
    limit: TimeLimitError, state: StreamState, settings: AttemptSettings
) -> _Failure:
    if not isinstance(limit, IdleError):
        return AttemptKind.CEILING, str(limit), False
    cause = f"the stream stalled: no delta from the model for {settings.idle_timeout:g}s"
    if state.meta.provider:
        cause += f" (provider: {state.meta.provider})"
    return AttemptKind.STALLED, cause, True


def _command_failure(state: StreamState, status: int) -> _Failure | None:
    how = _status_line(status)
    if state.end() is End.CUT:
        cause = "stream interrupted: it ended without a finish_reason or [DONE]"
        return AttemptKind.CUT, cause + (f"; {how}" if status else ""), True
    return (AttemptKind.EXITED, how, False) if status else None


def _status_line(status: int) -> str:
    if status > 128:
        try:
            name = signal.Signals(status - 128).name
        except ValueError:
            pass
        else:
            return f"the command ended with status {status} ({name})"
    return f"the command ended with status {status}"
