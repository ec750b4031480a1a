"""The exit statuses of loopcheck: the only file that knows the numbers.

Over several inputs the worst status wins; "worst" is the order of
``_SEVERITY``, not of the numbers: a usage error hides everything else,
because nothing was looked at.
"""

from collections.abc import Iterable
from enum import IntEnum


class Status(IntEnum):
    """What the exit status of the filter and of ``analyze`` says."""

    CLEAN = 0  # nothing tripped
    TROUBLE = 1  # unreadable input, an I/O error, a bug in loopcheck
    USAGE = 2  # wrong flags, or a configuration that was refused
    LOOP = 3  # a rule tripped
    LENGTH = 4  # the length backstop tripped
    MALFORMED = 5  # the stream could not be understood
    UPSTREAM = 6  # the provider reported an error
    TIME_LIMIT = 7  # an idle or total time limit passed


class RunStatus(IntEnum):
    """The statuses of ``run`` that are its own; every other is the command's, as timeout(1)'s."""

    UPSTREAM = 122  # gave up: the provider's error, or a stream that was cut or malformed
    LOOPED = 123  # gave up, and at least one attempt looped
    TIME_LIMIT = 124  # gave up on a time limit
    FAILED = 125  # loopcheck itself failed: usage, configuration, I/O, a bug
    CANNOT_RUN = 126  # the command was found and cannot be run
    NOT_FOUND = 127  # there is no such command


_SEVERITY = (
    Status.CLEAN,
    Status.LENGTH,
    Status.LOOP,
    Status.TIME_LIMIT,
    Status.UPSTREAM,
    Status.MALFORMED,
    Status.TROUBLE,
    Status.USAGE,
)


def worst(statuses: Iterable[Status]) -> Status:
    """Return the status that stands for several inputs together.

    >>> worst([Status.LOOP, Status.LENGTH, Status.CLEAN]).name
    'LOOP'
    """
    return max(statuses, key=_SEVERITY.index, default=Status.CLEAN)


def from_signal(number: int) -> int:
    """Return the status of a process that signal ``number`` ended."""
    return 128 + number
