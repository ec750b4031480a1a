"""Writes a file that the user keeps: a baseline, a report for continuous integration.

Rules of this file:

- The old file stays until the new one is whole: the new one is written beside it
  and takes its name at the end. The mode stays, and a symbolic link stays a link.
- A FIFO, a device and an open descriptor (``/dev/fd/3``) cannot be replaced: the
  data is written into them.
- Every error names the file that the user named.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from loopcli.system.output import OutputError, ReaderGoneError, write_all
from loopcli.system.stdio import descriptor, open_report, refuse_standard


def replaces(path: str) -> bool:
    """Return whether writing to ``path`` creates a regular file or replaces one."""
    # Only a folder's name ends like that; opening it fails with the right message.
    if descriptor(path) is not None or path.endswith(os.sep):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def refuse_unwritable(path: str) -> None:
    """Raise ``OSError`` if the file at ``path`` is not writable."""
    # A rename checks the permission of the folder and never that of the file.
    if replaces(path) and os.path.exists(path) and not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


def write(path: str, data: bytes) -> None:
    """Write ``data`` to ``path``; a regular file is replaced whole or not at all.

    Raises ``OSError``.
    """
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
    # A short name, because the file's own may be as long as the system allows.
    beside = os.path.join(os.path.dirname(path), f".loopcheck.{os.urandom(6).hex()}.tmp")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            _copy_owner_and_mode(file, path)
            write_all(file, data)
        finally:
            os.close(file)
        os.replace(beside, path)
    except BaseException:  # Ctrl-C as well
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _copy_owner_and_mode(file: int, path: str) -> None:
    """Give a new file the owner and the mode of the file that it will replace."""
    with suppress(FileNotFoundError):
        old = os.stat(path)
        with suppress(PermissionError):  # only root may change an owner
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))
