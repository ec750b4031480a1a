"""Every reader that ``--input`` names: those of replies, and those of agents' sessions.

Whether an input is an agent's session is asked only where no dialect of a
model's API knows the first document, so a session never takes an input from
them. Nothing else of this folder is imported before.
"""

from __future__ import annotations

from loopcli.readers.base import Origin, Reader
from loopcli.readers.detection import auto
from loopcli.readers.detection.auto import READERS, AutoReader
from loopcli.readers.detection.guess import MAX_GUESS
from loopcli.readers.detection.probe import Choice, Probe
from loopcli.sessions import table
from loopcli.signatures import BOM

NAMES = (*READERS, *table.NAMES)


def reader(name: str) -> Reader:
    """Return a fresh reader by the name that ``--input`` takes."""
    if name == "auto":
        return AutoReader(session=session)
    return auto.reader(name) if name in READERS else NamedSession(name)


def session(beginning: bytes, origin: Origin) -> Reader | None:
    """Return the reader of a session that begins like this, as a program writes it.

    ``beginning`` holds the first document, or what of it fits. A list of
    messages is not taken for a session: it may be what a model was asked to write.
    """
    from loopcli.sessions.reader import SessionReader
    from loopcli.sessions.sniff import sniff

    sniffed = sniff(beginning, final=True)
    if sniffed is None or not sniffed.name or not table.FORMATS[sniffed.name].program:
        return None
    return SessionReader(*sniffed, origin)


class NamedSession(Probe):
    """Reads a session whose format is given; its first byte tells how it is cut."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._wanted = name

    @property
    def name(self) -> str:
        """The format."""
        return self._wanted

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the reader, once something has come that is not blank."""
        from loopcli.sessions.reader import SessionReader

        start = bytes(self._held[:MAX_GUESS]).removeprefix(BOM).lstrip()
        if not start and not final and len(self._held) < MAX_GUESS:
            return None
        in_parts = start[:1] == b"[" or table.FORMATS[self._wanted].documents
        framing = "text" if self._wanted == "aider" else "json" if in_parts else "ndjson"
        return SessionReader(self._wanted, framing, self._origin), 0
