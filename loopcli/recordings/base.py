"""What the recorded formats share: what they yield, and how they look ahead.

A format is a generator. It takes the bytes of one file, in pieces and in order.
It yields a ``Reply`` for each reply of a model and a ``Defect`` for each part that
it could not read, and raises for neither. It never yields requests, user turns or
tool results: only the model's own text is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from loopcli import lenient_json
from loopcli.events import Lane
from loopcli.signatures import BOM
from loopcli.status import Status
from loopcli.verdicts import Label

# A document that has to be in memory as a whole. The largest HAR exports are
# smaller; a larger document is not a recording of replies.
MAX_DOCUMENT_BYTES = 128 * 1024 * 1024
# One line of JSON Lines: one reply or one conversation.
MAX_LINE_BYTES = 64 * 1024 * 1024
# Formats are recognised by this much of the beginning.
HEAD_BYTES = 64 * 1024

Lanes = Sequence[tuple[Lane, Iterable[str]]]


class Reply(NamedTuple):
    """One reply of a model.

    ``lanes`` hold its text in pieces. The pieces may come straight from the file:
    read them once, lane by lane, before you ask for the next reply. ``label`` and
    ``onset`` (characters before the looping stretch) are those that the recording
    itself states, if it does. ``in_session`` says that the reply is one of an agent's
    session.
    """

    lanes: Lanes
    label: Label | None = None
    onset: int | None = None
    in_session: bool = False


class Defect(NamedTuple):
    """A part that could not be read. ``position`` is for people: ``line 17``.

    ``status`` is the exit status it stands for. ``numbered`` means that it took the
    place of one reply, so that repairing it changes no other reply's number. A defect
    with an empty message is not reported: it only keeps the numbers.
    """

    message: str
    position: str = ""
    status: Status = Status.MALFORMED
    numbered: bool = False

    def within(self, place: str) -> Defect:
        """Return the defect with the outer position in front: ``interaction 3, line 17``."""
        return self._replace(position=", ".join(filter(None, (place, self.position))))


Item = Reply | Defect


class Hints(NamedTuple):
    """What is known about a file besides its bytes.

    ``suffix`` is the last suffix of its name, without that of the compression, in
    lower case. ``text_field`` names the member of a JSON record that holds the reply;
    a dot leads to an inner member. ``named`` is false for a file in a folder: an
    unknown format is then no error.
    """

    suffix: str = ""
    text_field: str | None = None
    named: bool = True


class Peekable:
    """Pieces of bytes that can be looked at before they are read.

    >>> pieces = Peekable(iter([b"ab", b"c\\nd"]))
    >>> pieces.peek(1), pieces.first_line(9), b"".join(pieces)
    (b'ab', b'abc', b'abc\\nd')
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held: list[bytes] = []
        # True once ``_held`` is all that is left of the input.
        self.ended = False

    def _pull(self) -> bytes:
        piece = next(self._pieces, b"")
        if piece:
            self._held.append(piece)
        else:
            self.ended = True
        return piece

    def peek(self, size: int) -> bytes:
        """Return at least ``size`` bytes, or all that are left."""
        have = sum(map(len, self._held))
        while have < size and not self.ended:
            have += len(self._pull())
        if len(self._held) != 1:
            self._held = [b"".join(self._held)]
        return self._held[0]

    def first_line(self, limit: int) -> bytes | None:
        """Return the first line that is not blank, without its end; ``None`` if it is too long."""
        have = self.peek(1)
        while b"\n" not in have.lstrip():
            if len(have) > limit:
                return None
            if self.ended:
                break
            # Twice as much each time, so that the joins take linear time.
            have = self.peek(min(2 * len(have), limit) + 1)
        return have.lstrip().partition(b"\n")[0].rstrip(b"\r")

    def __iter__(self) -> Iterator[bytes]:
        held, self._held = self._held, []
        yield from filter(None, held)
        if not self.ended:
            yield from self._pieces


def within(items: Iterable[Item], place: str) -> Iterator[Item]:
    """Yield the items; ``place`` is put in front of the positions of their defects."""
    for item in items:
        yield item.within(place) if isinstance(item, Defect) else item


def parse_document(raw: bytes) -> Any:
    """Return the JSON document in ``raw``; raises ``ValueError`` if it is not JSON.

    Bytes that are not UTF-8 are read as U+FFFD, in a document as in a text.
    """
    raw = raw.removeprefix(BOM)
    try:
        return lenient_json.parse(raw)
    except ValueError:
        text = raw.decode("utf-8", "replace")
        mended = text.encode("utf-8", "replace")
        if mended == raw:
            raise
        return lenient_json.parse(mended)


def dump(doc: object) -> bytes:
    """Return a parsed document as JSON again; dates and bytes from YAML become ``null``."""
    return lenient_json.dump(doc, default=lambda _: None)


def marked(items: Iterable[Item], doc: object) -> Iterator[Item]:
    """Yield the items; replies get the label and the onset that ``doc`` states."""
    label, onset = label_of(doc)
    for item in items:
        yield item._replace(label=label, onset=onset) if isinstance(item, Reply) else item


def label_of(doc: object) -> tuple[Label | None, int | None]:
    """Return the label that a record states and, for a loop, its onset.

    Any other value is a label with another meaning, and is ignored.

    >>> label_of({"label": "loop", "onset": 12}), label_of({"label": "toxic"})
    ((<Label.LOOP: 'loop'>, 12), (None, None))
    """
    if not isinstance(doc, dict) or doc.get("label") not in tuple(Label):
        return None, None
    label, onset = Label(doc["label"]), doc.get("onset")
    usable = label is Label.LOOP and type(onset) is int and onset >= 0
    return label, onset if usable else None
