"""The process: ``python -m loopcli`` and the installed ``loopcheck``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def _fill_descriptors() -> None:
    """Open a device that fails in place of each closed standard descriptor.

    Otherwise the next file that is opened would get its number, and a report
    would become standard output.
    """
    for fd, wrong_way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, wrong_way)


def entry() -> None:
    """Run the command line, flush what Python still holds, and exit with the status."""
    _fill_descriptors()
    # There is nothing to end cleanly yet, and an exception in the middle of an
    # import prints a traceback, or worse in a module that is not written in Python.
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from loopcli.cli import main
    from loopcli.output.console import Console
    from loopcli.status import Status

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = main()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        # A full disk or a closed pipe; without this Python would try again
        # while it shuts down, and print a traceback.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if status == Status.CLEAN and sys.stderr is not None:
            Console(sys.stderr).line(f"{error}", source="<stdout>")
            status = Status.TROUBLE
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    # Everything is written and closed. Python's own exit would free object by
    # object what the system takes back at once: a tenth of a short run.
    os._exit(status)


if __name__ == "__main__":
    entry()
