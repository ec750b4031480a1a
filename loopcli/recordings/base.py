"""What the recorded formats share: what they yield, and how they look ahead.

A format is a generator. It takes the bytes of one file, in pieces and in
order, and yields a ``Reply`` for each reply of a model and a ``Defect`` for
each thing it could not read; it raises for neither, and it never yields what
somebody else wrote: requests, user turns, tool results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from loopcli import lenient_json
from loopcli.events import Lane
from loopcli.signatures import BOM
from loopcli.status import Status
from loopcli.verdicts import Label

# A document that has to be in memory as a whole: the largest HAR exports are
# below; what is above is no recording of replies.
MAX_DOCUMENT_BYTES = 128 * 1024 * 1024
# One line of JSON Lines: one reply or one conversation.
MAX_LINE_BYTES = 64 * 1024 * 1024
# What a format is recognised by.
HEAD_BYTES = 64 * 1024

Lanes = Sequence[tuple[Lane, Iterable[str]]]


class Reply(NamedTuple):
    """One reply of a model.

    ``lanes`` hold its text in pieces. Pieces may come straight from the file:
    they can be had once, lane by lane, before the next reply is asked for.
    ``label`` and ``onset`` (characters before the looping stretch) are what
    the recording itself says, if it does.
    """

    lanes: Lanes
    label: Label | None = None
    onset: int | None = None


class Defect(NamedTuple):
    """Something that could not be read. ``position`` is for people: ``line 17``.

    ``status`` is the exit status it stands for. ``numbered`` means that it took
    the place of one reply: mending it renumbers nothing. Without a message it
    does only that: others like it have been told of.
    """

    message: str
    position: str = ""
    status: Status = Status.MALFORMED
    numbered: bool = False

    def within(self, place: str) -> Defect:
        """Return the defect as seen from outside: ``interaction 3, line 17``."""
        return self._replace(position=", ".join(filter(None, (place, self.position))))


Found = Reply | Defect


class Hints(NamedTuple):
    """What is known of a file besides its bytes.

    ``suffix`` is the last of its name, compression taken off, in lower case.
    ``text_field`` names the member that holds the reply of a JSON record
    (dots go inwards). ``named`` is false for a file that somebody only happens
    to have in a folder: being none of ours is no fault of it then.
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
        # Everything has been held: what is peeked at is the whole input.
        self.ended = False

    def _pull(self) -> bytes:
        piece = next(self._pieces, b"")
        if piece:
            self._held.append(piece)
        else:
            self.ended = True
        return piece

    def peek(self, size: int) -> bytes:
        """Return at least ``size`` bytes, or all there are."""
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
            # Twice as much each time: the joins stay linear.
            have = self.peek(min(2 * len(have), limit) + 1)
        return have.lstrip().partition(b"\n")[0].rstrip(b"\r")

    def __iter__(self) -> Iterator[bytes]:
        held, self._held = self._held, []
        yield from filter(None, held)
        if not self.ended:
            yield from self._pieces


def within(found: Iterable[Found], place: str) -> Iterator[Found]:
    """Yield ``found``, its defects as seen from outside of ``place``."""
    for item in found:
        yield item.within(place) if isinstance(item, Defect) else item


def parse_document(raw: bytes) -> Any:
    """Return the JSON document that ``raw`` is; raises ``ValueError`` if it is none.

    Bytes that are not UTF-8 stand for U+FFFD, in a document as in a text.
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


def marked(found: Iterable[Found], doc: object) -> Iterator[Found]:
    """Yield ``found``, replies with the label and the onset that ``doc`` states."""
    label, onset = label_of(doc)
    for item in found:
        yield item._replace(label=label, onset=onset) if isinstance(item, Reply) else item


def label_of(doc: object) -> tuple[Label | None, int | None]:
    """Return what a record says of itself: ``label`` and, of a loop, ``onset``.

    Other values are labels of other people's making, and none of our business.

    >>> label_of({"label": "loop", "onset": 12}), label_of({"label": "toxic"})
    ((<Label.LOOP: 'loop'>, 12), (None, None))
    """
    if not isinstance(doc, dict) or doc.get("label") not in tuple(Label):
        return None, None
    label, onset = Label(doc["label"]), doc.get("onset")
    usable = label is Label.LOOP and type(onset) is int and onset >= 0
    return label, onset if usable else None
