"""Tables for people, plain or in Markdown. A figure that is not defined is ``n/a``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from loopcli.actions import Action
from loopcli.analyze.replay import ENDED
from loopcli.output import escape
from loopcli.output.records import Record
from loopcli.rules.registration import Judged
from loopcli.rules.table import RULES
from loopcli.verdicts import LENGTH
from loopcli.wording import shown

UNDEFINED = "n/a"
# The columns of what only replies have.
_DELAY = ("delay, words", "chars")
_OF = "of"
# Offending words that a table names, and how long each may be there.
_WORDS = 3
_WORD_CHARS = 16
# How much of a call or of a text a table of sessions shows.
_WHAT_CHARS = 40


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


def interval(estimate: tuple[float, float, float] | None, scale: float = 1) -> str:
    """Return a rate, times ``scale``, with its 95 % interval.

    >>> interval((0.5, 0.25, 1), 100), interval(None)
    ('50 (25 to 100)', 'n/a')
    """
    if estimate is None:
        return UNDEFINED
    value, low, high = (figure(bound * scale) for bound in estimate)
    return f"{value} ({low} to {high})"


def table(records: Sequence[Record], columns: Sequence[Column], *, markdown: bool = False) -> str:
    """Return a table. Its text is safe for a terminal; in Markdown, no text ends a cell."""
    # Slow to import, and only tables need it.
    from tabulate import tabulate

    rows = [[_text(column.cell(record), markdown) for column in columns] for record in records]
    return tabulate(
        rows,
        [column.head for column in columns],
        tablefmt="github" if markdown else "simple",
        colalign=["left" if column.left else "right" for column in columns] if rows else None,
        disable_numparse=True,
    )


def _text(value: object, markdown: bool) -> str:
    text = UNDEFINED if value is None else str(value)
    return escape.markdown(text) if markdown else escape.terminal(text)


def _words(record: Record) -> str:
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
    """Return the columns of a report; ``labels`` and ``rules`` add a column for each."""
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
        Column("repeating", _words, left=True),
        Column("verdict", _verdict, left=True),
        field("trip word", "trip_word"),
        field("trip char", "trip_char"),
    ]


def session_columns(records: Sequence[Record]) -> list[Column]:
    """Return the columns of what sessions repeated; a rung has one if it is on in any of them."""
    columns = [Column("session", lambda record: record["id"], left=True)]
    if any(record["label"] is not None for record in records):
        columns.append(field("label", "label", left=True))
    columns += [field("rounds", "rounds"), field("calls", "calls")]
    if any(record["agent"] for record in records):
        columns.append(field("agent", "agent", left=True))
    return [
        *columns,
        field("repeats", "detection", left=True),
        field("tool", "tool", left=True),
        Column("what", lambda record: _clipped(record["what"]), left=True),
        field("streak", "streak"),
        field("round", "round"),
        field("line", "line"),
        *(_rung(name) for name in Action if any(name in each["rungs"] for each in records)),
    ]


def _clipped(text: str) -> str:
    return text if len(text) <= _WHAT_CHARS else text[: _WHAT_CHARS - 1] + "…"


def _rung(name: str) -> Column:
    """Return the column of a rung: the round that reached it, or how much the streak lacks."""

    def cell(record: Record) -> str:
        rung = record["rungs"].get(name)
        if rung is None:
            return "off"
        if rung.round is None:
            return f"{rung.threshold - record['streak']} short"
        return f"round {rung.round}"

    return Column(name, cell)


def sweep_columns(rule: str, tried: Sequence[str], *, labels: bool) -> list[Column]:
    """Return the columns of a grid; without labels, none about clean replies and loops."""
    columns = [
        *_knob_columns(rule, tried),
        field("clean peak", "clean_peak"),
        *_ceiling_column(rule),
        field("clean trips", "clean_trips"),
        field("loop trips", "loop_trips"),
        field("other trips", "other_trips"),
        *([field("by length", "length_trips")] if LENGTH in RULES[rule].states else []),
        _figure("delay, words", "delay_words"),
        _figure("chars", "delay_chars"),
        field("chars saved", "saved_chars"),
    ]
    left_out = set() if labels else {"clean peak", _OF, "clean trips", "loop trips", *_DELAY}
    if RULES[rule].judges is Judged.SESSION:
        left_out |= {*_DELAY, "chars saved"}
    return [column for column in columns if column.head not in left_out]


def front_columns(rule: str, tried: Sequence[str]) -> list[Column]:
    """Return the columns of a front."""
    return [
        *_knob_columns(rule, tried),
        field("missed", "missed"),
        _estimate("recall, %", "recall", 100),
        field("false alarms", "clean_trips"),
        _estimate("per 1,000 replies", "false_per_1000_replies"),
        _estimate("per 1,000,000 words", "false_per_million_words"),
        _figure("delay, words", "delay_words"),
        _figure("chars", "delay_chars"),
        field("clean peak", "clean_peak"),
        *_ceiling_column(rule),
        _figure("headroom", "headroom"),
        field("alike", "alike"),
    ]


def _knob_columns(rule: str, tried: Sequence[str]) -> list[Column]:
    entry = RULES[rule]
    headings = {knob.name: knob.heading for knob in entry.knobs}
    names = dict.fromkeys((*entry.sweep.columns, *tried))
    return [field(headings[name], name) for name in names]


def _ceiling_column(rule: str) -> list[Column]:
    """Return the column for the peak's ceiling, unless one of the knobs is that ceiling."""
    return [field(_OF, "clean_ceiling")] if RULES[rule].ceiling_knob is None else []


def _figure(head: str, name: str) -> Column:
    return Column(head, lambda record: figure(record[name]))


def _estimate(head: str, name: str, scale: float = 1) -> Column:
    def cell(record: Record) -> str:
        value, low, high = (record[f"{name}{bound}"] for bound in ("", "_low", "_high"))
        return interval(None if value is None else (value, low, high), scale)

    return Column(head, cell)
