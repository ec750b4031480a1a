"""The process: ``python -m loopcli`` and the installed ``loopcheck``."""

from __future__ import annotations

import contextlib
import os
import sys

from loopcli.cli import main
from loopcli.status import Status


def entry() -> None:
    """Run, flush what Python still holds, and leave with the status."""
    status = main()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        # A full disk or a closed pipe; without this Python would try again
        # while it shuts down, and print a traceback.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if status == Status.CLEAN and isinstance(error, OSError):
            print(f"loopcheck: standard output: {error.strerror}", file=sys.stderr)
            status = Status.TROUBLE
    sys.exit(status)


if __name__ == "__main__":
    entry()
