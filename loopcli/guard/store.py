"""The database in which hooks remember the calls of all sessions.

Each hook is a process of its own, and an agent may start twenty at once. So one
call is one ``BEGIN IMMEDIATE`` transaction: SQLite lets one writer in and makes
the others wait. A process that is killed leaves the state before its call.

No argument and no output is stored: a call is its fingerprint, and the log has
names of tools. The file is readable by its owner only.

Limits, all of them enforced when something is added: ``MAX_SESSIONS`` agents of
sessions, the ones used last; ``MAX_CALLS`` calls of each, refused ones kept
longest; ``MAX_ANSWERS`` events of each, and ``MAX_LOG`` lines of the log.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any, NamedTuple

from loopcli.guard.database import transaction
from loopcli.rules.calls.rule import MAX_CALLS, CallRecord, CallVerdict

# An agent runs for hours, a machine a few of them at a time.
MAX_SESSIONS = 1000
# Events that may be delivered again: those of the last few replies.
MAX_ANSWERS = 256
MAX_LOG = 10_000
# Names of tools have up to 64 characters.
_MAX_NAME = 200


class LogLine(NamedTuple):
    """Something that happened; ``at`` is in seconds since 1970."""

    at: float
    session: str
    agent: str
    event: str
    tool: str


class RememberedAgent(NamedTuple):
    """What is remembered of one agent of a session."""

    session: str
    agent: str
    calls: int
    refused: int
    touched: float


class StoredCalls:
    """The records of one agent of one session, inside a transaction (a ``CallMemory``)."""

    def __init__(self, database: sqlite3.Connection, session: str, agent: str, at: float) -> None:
        self._database, self._session, self._agent, self._at = database, session, agent, at
        insert = (
            "INSERT INTO sessions (session, agent, touched) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET touched = excluded.touched"
        )
        is_new = not self._row(
            "SELECT 1 FROM sessions WHERE session = ? AND agent = ?", *self._name
        )
        database.execute(insert, (*self._name, at))
        self._owner, self._last = self._row(
            "SELECT id, last_blocked FROM sessions WHERE session = ? AND agent = ?", *self._name
        )
        if is_new:
            self._forget_sessions()

    @property
    def _name(self) -> tuple[str, str]:
        return self._session, self._agent

    def _row(self, query: str, *values: object) -> tuple[object, ...]:
        row: tuple[object, ...] | None = self._database.execute(query, values).fetchone()
        return row or ()

    @property
    def last_blocked(self) -> str:
        """The key of the call that was refused last."""
        return self._last if isinstance(self._last, str) else ""

    @last_blocked.setter
    def last_blocked(self, key: str) -> None:
        self._last = key
        update = "UPDATE sessions SET last_blocked = ? WHERE id = ?"
        self._database.execute(update, (key, self._owner))

    def get(self, key: str) -> CallRecord:
        """Return the record of a call, an empty one if there is none."""
        query = "SELECT times, blocked, authorised FROM calls WHERE owner = ? AND key = ?"
        row = self._row(query, self._owner, key)
        return CallRecord(_times(row[0]), bool(row[1]), bool(row[2])) if row else CallRecord()

    def put(self, key: str, record: CallRecord) -> None:
        """Replace the record of a call; drop another if there are too many."""
        times = " ".join(map(repr, record.times))
        values = (self._owner, key, times, record.blocked, record.authorised, self._at)
        insert = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?)"
        self._database.execute(insert, values)
        self._database.execute(
            "DELETE FROM calls WHERE owner = ?1 AND key IN (SELECT key FROM calls "
            "WHERE owner = ?1 AND key <> ?2 "
            "ORDER BY blocked DESC, touched DESC LIMIT -1 OFFSET ?3)",
            (self._owner, key, MAX_CALLS - 1),
        )

    def answered(self, event: str) -> CallVerdict | None:
        """Return the verdict on an event that was delivered before."""
        query = "SELECT allowed, made FROM answers WHERE owner = ? AND event = ?"
        row = self._row(query, self._owner, event)
        return CallVerdict(bool(row[0]), row[1] if isinstance(row[1], int) else 0) if row else None

    def remember(self, event: str, verdict: CallVerdict) -> None:
        """Remember the verdict on an event, in case that it is delivered again."""
        values = (self._owner, event, verdict.allowed, verdict.made, self._at)
        self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", values)
        self._database.execute(
            "DELETE FROM answers WHERE owner = ?1 AND event IN (SELECT event FROM answers "
            "WHERE owner = ?1 ORDER BY touched DESC LIMIT -1 OFFSET ?2)",
            (self._owner, MAX_ANSWERS),
        )

    def log(self, event: str, tool: str) -> None:
        """Note that something happened to a call of a tool."""
        row = (self._at, *self._name, event, tool[:_MAX_NAME])
        insert = "INSERT INTO log (at, session, agent, event, tool) VALUES (?, ?, ?, ?, ?)"
        added = self._database.execute(insert, row)
        last = (added.lastrowid or 0) - MAX_LOG
        self._database.execute("DELETE FROM log WHERE id <= ?", (last,))

    def _forget_sessions(self) -> None:
        oldest = "SELECT id FROM sessions ORDER BY touched DESC LIMIT -1 OFFSET ?"
        for row in self._database.execute(oldest, (MAX_SESSIONS,)).fetchall():
            _delete(self._database, row[0])


class CallStore:
    """The database at ``path``; it is created when it is first needed."""

    def __init__(self, path: str) -> None:
        self.path = path

    @contextmanager
    def calls(self, session: str, agent: str, at: float) -> Iterator[StoredCalls]:
        """Yield the records of an agent of a session; what is changed is kept together.

        ``at`` is the time in seconds. Raises ``StoreError``.
        """
        with transaction(self.path) as database:
            yield StoredCalls(database, session, agent, at)

    def sessions(self) -> list[RememberedAgent]:
        """Return what is remembered, the session used last first."""
        query = (
            "SELECT session, agent, count(key), coalesce(sum(blocked), 0), sessions.touched "
            "FROM sessions LEFT JOIN calls ON owner = id GROUP BY id ORDER BY sessions.touched DESC"
        )
        return [RememberedAgent(*row) for row in self._rows(query)]

    def log_lines(self) -> list[LogLine]:
        """Return the log, oldest line first."""
        lines = self._rows("SELECT at, session, agent, event, tool FROM log ORDER BY id")
        return [LogLine(*row) for row in lines]

    def forget(self, session: str | None) -> int:
        """Forget a session with its agents, or all of them; return how many agents that were."""
        query = "SELECT id FROM sessions WHERE ?1 IS NULL OR session = ?1"
        if not os.path.exists(self.path):
            return 0
        with transaction(self.path) as database:
            rows = database.execute(query, (session,)).fetchall()
            for row in rows:
                _delete(database, row[0])
        return len(rows)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        if not os.path.exists(self.path):
            return []
        with transaction(self.path) as database:
            rows: list[tuple[Any, ...]] = database.execute(query).fetchall()
        return rows


def _times(text: object) -> tuple[float, ...]:
    """Return saved times; a text that holds anything else counts as empty."""
    try:
        times = tuple(map(float, text.split())) if isinstance(text, str) else ()
    except ValueError:
        return ()
    return times if all(map(isfinite, times)) else ()


def _delete(database: sqlite3.Connection, owner: object) -> None:
    for table, column in (("calls", "owner"), ("answers", "owner"), ("sessions", "id")):
        database.execute(f"DELETE FROM {table} WHERE {column} = ?", (owner,))
