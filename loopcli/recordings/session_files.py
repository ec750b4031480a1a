"""Agents' sessions in the files of a corpus, as events.

Lists of messages count as sessions, too, if they are asked for: they may just as
well be the replies of an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import BrokenRecord, Event, Problem
from loopcli.recordings import labels as labelling
from loopcli.recordings.base import Peekable
from loopcli.recordings.corpus import File, Trouble
from loopcli.recordings.formats.session import STARTS
from loopcli.recordings.labels import Labels
from loopcli.recordings.opening import name_of, opened
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.sniff import HEAD_BYTES, sniff
from loopcli.sessions.table import FORMATS
from loopcli.signatures import BOM
from loopcli.status import Status
from loopcli.verdicts import Label

# The longest beginning that distinguishes a session, a BOM and blanks before it.
_START_BYTES = 64
_NO_SESSION = "contains no session of an agent"


def events(file: File, *, lists: bool = True) -> Iterator[Event | Trouble]:
    """Yield the events of the sessions in a file, and what could not be read.

    Without ``lists``, a list of messages is no session: only what an agent wrote is.

    A file without one yields a ``Trouble`` with the status ``CLEAN``, and nothing else.
    """
    name = name_of(file.path)
    try:
        with opened(file.path) as unpacked:
            yield from _events(unpacked, name, lists)
            if unpacked.trouble:
                yield Trouble(name, "", unpacked.trouble)
    except OSError as error:
        yield Trouble(name, "", f"cannot read: {error.strerror or error}")


def label_of(file: File, labels: Labels | None, number: int) -> Label | None:
    """Return the label of a session of a file: of the file of labels, or of the folder."""
    given = labels.of(f"{name_of(file.path)}@{number}") if labels else None
    return given.label if given is not None else labelling.of_folder(file.path)


def _events(pieces: Iterable[bytes], name: str, lists: bool) -> Iterator[Event | Trouble]:
    source = Peekable(iter(pieces))
    # Most files are not sessions, and their first byte says so.
    start = source.peek(_START_BYTES).removeprefix(BOM).lstrip()
    if start and not start.startswith(STARTS):
        yield Trouble(name, "", _NO_SESSION, Status.CLEAN)
        return
    sniffed = sniff(source.peek(HEAD_BYTES), final=source.ended)
    if sniffed is None or not sniffed.name or not (lists or FORMATS[sniffed.name].program):
        yield Trouble(name, "", _NO_SESSION, Status.CLEAN)
        return
    reader = SessionReader(*sniffed)
    for piece in source:
        yield from _without_defects(reader.feed(piece), name)
    yield from _without_defects(reader.close(), name)


def _without_defects(read: Iterable[Event], name: str) -> Iterator[Event | Trouble]:
    for event in read:
        if isinstance(event, BrokenRecord | Problem):
            yield Trouble(name, f"line {event.line}", event.message, Status.MALFORMED)
        else:
            yield event
