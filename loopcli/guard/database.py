"""The database file of the guard: opening it, one transaction, and what follows from damage.

A file that is no usable database is renamed, and a new one is begun with the next
call: the guard has to recover by itself, because nobody watches it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# Waiting for twenty other hooks takes less than a second. Agents allow 30 seconds or more.
BUSY_SECONDS = 10.0
VERSION = 1

_SCHEMA = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, session TEXT, agent TEXT, last_blocked TEXT DEFAULT '', touched REAL,
    UNIQUE (session, agent));
CREATE INDEX sessions_by_time ON sessions (touched);
CREATE TABLE calls (
    owner INTEGER, key TEXT, times TEXT, blocked INTEGER, authorised INTEGER,
    touched REAL, PRIMARY KEY (owner, key)) WITHOUT ROWID;
CREATE TABLE answers (
    owner INTEGER, event TEXT, allowed INTEGER, made INTEGER, touched REAL,
    PRIMARY KEY (owner, event)) WITHOUT ROWID;
CREATE TABLE log (id INTEGER PRIMARY KEY, at REAL, session TEXT, agent TEXT, event TEXT, tool TEXT)
"""


class StoreError(Exception):
    """The store cannot be used; the message names the file and the reason."""


@contextmanager
def transaction(path: str) -> Iterator[sqlite3.Connection]:
    """Yield the database inside a transaction, which is undone if anything fails."""
    node: int | None = None
    try:
        node = _prepare(path)
        database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            _set_up(database)
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
        finally:
            database.close()  # undoes a transaction that is open
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error
    except sqlite3.Error as error:
        if _is_damage(error):
            raise StoreError(f"{path}: {error}; {_set_aside(path, node)}") from error
        raise StoreError(f"{path}: {error}") from error


def _set_aside(path: str, node: int | None) -> str:
    """Rename a damaged database, unless another process did so already."""
    aside = f"{path}.damaged"
    try:
        if os.stat(path).st_ino == node:
            os.replace(path, aside)
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(path + suffix)
    except OSError as error:
        return f"it cannot be renamed: {error.strerror or error}"
    return f"it was renamed to {aside}"


def _prepare(path: str) -> int:
    """Create an empty file that only its owner can read, if there is none; return its inode."""
    os.makedirs(os.path.dirname(path) or ".", 0o700, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        status = os.fstat(file)
    finally:
        os.close(file)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    return status.st_ino


def _set_up(database: sqlite3.Connection) -> None:
    """Create the tables of a new database."""
    # Without waiting for the disk: after a power failure at worst the last calls are missing.
    database.execute("PRAGMA synchronous = NORMAL")
    if _version(database) == VERSION:
        return
    # A process that comes second finds the database busy; the first one sets the mode.
    with suppress(sqlite3.OperationalError):
        database.execute("PRAGMA journal_mode = WAL")
    database.execute("BEGIN IMMEDIATE")
    if not _version(database):
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")
    if _version(database) != VERSION:
        raise sqlite3.DatabaseError("it is of another version of loopcheck")


def _version(database: sqlite3.Connection) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def _is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error means that the file is not, or no longer, our database."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith(("no such", "table "))
    return isinstance(error, sqlite3.DatabaseError)
