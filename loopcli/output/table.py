"""Tables for people, and for Markdown. What is not defined is ``n/a``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from loopcli.analyze.replay import ENDED
from loopcli.output.records import Record
from loopcli.wording import counted, escaped, shown

UNDEFINED = "n/a"
# Offending words that a table names, and how long each may be there.
_WORDS = 3
_WORD_CHARS = 16


class Column(NamedTuple):
    """A column: its head, and the cell it makes of a record."""

    head: str
    cell: Callable[[Record], Any]
    left: bool = False


def field(head: str, name: str, *, left: bool = False) -> Column:
    """Return a column that shows one member of a record."""
    return Column(head, lambda record: record[name], left)


def figure(value: float | None, digits: int = 1) -> str:
    """Return a figure rounded, or ``n/a``.

    >>> figure(12.34), figure(3.0), figure(None)
    ('12.3', '3', 'n/a')
    """
    return UNDEFINED if value is None else f"{value:.{digits}f}".rstrip("0").rstrip(".")


def words(record: Record) -> str:
    """Return the offending words of a record: the first few, quoted."""
    repeated = record["repeated"]
    if not repeated:
        return UNDEFINED
    named = " ".join(shown(word, _WORD_CHARS) for word in repeated[:_WORDS])
    return named + (" …" if len(repeated) > _WORDS else "")


def _verdict(record: Record) -> str:
    verdict: str = record["verdict"] or "no trip"
    return f"{verdict}, ended" if record["finding"] == ENDED else verdict


def row_columns(*, labels: bool, rules: bool) -> list[Column]:
    """Return the columns of a report; what is the same in every row need not be there."""
    columns = [Column("transcript", lambda record: record["id"], left=True)]
    if labels:
        columns.append(field("label", "label", left=True))
    columns += [field("words", "words"), field("chars", "chars")]
    if rules:
        columns.append(field("rule", "rule", left=True))
    return [
        *columns,
        field("peak", "peak"),
        field("ceiling", "ceiling"),
        field("margin", "margin"),
        field("at word", "peak_word"),
        field("char", "peak_char"),
        field("line", "peak_line"),
        Column("repeating", words, left=True),
        Column("verdict", _verdict, left=True),
        field("trip word", "trip_word"),
        field("trip char", "trip_char"),
    ]


def table(records: Sequence[Record], columns: Sequence[Column], *, markdown: bool = False) -> str:
    """Return a table; text in it is safe for a terminal, and in Markdown no text ends a cell."""
    # Here and not above: slow to import, and only tables need it.
    from tabulate import tabulate

    rows = [[_text(column.cell(record), markdown) for column in columns] for record in records]
    return tabulate(
        rows,
        [column.head for column in columns],
        tablefmt="github" if markdown else "simple",
        colalign=["left" if column.left else "right" for column in columns] if rows else None,
        disable_numparse=True,
    )


def unshown(left: int, thing: str, which: str) -> str:
    """Return the line for records that a table leaves out, or nothing.

    >>> unshown(1, "row", "after these"), unshown(0, "row", "after these")
    ('1 row after these is not shown (--top 0).\\n', '')
    """
    verb = "is" if left == 1 else "are"
    return f"{counted(left, thing)} {which} {verb} not shown (--top 0).\n" if left > 0 else ""


def _text(value: object, markdown: bool) -> str:
    text = UNDEFINED if value is None else escaped(str(value))
    return text.replace("\\", "\\\\").replace("|", "\\|") if markdown else text
