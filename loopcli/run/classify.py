"""How an attempt failed, from its stream, its time limit and its command's status.

Each failure has two sentences: ``cause`` in the words of the source (gg's model client),
which the journal and the document's own messages need, and ``plain`` for people.
"""

from __future__ import annotations

from typing import NamedTuple

from loopcli.events import HttpHead
from loopcli.output.trip_line import trip_line
from loopcli.readers.endings import http_status
from loopcli.run.attempts import AttemptKind, AttemptOutcome
from loopcli.system.limits import IdleError, TimeLimitError
from loopcli.system.signals import signal_name
from loopcli.watch import End, PlacedVerdict, StreamState, Watch
from loopcli.wording import brief, counted

# How many bytes of an output that is not printed are quoted in the message. gg's figure.
_MAX_SHOWN = 2000


class AttemptFailure(NamedTuple):
    """How an attempt failed, and whether a retry may help. Without ``plain`` it is ``cause``."""

    kind: AttemptKind
    cause: str
    retryable: bool = False
    plain: str = ""


def quoted(output: bytes) -> str:
    """Return the beginning of an output, as a message quotes it."""
    text = output.strip()
    if len(text) <= _MAX_SHOWN:
        return text.decode("utf-8", "replace")
    return text[:_MAX_SHOWN].decode("utf-8", "ignore") + "…"


def looped(outcome: AttemptOutcome, watch: Watch, tripped: PlacedVerdict) -> AttemptOutcome:
    """Return the outcome of an attempt that a verdict ended."""
    words, chars = watch.detector.totals()
    detail = (
        f"{tripped.verdict.message} ({counted(words, 'word')}, "
        f"{counted(chars, 'character')} read before it was abandoned)"
    )
    return outcome._replace(
        kind=AttemptKind.LOOPED,
        cause=f"abandoned a looping reply: {detail}",
        plain=_said(tripped),
        retryable=True,
        detail=detail,
        words=words,
        chars=chars,
        tripped=tripped,
    )


def _said(tripped: PlacedVerdict) -> str:
    """Return the line about a verdict; a session's own says all that there is."""
    if tripped.verdict.chars:
        return trip_line(tripped.verdict, tripped.input_kind)
    return f"stopped the session: {tripped.verdict.message}"


def stream_failure(state: StreamState, output: bytes) -> AttemptFailure | None:
    """Return how the stream failed, if it did; ``output`` is how it begins."""
    error, head = state.error, state.head
    if head is not None and head.status >= 300:
        return _http_failure(head, quoted(output[head.byte :]), error.message if error else "")
    if state.problem is not None:
        where = f"line {state.problem.line}: " if state.problem.line else ""
        return AttemptFailure(AttemptKind.MALFORMED, where + state.problem.message)
    if error is not None:
        code = f" (code {error.code})" if error.code else ""
        cause = f"provider returned an error object: {error.message}{code}"
        label = f"upstream error {error.code}" if error.code else "upstream error"
        retryable = _is_temporary(http_status(error.code))
        return AttemptFailure(AttemptKind.UPSTREAM, cause, retryable, f"{label}: {error.message}")
    if state.end() is End.FAILED:
        # There is no error object: the finish_reason is the error.
        cause = f"the reply ended as {state.failure}"
        return AttemptFailure(
            AttemptKind.UPSTREAM, cause, _is_temporary(http_status(state.failure))
        )
    return None


def limit_failure(limit: TimeLimitError, state: StreamState, idle: float) -> AttemptFailure:
    """Return the failure of an attempt that a time limit ended; ``idle`` is in seconds."""
    if not isinstance(limit, IdleError):
        return AttemptFailure(AttemptKind.CEILING, str(limit))
    provider = f" (provider: {state.meta.provider})" if state.meta.provider else ""
    cause = f"the stream stalled: no delta from the model for {idle:g}s{provider}"
    return AttemptFailure(AttemptKind.STALLED, cause, True, f"{limit}{provider}")


def command_failure(state: StreamState, status: int, output: bytes) -> AttemptFailure | None:
    """Return the failure of a stream without an end, or of a command that failed by itself.

    ``output`` is the beginning of what the command printed, if nobody has seen it.
    """
    how = _status_line(status)
    if state.end() is End.CUT:
        also = f"; {how}" if status else ""
        ended = "it ended without a finish_reason or [DONE]"
        cause, plain = f"stream interrupted: {ended}", f"the stream was cut: {ended}"
        return AttemptFailure(AttemptKind.CUT, cause + also, True, plain + also)
    if not status:
        return None
    unseen = f"; not printed: {quoted(output)}" if output else ""
    return AttemptFailure(AttemptKind.EXITED, how + unseen, plain=brief(how + unseen))


def _http_failure(head: HttpHead, body: str, message: str) -> AttemptFailure:
    """Return the failure of a response; ``message`` is the provider's sentence in its body."""
    cause = plain = f"HTTP {head.status}"
    if head.status < 400:
        # A redirect that the client did not follow is not a reply either.
        cause = plain = cause + " (curl follows redirects with -L)"
    elif body:
        cause, plain = f"{cause}: {body}", f"{plain}: {message or brief(body)}"
    return AttemptFailure(AttemptKind.HTTP, cause, _is_temporary(head.status), plain)


def _is_temporary(status: int) -> bool:
    """Return whether a retry may succeed after this HTTP status."""
    return status == 429 or 500 <= status <= 599


def _status_line(status: int) -> str:
    name = signal_name(status - 128)
    return f"the command ended with status {status}" + (f" ({name})" if name else "")
