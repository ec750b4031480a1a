"""How a command that has all of its output at once prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from loopcli.output.console import Console
from loopcli.status import Status, worst
from loopcli.system.output import OutputError, ReaderGoneError, write_all
from loopcli.system.stdio import SIGPIPE, die_by

_STDOUT = 1


def printed(data: bytes, status: Status = Status.CLEAN) -> int:
    """Print ``data`` and return the exit status; dies like any other when nobody reads it.

    click's own echo() would say nothing of a standard output that is closed.
    """
    try:
        write_all(_STDOUT, data)
    except ReaderGoneError:
        return die_by(SIGPIPE)
    except OutputError as error:
        Console(sys.stderr).line(str(error), source="<stdout>")
        return worst((status, Status.TROUBLE))
    return status


def printed_lines(lines: Iterable[bytes], status: Status = Status.CLEAN) -> int:
    """Print lines, which come without their ends, and return the exit status."""
    return printed(b"".join(line + b"\n" for line in lines), status)
