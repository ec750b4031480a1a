"""The processes that a command has started, wherever they have gone.

An agent's tools leave its process group: for a session of their own, or behind a
parent that has ended. While we adopt orphans every one of them stays a descendant of
this process, and ``/proc`` has the tree. Elsewhere than on Linux nothing is listed, and
the group is all that can be ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

_SET_CHILD_SUBREAPER = 36  # of prctl(2)


class Process(NamedTuple):
    """A process; by its start, in ticks since boot, another one with its number is told apart."""

    pid: int
    started: int


class _Entry(NamedTuple):
    process: Process
    parent: int
    alive: bool


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, where that can be had."""
    from ctypes import CDLL  # slow to import, and only an agent needs it

    with suppress(OSError, AttributeError):
        CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(of: int) -> list[Process]:
    """Return the living descendants of a process; none where ``/proc`` is missing."""
    children: dict[int, list[_Entry]] = {}
    for entry in _entries():
        children.setdefault(entry.parent, []).append(entry)
    living, waiting = [], [of]
    while waiting:
        for entry in children.get(waiting.pop(), []):
            waiting.append(entry.process.pid)
            if entry.alive:
                living.append(entry.process)
    return living


def signal_all(processes: Iterable[Process], number: int) -> None:
    """Send a signal to each process that is still the one that was listed."""
    for process in processes:
        entry = _entry(process.pid)
        if entry is not None and entry.process == process:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)


def _entries() -> list[_Entry]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    entries = (_entry(int(name)) for name in names if name.isdigit())
    return [entry for entry in entries if entry is not None]


def _entry(pid: int) -> _Entry | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # A command's name may hold anything, brackets too.
            fields = file.read().rpartition(b")")[2].split()
        return _Entry(Process(pid, int(fields[19])), int(fields[1]), fields[0] not in b"ZX")
    except (OSError, ValueError, IndexError):
        return None
