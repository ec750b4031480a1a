"""Opens the files of a corpus: by name, or standard input, which can be read twice if need be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from loopcli.recordings.unpack import Unpacked

STDIN = "-"
STDIN_NAME = "<stdin>"
_COPY_BYTES = 64 * 1024


def name_of(path: str) -> str:
    """Return what a file is called in ids and messages."""
    return STDIN_NAME if path == STDIN else path


@contextmanager
def opened(path: str) -> Iterator[Unpacked]:
    """Open a file for one reading. Raises ``OSError``."""
    # `open` would cost as much again as reading a short file.
    source = 0 if path == STDIN else os.open(path, os.O_RDONLY)
    try:
        yield Unpacked(partial(os.read, source))
    finally:
        if path != STDIN:
            os.close(source)


def keep_stdin() -> Callable[[], None]:
    """Let standard input be read again, and return what goes back to its beginning.

    A copy takes the place of what cannot be read twice. Raises ``OSError``.
    """
    try:
        begin = os.lseek(0, 0, os.SEEK_CUR)
    except OSError:
        from tempfile import TemporaryFile

        begin = 0
        with TemporaryFile() as copy:
            while data := os.read(0, _COPY_BYTES):
                copy.write(data)
            copy.seek(0)
            os.dup2(copy.fileno(), 0)

    def again() -> None:
        os.lseek(0, begin, os.SEEK_SET)

    return again
