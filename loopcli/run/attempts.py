"""The retry loop: decides after each attempt whether to wait and retry, or to end.

Pure: it reads no clock and starts no process. The caller supplies the attempt and
the sleep. Source: gg's model client (the schedule, which failures are retried, the
wording of the messages).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from loopcli.events import HttpHead, Meta
from loopcli.run.retry_after import wait_of
from loopcli.status import RunStatus
from loopcli.watch import PlacedVerdict, StreamState
from loopcli.wording import counted


class AttemptKind(StrEnum):
    """How one attempt ended."""

    ANSWERED = "answered"
    LOOPED = "looped"
    STALLED = "stalled"  # no delta for too long
    CEILING = "ceiling"  # no end after too long
    HTTP = "http"  # a status of 400 or more in the response's head
    UPSTREAM = "upstream"  # an error object in the stream
    CUT = "cut"
    MALFORMED = "malformed"
    EXITED = "exited"  # the command failed for a reason of its own


_STATUS = {
    AttemptKind.STALLED: RunStatus.TIME_LIMIT,
    AttemptKind.CEILING: RunStatus.TIME_LIMIT,
    AttemptKind.HTTP: RunStatus.UPSTREAM,
    AttemptKind.UPSTREAM: RunStatus.UPSTREAM,
    AttemptKind.CUT: RunStatus.UPSTREAM,
    AttemptKind.MALFORMED: RunStatus.UPSTREAM,
}


class AttemptOutcome(NamedTuple):
    """The outcome of one attempt.

    ``cause`` says why it failed, ``plain`` the same for people, and ``detail`` what
    tripped. ``words`` and ``chars`` count what the model wrote. ``exit_status`` is the
    command's own. ``times`` are those of a ``Stopwatch``.
    """

    kind: AttemptKind
    cause: str = ""
    retryable: bool = False
    plain: str = ""
    detail: str = ""
    words: int = 0
    chars: int = 0
    bytes_in: int = 0
    exit_status: int = 0
    head: HttpHead | None = None
    meta: Meta = Meta()
    usage: Mapping[str, object] = MappingProxyType({})
    tripped: PlacedVerdict | None = None
    state: StreamState | None = None
    times: Mapping[str, float | None] = MappingProxyType({})


class Policy(NamedTuple):
    """How many retries, and how long to wait before each: in seconds, doubled, capped.

    A server may ask for a longer wait, up to ``most_asked``.

    >>> [Policy().delay(failures) for failures in range(1, 9)]
    [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    """

    retries: int = 10
    base: float = 1.0
    maximum: float = 60.0
    # Whoever asks for more than this asks for another day, or is not sane.
    most_asked: float = 300.0

    def delay(self, failures: int, head: HttpHead | None = None, now: float = 0) -> float:
        """Return the wait after this many failures, ``now`` seconds after the epoch."""
        # 2.0**1024 overflows a float; any sane maximum is reached long before.
        scheduled = min(self.base * 2.0 ** min(failures - 1, 1000), self.maximum)
        return max(scheduled, min(wait_of(head, now), self.most_asked))


class Discarded(NamedTuple):
    """What the looping attempts of one turn discarded."""

    loops: int = 0
    words: int = 0
    chars: int = 0


class Attempts:
    """The attempts of one turn so far."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.outcomes: list[AttemptOutcome] = []

    def take(self, outcome: AttemptOutcome, now: float = 0) -> float | None:
        """Record an outcome; return the wait in seconds, ``None`` if it was the last.

        ``now`` is the time in seconds after the epoch.
        """
        self.outcomes.append(outcome)
        failures = len(self.outcomes)
        if not outcome.retryable or failures > self._policy.retries:
            return None
        return self._policy.delay(failures, outcome.head, now)

    @property
    def last(self) -> AttemptOutcome:
        """How the last attempt ended."""
        return self.outcomes[-1]

    @property
    def answered(self) -> bool:
        """Whether the last attempt got the reply."""
        return bool(self.outcomes) and self.last.kind is AttemptKind.ANSWERED

    @property
    def looped(self) -> list[AttemptOutcome]:
        """The attempts that were abandoned because the reply looped."""
        return [outcome for outcome in self.outcomes if outcome.kind is AttemptKind.LOOPED]

    @property
    def tally(self) -> Discarded:
        """What the looping attempts discarded."""
        looped = self.looped
        return Discarded(len(looped), sum(o.words for o in looped), sum(o.chars for o in looped))

    @property
    def status(self) -> int:
        """The exit status after the last attempt: a loop outweighs any other failure."""
        if self.answered:
            return 0
        if self.looped:
            return RunStatus.LOOPED
        return _STATUS.get(self.last.kind, self.last.exit_status)

    @property
    def most(self) -> int:
        """How many attempts there may be."""
        return self._policy.retries + 1

    def retry_line(self, seconds: float) -> str:
        """Return the warning before another attempt."""
        made = len(self.outcomes)
        return (
            f"model request attempt {made} of {self.most} failed ({self.last.cause}); "
            f"retrying in {seconds:.1f}s"
        )

    def discarded_line(self, turn: int) -> str:
        """Return the warning that names what was discarded before the answer, or nothing."""
        loops, words, chars = self.tally
        if not loops:
            return ""
        return (
            f"loop detection discarded {counted(loops, 'looping model response')} on turn {turn} "
            f"before one completed, throwing away {counted(words, 'word')} of generated output "
            f"({counted(chars, 'character')}); it was all paid for "
            "and none of it entered the context."
        )

    def failure(self, turn: int) -> str:
        """Return the message for a turn without an answer."""
        start = f"model turn {turn} — "
        if self.looped:
            loops, _, chars = self.tally
            return (
                f"{start}model looped every attempt: model looped: {self.looped[-1].detail}; "
                f"discarded {loops} response(s) totalling {chars} characters of generated output"
            )
        if self.last.retryable and len(self.outcomes) > 1:
            made = len(self.outcomes)
            return f"{start}retries exhausted: all {made} attempts failed, the last: " + (
                self.last.cause
            )
        return start + self.last.cause


def ask(
    attempts: Attempts,
    attempt: Callable[[], AttemptOutcome],
    sleep: Callable[[float], None],
    retrying: Callable[[float], None],
    clock: Callable[[], float],
) -> None:
    """Make attempts until one is answered or no retry is left.

    ``retrying`` is called before each wait, with its seconds. ``clock`` gives the
    seconds after the epoch, for servers that ask to wait until a date.
    """
    while (seconds := attempts.take(attempt(), clock())) is not None:
        retrying(seconds)
        sleep(seconds)
