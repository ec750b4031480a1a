"""A corpus: the files that hold recorded replies, and the replies in them.

``transcripts`` yields the replies in files and folders. It has two halves, so that
another process can do the second: ``find`` turns names into files, ``read`` turns a
``File`` into transcripts. What cannot be read is a ``Trouble``::

    for item in transcripts(paths):
        if isinstance(item, Transcript):
            for lane, pieces in item.lanes:
                for piece in pieces: ...

The pieces of a transcript may come straight from its file, so that a reply of
any size can be judged: take them before asking for the next transcript.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import NamedTuple

from loopcli.errors import reason
from loopcli.recordings import detect
from loopcli.recordings import labels as labelling
from loopcli.recordings.base import Hints, Lanes, Reply
from loopcli.recordings.labels import LabelLine, Labels
from loopcli.recordings.opening import STDIN, STDIN_NAME, name_of, opened
from loopcli.recordings.unpack import Unpacked
from loopcli.status import Status
from loopcli.verdicts import Label

_PACKED = frozenset({".gz", ".zst"})
_LIST_BYTES = 64 * 1024
_NOT_REGULAR = "not a regular file; name it directly to read it"


class File(NamedTuple):
    """A file to read. ``named`` is false if the user named a folder above it instead."""

    path: str
    named: bool = True


class Trouble(NamedTuple):
    """Something that could not be read; everything else still is.

    ``position`` is for people (``line 17``) and may be empty. ``status`` is the exit
    status that it stands for: ``CLEAN`` for a mere notice.
    """

    path: str
    position: str
    message: str
    status: Status = Status.TROUBLE

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.path, self.position, self.message)))


class Transcript(NamedTuple):
    """One recorded reply, under the id ``path#n``; n counts the replies of a file from 1.

    ``onset`` is the number of characters before the looping stretch, where a
    label says so.
    """

    id: str
    lanes: Lanes
    label: Label | None = None
    onset: int | None = None


class CorpusSettings(NamedTuple):
    """How files are read: the member that holds a JSON record's reply, and a file's labels.

    With ``sessions`` the label of a file of sessions is that of the sessions, not of
    the replies in them.
    """

    text_field: str | None = None
    labels: Labels | None = None
    sessions: bool = False


_AS_IT_COMES = CorpusSettings()


def transcripts(
    paths: Iterable[str], settings: CorpusSettings = _AS_IT_COMES
) -> Iterator[Transcript | Trouble]:
    """Yield the replies in files, folders and patterns, and what could not be read."""
    for item in find(paths):
        yield from [item] if isinstance(item, Trouble) else read(item, settings)


def find(paths: Iterable[str], *, files0_from: str | None = None) -> Iterator[File | Trouble]:
    """Yield the files that ``paths`` mean, each once, in the order named.

    A path is a file, a folder (all in it, sorted, without what is hidden), ``-``
    for standard input, or a pattern with ``*``, ``?`` or ``**``. ``files0_from``
    is a file, or ``-``, with more paths, each followed by a NUL; those are no
    patterns.
    """
    finder = _Finder()
    for path in paths:
        yield from finder.find(path, pattern=True)
    if files0_from is not None:
        if files0_from == STDIN:
            finder.stdin_taken = True
        for item in _listed(files0_from):
            yield from [item] if isinstance(item, Trouble) else finder.find(item, pattern=False)


def _listed(source: str) -> Iterator[str | Trouble]:
    """Yield the paths in a list separated by NULs."""
    rest = b""
    try:
        with ExitStack() as stack:
            file = 0 if source == STDIN else stack.enter_context(open(source, "rb")).fileno()
            while data := os.read(file, _LIST_BYTES):
                *whole, rest = (rest + data).split(b"\0")
                yield from (os.fsdecode(path) for path in whole)
    except OSError as error:
        yield Trouble(STDIN_NAME if source == STDIN else source, "", _reason(error))
    if rest:
        yield os.fsdecode(rest)


class _Finder:
    """Remembers the files and folders that it has yielded, so that nothing is read twice."""

    def __init__(self) -> None:
        self.stdin_taken = False
        try:
            self._here = os.getcwd()
        except OSError:  # it has been removed, so no relative path exists
            self._here = ""
        self._files: set[str] = set()
        self._folders: set[tuple[int, int]] = set()

    def find(self, path: str, *, pattern: bool) -> Iterator[File | Trouble]:
        if path == STDIN:
            yield from self._stdin()
        elif not path:
            yield Trouble("''", "", "the name of the file is empty")
        elif pattern and not os.path.lexists(path) and glob.has_magic(path):
            matches = sorted(glob.iglob(path, recursive=True))
            if not matches:
                yield Trouble(path, "", "no file matches this pattern")
            for match in matches:
                yield from self._named(match, pattern=True)
        else:
            yield from self._named(path)

    def _stdin(self) -> Iterator[File | Trouble]:
        if self.stdin_taken:
            yield Trouble(STDIN_NAME, "", "standard input can be read only once")
        else:
            self.stdin_taken = True
            yield File(STDIN)

    def _named(self, path: str, *, pattern: bool = False) -> Iterator[File | Trouble]:
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            yield Trouble(path, "", _reason(error))
            return
        if pattern and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            # A user who writes a pattern does not mean to wait for a FIFO.
            yield Trouble(path, "", _NOT_REGULAR)
            return
        if not stat.S_ISDIR(mode):
            yield from self._once(path, named=True)
            return
        empty = True
        for item in self._walk(path):
            empty = False
            yield item
        if empty:
            yield Trouble(path, "", "no files in this folder")

    def _once(self, path: str, *, named: bool) -> Iterator[File]:
        key = os.path.normpath(os.path.join(self._here, path))
        if key not in self._files:
            self._files.add(key)
            yield File(path, named)

    def _walk(self, root: str) -> Iterator[File | Trouble]:
        """Yield the files below ``root``; folders may be nested deeper than Python can recurse."""
        above: list[_Folder] = []
        yield from self._enter(root, above)
        while above:
            entry = next(above[-1].entries, None)
            if entry is None:
                above.pop()
                continue
            try:
                # On most systems the entry knows its type; only links need a stat.
                if entry.is_file():
                    yield from self._once(entry.path, named=False)
                elif entry.is_dir():
                    yield from self._enter(entry.path, above)
                else:
                    os.stat(entry.path)
                    yield Trouble(entry.path, "", _NOT_REGULAR)
            except OSError as error:
                yield Trouble(entry.path, "", _reason(error))

    def _enter(self, path: str, above: list[_Folder]) -> Iterator[Trouble]:
        try:
            status = os.stat(path)
            key = status.st_dev, status.st_ino
            if any(key == folder.key for folder in above):
                yield Trouble(path, "", "a symbolic link back to a folder above it; not followed")
                return
            if key in self._folders:
                yield Trouble(path, "", "this folder has been read already", Status.CLEAN)
                return
            with os.scandir(path) as entries:
                shown = sorted(
                    (entry for entry in entries if not entry.name.startswith(".")),
                    key=lambda entry: entry.name,
                )
        except OSError as error:
            yield Trouble(path, "", _reason(error))
            return
        self._folders.add(key)
        above.append(_Folder(key, iter(shown)))


class _Folder(NamedTuple):
    """A folder that is being walked: its identity and the entries that are left."""

    key: tuple[int, int]
    entries: Iterator[os.DirEntry[str]]


def _reason(error: OSError) -> str:
    return f"cannot read: {error.strerror or error}"


def read(file: File, settings: CorpusSettings = _AS_IT_COMES) -> Iterator[Transcript | Trouble]:
    """Yield the transcripts in a file, and the parts of it that could not be read."""
    name = name_of(file.path)
    try:
        with opened(file.path) as unpacked:
            yield from _transcripts(unpacked, name, file.named, settings)
            if unpacked.trouble:
                yield Trouble(name, "", unpacked.trouble)
    except OSError as error:
        yield Trouble(name, "", _reason(error))
    except RecursionError as error:
        # Python parses documents that are too deep for it to walk through.
        yield Trouble(name, "", reason(error), Status.MALFORMED)
    except Exception as error:  # one file must not cost the others their report
        yield Trouble(name, "", f"this is a bug in loopcheck: {error!r}")


def _transcripts(
    unpacked: Unpacked, name: str, named: bool, settings: CorpusSettings
) -> Iterator[Transcript | Trouble]:
    pieces = iter(unpacked)
    first = next(pieces, b"")
    if not first and unpacked.trouble:
        return
    number = 0
    for item in detect.read(
        chain([first], pieces), Hints(_suffix(name), settings.text_field, named)
    ):
        if isinstance(item, Reply):
            number += 1
            yield _transcript(f"{name}#{number}", name, item, settings)
            continue
        number += item.numbered
        # A damaged file gets one line; that it holds no reply needs no second one.
        if item.message and not (unpacked.trouble and item.status is Status.CLEAN):
            yield Trouble(name, item.position, item.message, item.status)


def _transcript(ident: str, path: str, reply: Reply, settings: CorpusSettings) -> Transcript:
    labels = settings.labels
    given: LabelLine | None = labels.of(ident) if labels else None
    if settings.sessions and reply.in_session:
        own = given is not None and "#" in given.id
        label, onset = (given.label, given.onset) if given and own else (None, None)
        return Transcript(ident, reply.lanes, label, onset)
    if given is not None:
        return Transcript(ident, reply.lanes, given.label, given.onset)
    label = reply.label or labelling.of_folder(path)
    return Transcript(ident, reply.lanes, label, reply.onset)


def _suffix(path: str) -> str:
    stem, suffix = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if suffix in _PACKED else suffix
