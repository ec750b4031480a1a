"""The process: ``python -m loopcli`` and the installed ``loopcheck``.

A Ctrl-C ends the process as SIGINT does, without a traceback. While modules are imported
the signal has its default action: nothing has to be ended cleanly yet, and an exception in
the middle of an import prints a traceback, or worse in a module that is not written in
Python. So this file imports only what is built into the interpreter before ``entry`` sees
to that: ``signal`` takes milliseconds to import, and it is made of ``_signal``.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import gc
import os
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
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _fill_descriptors()
    # What is imported is there to stay: looking for garbage in it is a tenth of a start.
    gc.disable()
    from loopcli.cli import main
    from loopcli.system.stdio import SIGINT, die_by

    gc.freeze()
    gc.enable()
    try:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = _flushed(main())
        # Everything is written and closed: from here on a Ctrl-C changes nothing.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        status = die_by(SIGINT)
    # Python's own exit would free object by object what the system takes back at once: a
    # tenth of a short run.
    os._exit(status)


def _flushed(status: int) -> int:
    """Flush standard output and standard error; return the status, or that of a failure."""
    from contextlib import suppress

    from loopcli.output.console import Console
    from loopcli.status import Status

    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        # A full disk or a closed pipe; without this Python would try again
        # while it shuts down, and print a traceback.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if status == Status.CLEAN and sys.stderr is not None:
            Console(sys.stderr).line(f"{error}", source="<stdout>")
            status = Status.TROUBLE
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.flush()
    return status


if __name__ == "__main__":
    entry()
