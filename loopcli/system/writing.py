"""Writes a file that somebody keeps: a baseline, a report for continuous integration.

Rules of this file:

- What is there stays until the new file is whole: that is written beside it, and
  takes its name at the end. Its mode stays, and a symbolic link stays one.
- What is no regular file (a FIFO, a device) and what is open already
  (``/dev/fd/3``) cannot be replaced: it is written into.
- Whatever goes wrong names the file that the user named.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from loopcli.system.stdio import (
    OutputError,
    ReaderGoneError,
    descriptor,
    open_report,
    refuse_standard,
    write_all,
)


def replaces(path: str) -> bool:
    """Return whether writing to ``path`` makes a file, or puts another in the place of one."""
    # Only a folder's name ends like that; to open it says so.
    if descriptor(path) is not None or path.endswith(os.sep):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def refuse_unwritable(path: str) -> None:
    """Raise ``OSError`` if what stands at ``path`` is not to be written to."""
    # A rename asks the folder for permission, and never the file.
    if replaces(path) and os.path.exists(path) and not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


def write(path: str, data: bytes) -> None:
    """Write ``data`` to ``path``, and a regular file whole or not at all; raises ``OSError``."""
    try:
        refuse_unwritable(path)
        if replaces(path):
            _replace(os.path.realpath(path), data)
        else:
            with open_report(path) as file:
                write_all(file.fileno(), data)
    except (ReaderGoneError, OutputError) as error:
        why = str(error) or "nobody reads it"
        raise OSError(errno.EIO, f"cannot write: {why}", path) from error
    except OSError as error:
        raise OSError(error.errno, f"cannot write: {error.strerror}", path) from error


def _replace(path: str, data: bytes) -> None:
    refuse_standard(path)
    # Short and never the same: the file's own name may have no room for more.
    beside = os.path.join(os.path.dirname(path), f".loopcheck.{os.urandom(6).hex()}.tmp")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            _resemble(file, path)
            write_all(file, data)
        finally:
            os.close(file)
        os.replace(beside, path)
    except BaseException:  # a Ctrl-C, too
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _resemble(file: int, path: str) -> None:
    """Give a new file the owner and the mode of the one that it is to replace."""
    with suppress(FileNotFoundError):
        old = os.stat(path)
        with suppress(PermissionError):  # only root may give files away
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))
