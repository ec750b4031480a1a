"""The label of a transcript: a loop, or clean.

A label comes from the first of three places that has one: a file of labels, the
record itself, the folders above the file (the nearest ``loop`` or ``clean``).

A file of labels is CSV or JSON Lines with the members ``id``, ``label`` and
``onset``. A CSV file without a header line has its columns in that order. An id
names one reply (``runs/a.jsonl#3``), one session (``runs/a.jsonl@2``), or all of a
file (``runs/a.jsonl``).
Paths are relative to the current folder or to the file of labels. The label
``unknown`` overrides that of the folder. ``onset`` counts the characters before the
looping stretch.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import StringIO
from typing import Any, NamedTuple

from loopcli.errors import LoopcheckError
from loopcli.recordings.base import parse_document
from loopcli.verdicts import Label

UNKNOWN = "unknown"
_LABELS: dict[str, Label | None] = {UNKNOWN: None, **{str(label): label for label in Label}}
_COLUMNS = ("id", "label", "onset")
_ONE_COLUMN = "there is only one column; the first line must name the columns"


class LabelLine(NamedTuple):
    """One line of a file of labels; ``label`` is ``None`` for ``unknown``."""

    label: Label | None
    onset: int | None
    id: str
    line: int


class LabelsError(LoopcheckError):
    """A file of labels that cannot be used; the message has a line for each defect."""


class Labels:
    """The labels of a file, by the id of a reply or the path of its file."""

    def __init__(self, source: str, labels: Iterable[LabelLine]) -> None:
        self._source = source
        self._folder = os.path.dirname(source)
        self._labels = {label.id: label for label in labels}

    def of(self, ident: str) -> LabelLine | None:
        """Return the label of the reply ``path#n``, or of the session ``path@n``."""
        return next((self._labels[key] for key in self._keys(ident) if key in self._labels), None)

    def _keys(self, ident: str) -> Iterator[str]:
        """Yield the ids that cover this reply, the most specific first."""
        path, mark, number = _parts(ident)
        names = [os.path.normpath(path)]
        if self._folder:
            names.append(os.path.relpath(path, self._folder))
        yield from (name + mark + number for name in names)
        yield from names

    def unmatched(self, idents: Iterable[str]) -> list[str]:
        """Return a message for each label whose id is that of none of the replies ``idents``."""
        used = {key for ident in idents for key in self._keys(ident)}
        return [
            f"{self._source}: line {label.line}: no reply has the id {label.id}"
            for label in self._labels.values()
            if label.id not in used
        ]


def _parts(ident: str) -> tuple[str, str, str]:
    """Return the path, the mark and the number of an id.

    >>> _parts("a@b.jsonl#3"), _parts("a#b.jsonl@2")
    (('a@b.jsonl', '#', '3'), ('a#b.jsonl', '@', '2'))
    """
    return max(ident.rpartition("#"), ident.rpartition("@"), key=lambda parts: len(parts[0]))


def of_folder(path: str) -> Label | None:
    """Return the label that the nearest folder above ``path`` gives.

    >>> of_folder("runs/loop/clean/a.txt"), of_folder("loop.txt")
    (<Label.CLEAN: 'clean'>, None)
    """
    return _of_folders(path.rpartition(os.sep)[0])


@lru_cache(maxsize=64)  # most files stand beside each other
def _of_folders(path: str) -> Label | None:
    names = reversed(path.split(os.sep))
    return next((Label(name) for name in names if name in tuple(Label)), None)


def load(path: str) -> Labels:
    """Read a file of labels; raises ``LabelsError`` with every defect, or ``OSError``."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise OSError(error.errno, f"cannot read: {error.strerror}", path) from error
    text = raw.decode("utf-8-sig", "replace")
    rows = _json_rows(raw) if text.lstrip().startswith("{") else _csv_rows(text)
    labels: dict[str, LabelLine] = {}
    defects = []
    for line, row in rows:
        try:
            label = _label(row, line)
            _agree(labels.setdefault(label.id, label), label)
        except ValueError as error:
            defects.append(f"{path}: line {line}: {error}")
    if defects:
        raise LabelsError("\n".join(defects))
    return Labels(path, labels.values())


Row = dict[str, Any] | str  # the members, or the reason why they cannot be read


def _json_rows(raw: bytes) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            doc = parse_document(line)
        except ValueError as error:
            yield number, f"not JSON: {error}"
            continue
        yield number, doc if isinstance(doc, dict) else "not an object"


def _csv_rows(text: str) -> Iterator[tuple[int, Row]]:
    reader = csv.reader(StringIO(text, newline=""))
    columns: list[str] | None = None
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells):
                continue
            if columns is None:
                if len(cells) == 1:
                    yield reader.line_num, f"{_ONE_COLUMN}: {','.join(_COLUMNS)}"
                    return
                names = [cell.lower() for cell in cells]
                columns = names if {"id", "label"} <= set(names) else list(_COLUMNS)
                if columns is names:
                    continue
            yield reader.line_num, dict(zip(columns, cells, strict=False))
    except csv.Error as error:
        yield reader.line_num, f"not CSV: {error}"


def _label(row: Row, line: int) -> LabelLine:
    if isinstance(row, str):
        raise ValueError(row)
    ident, label = row.get("id"), row.get("label")
    if not isinstance(ident, str) or not ident:
        raise ValueError("an id is missing")
    if not isinstance(label, str) or label not in _LABELS:
        shown = "it is missing" if label in (None, "") else f"not {_quoted(label)}"
        raise ValueError(f"a label is loop, clean or unknown; {shown}")
    path, mark, number = ident.rpartition("#")
    ident = os.path.normpath(path) + mark + number if mark else os.path.normpath(ident)
    onset = _onset(row.get("onset"))
    if onset is not None and label != Label.LOOP:
        raise ValueError(f"only a loop has an onset, and this is {label}")
    return LabelLine(_LABELS[label], onset, ident, line)


def _onset(value: object) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if type(value) is int and value >= 0:
        return value
    raise ValueError(f"an onset is a number of characters, not {_quoted(value)}")


def _quoted(value: object) -> str:
    """Return a value as written; a list or an object could be too long or too deep for it."""
    return "a list or an object" if isinstance(value, list | dict) else repr(value)


def _agree(first: LabelLine, second: LabelLine) -> None:
    if (first.label, first.onset) != (second.label, second.onset):
        raise ValueError(f"{second.id} has another label in line {first.line}")
