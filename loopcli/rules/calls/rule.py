"""The calls rule: refuse a call that was made too often within a short time.

Source: OpenCode Infinity Loop Guard, "Exact behavior" and "Decisions".

Each call of a session has a record of its own, so that refusing one call never
touches another. A record is in one of three states:

- *open*: the times of its calls within the window are counted. The call that
  would be number ``threshold`` is refused, and the record becomes blocked.
- *blocked*: every further call is refused, also after the window has passed.
  Only a decision ends that.
- *authorised*: a decision granted a retry. The next call starts the count anew
  at 1, whatever the record held.

Where the document leaves a choice open: the window slides with each call
instead of starting with the first; a refused call is not counted; a time that
lies ahead because the clock was set back counts like one as far behind.

The rule reads no clock and keeps no state of its own: the caller passes the time
and the records, so that a database may hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from loopcli.rules.calls.config import CallsConfig

# Different calls of one agent that are remembered. Long sessions make hundreds.
MAX_CALLS = 1024


class CallRecord(NamedTuple):
    """What is remembered of one call. ``times`` are in milliseconds."""

    times: tuple[float, ...] = ()
    blocked: bool = False
    authorised: bool = False

    def recent(self, at: float, config: CallsConfig) -> tuple[float, ...]:
        """Return the times that count at a moment."""
        return tuple(time for time in self.times if abs(at - time) < config.window_ms)

    @property
    def attempted(self) -> bool:
        """Whether the call was ever made."""
        return self.blocked or bool(self.times)


class CallMemory(Protocol):
    """Where the records of one agent of one session are kept."""

    last_blocked: str
    """The key of the call that was refused last; empty if none is refused."""

    def get(self, key: str) -> CallRecord:
        """Return the record of a call, an empty one if there is none."""

    def put(self, key: str, record: CallRecord) -> None:
        """Replace the record of a call."""


class CallTable:
    """Records in memory: at most ``MAX_CALLS``, of which blocked ones are kept longest."""

    def __init__(self, records: Mapping[str, CallRecord] | None = None) -> None:
        self.records = dict(records or {})
        self.last_blocked = ""

    def get(self, key: str) -> CallRecord:
        """Return the record of a call, an empty one if there is none."""
        return self.records.get(key, CallRecord())

    def put(self, key: str, record: CallRecord) -> None:
        """Replace the record of a call; drop another if there are too many."""
        self.records.pop(key, None)
        self.records[key] = record
        if len(self.records) > MAX_CALLS:
            others = list(self.records)[:-1]
            del self.records[min(others, key=lambda name: self.records[name].blocked)]


class CallVerdict(NamedTuple):
    """Whether a call may run, and how many equal ones were made within the window.

    ``made`` includes this call, if it runs.
    """

    allowed: bool
    made: int


def judge_call(
    memory: CallMemory, key: str, at: float, config: CallsConfig | None = None
) -> CallVerdict:
    """Count a call that is about to run at ``at`` (milliseconds); say whether it may.

    >>> memory = CallTable()
    >>> [judge_call(memory, "A", at).allowed for at in (0, 1, 2)]
    [True, True, False]
    >>> judge_call(memory, "B", 3)
    CallVerdict(allowed=True, made=1)
    """
    config = config or CallsConfig()
    record = memory.get(key)
    if record.authorised:
        if memory.last_blocked == key:
            memory.last_blocked = ""
        memory.put(key, CallRecord((at,)))
        return CallVerdict(True, 1)
    recent = record.recent(at, config)
    if record.blocked or len(recent) + 1 >= config.threshold:
        memory.put(key, record._replace(blocked=True))
        memory.last_blocked = key
        return CallVerdict(False, len(recent))
    memory.put(key, CallRecord((*recent, at)))
    return CallVerdict(True, len(recent) + 1)
