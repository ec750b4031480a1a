"""The filter: copies one input to standard output and judges it on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from loopcli.events import BrokenRecord, Event, Note, Problem, UpstreamError
from loopcli.filter.reply_writer import ReplyWriter
from loopcli.filter.reporter import Reporter
from loopcli.filter.settings import FilterSettings
from loopcli.output.base import Renderer, Summary
from loopcli.status import Status, from_signal, worst
from loopcli.system.limits import Limits, TimeLimitError
from loopcli.system.output import Output, OutputError, ReaderGoneError, StalledError, Waiter
from loopcli.system.stdio import SIGINT, SIGPIPE, Source, die_by, is_pipe, open_input
from loopcli.system.stopwatch import Stopwatch
from loopcli.verdicts import LENGTH, Verdict
from loopcli.watch import End, PlacedVerdict, SessionReport, Watch

if TYPE_CHECKING:
    from loopcli.output.jsonl import JsonLinesRenderer
    from loopcli.session_verdicts import SessionOutput

STDIN, STDOUT = 0, 1


class Filter:
    """One run of the filter. ``run`` returns the exit status."""

    def __init__(
        self,
        watch: Watch,
        settings: FilterSettings,
        renderers: Sequence[Renderer],
        output: Output,
        *,
        path: str = "",
        last: bool = True,
    ) -> None:
        """Without a ``path``, standard input is read; the ``last`` input closes ``output``."""
        self._watch = watch
        self._settings = settings
        self._path = path
        self._last = last
        self._reporter = Reporter(renderers)
        self._stopwatch = Stopwatch()
        self._limits = Limits(idle=settings.idle_timeout, total=settings.timeout)
        wait = Waiter(self._limits) if settings.idle_timeout or settings.timeout else None
        holding = settings.hold or settings.trim
        output.begin(hold=holding, wait=wait, warn=self._reporter.warning)
        self._output = output
        self._writer = ReplyWriter(output, settings, self._reporter.warning)
        self._statuses = [Status.CLEAN]
        self._read = 0
        self._judging = True
        self._verdict: Verdict | None = None
        self._end: End | None = None
        self._unsaved = False  # rounds have been judged since the state was saved
        # Set once standard output takes nothing more: no other input can be printed.
        self.output_failed = False

    def run(
        self, info: dict[str, Any], warnings: Sequence[str], report: JsonLinesRenderer | None
    ) -> int:
        """Copy and judge until the input ends, a rule trips, or a time limit passes."""
        self._reporter.add(lambda renderer: renderer.begin(info))
        for warning in warnings:
            self._reporter.warning(warning, of_input=False)
        self._reporter.flush()
        signalled = 0
        try:
            self._copy()
        except TimeLimitError as limit:
            # After the end mark this is no failure: a server may keep the connection open.
            if not self._watch.state.done:
                self._timed_out(limit)
        except StalledError as stall:
            self._stalled(stall)
        except ReaderGoneError:
            self._end, signalled = End.INTERRUPTED, SIGPIPE
        except KeyboardInterrupt:
            self._end, signalled = End.INTERRUPTED, SIGINT
        except OutputError as error:
            self._output_failed(error)
        except OSError as error:
            message = f"cannot read: {error.strerror or error}"
            self._stop(End.INTERRUPTED, Status.TROUBLE, message, kind="io")
        if not signalled:
            signalled = self._finish_output()
        summary = self._summary(signalled)
        self._reporter.add(lambda renderer: renderer.end(summary))
        self._reporter.flush()
        if signalled:
            return die_by(signalled)
        ends = self._last or self.output_failed
        if ends and report is not None and report.error is not None:
            message = f"the report is incomplete: {report.error.strerror}"
            self._problem(Status.TROUBLE, message, kind="io")
            self._reporter.flush()
            return worst((Status(summary.status), Status.TROUBLE))
        return summary.status

    def _copy(self) -> None:
        fd = open_input(self._path, self._output.fd) if self._path else STDIN
        try:
            self._copy_from(fd)
        finally:
            if self._path:
                os.close(fd)

    def _copy_from(self, fd: int) -> None:
        for data in Source(fd, self._output.fd, self._limits):
            begins, progress = self._read, self._watch.progress
            self._read += len(data)
            cut = self._judge(self._watch.feed, data)
            self._save()
            progressed = self._watch.progress != progress
            self._stopwatch.read(delta=progressed)
            if progressed:
                self._limits.touch()
            self._writer.raw(data, None if cut is None else cut - begins)
            self._tick()
            if self._verdict is not None:
                break
            self._reporter.flush()
        else:
            self._judge(lambda _: self._watch.close(), b"")
            self._save()
        if self._verdict is not None:
            self._writer.trip_event(self._verdict, self._watch.state)
        else:
            self._check_end()

    def _judge(self, step: Callable[[bytes], Any], data: bytes) -> int | None:
        """Judge the data of one read; return the byte to cut at if a rule tripped in it."""
        if not self._judging:
            return None
        try:
            for event, verdicts in step(data):
                cut = self._handle(event, verdicts)
                if cut is not None:
                    return cut
        except (ReaderGoneError, OutputError, StalledError):
            raise
        except Exception as error:  # a bug of ours must not cost the user the stream
            self._judging = False
            message = f"judging failed, the rest is copied unjudged: {error!r}"
            self._problem(Status.TROUBLE, message, kind="bug")
        return None

    def _handle(
        self, event: Event | SessionReport, verdicts: Sequence[PlacedVerdict]
    ) -> int | None:
        """Report an event and its verdicts; return the byte to cut at, if any."""
        if isinstance(event, SessionReport):
            self._report_session(event.output)
        for placed in verdicts:
            self._statuses.append(_status_of(placed.verdict))
            if not isinstance(event, SessionReport):
                self._reporter.verdict(placed, self._read)
            if not self._settings.dry_run and placed.cut is not None:
                self._verdict = placed.verdict
                self._writer.event(event, placed.verdict.offset)
                return placed.cut
        self._writer.event(event, None)
        match event:
            case Problem(message, line):
                self._problem(Status.MALFORMED, message, line=line)
            case UpstreamError(message, line, _, code):
                label = f"upstream error {code}" if code else "upstream error"
                self._problem(Status.UPSTREAM, f"{label}: {message}", line=line, kind="upstream")
            case BrokenRecord(message, line):
                self._reporter.warning(f"line {line}: {message}")
            case Note(message):
                self._reporter.warning(message)
        return None

    def _report_session(self, output: SessionOutput) -> None:
        """Report a round, or where a session begins or ends; each warning once."""
        self._unsaved = True
        self._reporter.session(output, self._read)

    def _save(self) -> None:
        """Save what is remembered of the session, before anything else is read."""
        judge = self._watch.judge
        if not (self._unsaved and self._settings.state_file and judge is not None):
            return
        from loopcli.system import state_file

        self._unsaved = False
        try:
            state_file.save(self._settings.state_file, judge.snapshot())
        except OSError as error:
            self._settings = self._settings._replace(state_file="")
            message = f"the state is not saved: {error.strerror or error}"
            self._problem(Status.TROUBLE, message, kind="io")

    def _check_end(self) -> None:
        state = self._watch.state
        if not self._judging:
            return
        if state.end() is End.FAILED and state.error is None:
            # There is no error object: the finish_reason is the error.
            message = f"upstream error: the reply ended as {state.failure}"
            self._problem(Status.UPSTREAM, message, kind="upstream")
        elif state.end() is End.CUT:
            self._cut("the stream was cut: it ended without a finish_reason or [DONE]")
        elif state.nothing_arrived and state.end() is End.DONE:
            self._end = End.CUT
            self._cut("nothing arrived: the input is empty")

    def _cut(self, message: str) -> None:
        if self._settings.strict:
            self._problem(Status.MALFORMED, message, kind="cut")
        else:
            self._reporter.warning(message)

    def _finish_output(self) -> int:
        """Print or discard what is held, and close; return the signal to die by, or 0."""
        try:
            clean = self._settings.dry_run or worst(self._statuses) is Status.CLEAN
            self._writer.finish(self._verdict, clean=clean)
            self._reporter.flush()  # who waits for the end of our output reads this first
            if self._last or self.output_failed:
                self._output.close()
        except ReaderGoneError:
            return SIGPIPE
        except KeyboardInterrupt:
            return SIGINT
        except StalledError as stall:
            self._stalled(stall)
        except OutputError as error:
            self._output_failed(error)
        except OSError as error:
            if self._end is None:  # otherwise it has been reported already
                self._output_failed(OutputError(error.strerror))
        return 0

    def _timed_out(self, limit: Exception) -> None:
        message = str(limit)
        if not self._path and not self.output_failed and is_pipe(STDIN):
            # A shell waits for every command of a pipeline, and this one cannot end the others.
            message += "; the prompt returns when the command before the pipe writes or ends"
        self._stop(End.TIMED_OUT, Status.TIME_LIMIT, message, kind="time-limit")

    def _stalled(self, stall: StalledError) -> None:
        self.output_failed = True
        self._timed_out(stall)

    def _output_failed(self, error: OutputError) -> None:
        self.output_failed = True
        self._stop(End.INTERRUPTED, Status.TROUBLE, str(error), kind="output")

    def _summary(self, signalled: int) -> Summary:
        words, chars = self._watch.detector.totals()
        end = End.TRIPPED if self._verdict else self._end or self._watch.state.end()
        peaks = {name: peak for name, (_, _, peak) in self._watch.detector.gauges().items()}
        if self._watch.judge is not None:
            peaks |= self._watch.judge.peaks()
        return Summary(
            status=from_signal(signalled) if signalled else worst(self._statuses),
            end=end,
            words=words,
            chars=chars,
            bytes_in=self._read,
            bytes_out=self._writer.written,
            peaks=peaks,
            state=self._watch.state,
            times=self._stopwatch.to_json(),
        )

    def _stop(self, end: End, status: Status, message: str, *, kind: str) -> None:
        self._end = end
        self._problem(status, message, kind=kind)

    def _tick(self) -> None:
        if not self._settings.progress:
            return
        words, chars = self._watch.detector.totals()
        gauges = self._watch.detector.gauges()
        self._reporter.add(lambda renderer: renderer.tick(words, chars, gauges))

    def _problem(
        self, status: Status, message: str, *, line: int | None = None, kind: str = "malformed"
    ) -> None:
        self._statuses.append(status)
        self._reporter.problem(message, line=line, kind=kind)


def _status_of(verdict: Verdict) -> Status:
    return Status.LENGTH if verdict.kind == LENGTH else Status.LOOP
