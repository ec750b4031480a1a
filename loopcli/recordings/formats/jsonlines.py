"""JSON Lines: a record a line. A broken line does not affect the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.recordings import documents
from loopcli.recordings.base import MAX_LINE_BYTES, Defect, Item, parse_document, within

# The defects beyond this number are reported in one line.
MAX_DEFECTS = 100


def read(
    pieces: Iterable[bytes], known: documents.Known, *, max_line: int = MAX_LINE_BYTES
) -> Iterator[Item]:
    """Yield the replies of all lines; only one line is in memory at a time."""
    defects = 0
    for number, line in lines(pieces, max_line):
        if line is not None and not line.strip():
            continue
        for item in within(_line(line, known, max_line), f"line {number}"):
            if isinstance(item, Defect):
                defects += 1
                if defects > MAX_DEFECTS:
                    # It still counts for the numbers of the replies that follow.
                    item = item._replace(message="")
            yield item
    if defects > MAX_DEFECTS:
        yield Defect(f"and {defects - MAX_DEFECTS} more lines that could not be read")


def _line(line: bytes | None, known: documents.Known, max_line: int) -> Iterator[Item]:
    if line is None:
        yield Defect(f"longer than {max_line} bytes", numbered=True)
        return
    try:
        doc = parse_document(line)
    except ValueError as error:
        yield Defect(f"not JSON: {error}", numbered=True)
        return
    items = documents.record(doc, known)
    if items is None:
        yield Defect(documents.NO_TEXT, numbered=True)
    else:
        yield from items


def lines(pieces: Iterable[bytes], limit: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number and the content of each line; ``None`` for one longer than ``limit``."""
    held: list[bytes] = []
    size, number = 0, 1
    for piece in pieces:
        *whole, rest = piece.split(b"\n")
        for part in whole:
            size += len(part)
            yield number, None if size > limit else b"".join((*held, part))
            held, size, number = [], 0, number + 1
        size += len(rest)
        if size > limit:
            held = []
        elif rest:
            held.append(rest)
    if size:
        yield number, None if size > limit else b"".join(held)
