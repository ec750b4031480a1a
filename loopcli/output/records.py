"""Records for machines: JSON, JSON Lines, CSV. What is not defined is null, or an empty cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from loopcli.analyze.replay import Place, ReplayRow
from loopcli.wording import clean, spelled

Record = Mapping[str, Any]

# Nothing but these of a row, in this order.
ROW_FIELDS = (
    *("id", "label", "onset", "rule", "channel", "words", "chars"),
    *("peak", "ceiling", "margin", "peak_word", "peak_char", "peak_line", "repeated"),
    *("verdict", "trip_channel", "trip_word", "trip_char"),
    *("finding", "regions"),
)


def row_record(row: ReplayRow) -> dict[str, Any]:
    """Return a row as plain JSON."""
    record = {name: getattr(row, name) for name in ROW_FIELDS if name != "regions"}
    record["id"] = spelled(row.id)
    record["repeated"] = [clean(word) for word in row.repeated]
    record["regions"] = list(map(_region, row.places))
    return record


def _region(place: Place) -> dict[str, Any]:
    region = place.region._asdict()
    kind, unit = region.pop("kind"), clean(region.pop("unit"))
    return {
        "channel": place.channel,
        "line": place.line,
        "unit": unit,
        "unit_kind": kind,
        **region,
    }


def json_document(document: Record) -> bytes:
    """Return a document for people who pipe it into jq, too: indented."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def json_lines(kind: str, records: Iterable[Record]) -> bytes:
    """Return a line for each record, ``"type"`` first."""
    lines = bytearray()
    for record in records:
        # Added at once: what orjson returns occupies kilobytes, however short it is.
        lines += orjson.dumps({"type": kind, **record}, option=orjson.OPT_APPEND_NEWLINE)
    return bytes(lines)


def csv(records: Iterable[Record], fields: Sequence[str]) -> bytes:
    """Return a table quoted as RFC 4180 has it, with its header, in lines as Unix has them."""
    import csv as writer
    from io import StringIO

    out = StringIO()
    table = writer.writer(out, lineterminator="\n")
    table.writerow(fields)
    for record in records:
        table.writerow([_cell(record[field]) for field in fields])
    return out.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> object:
    return orjson.dumps(value).decode() if isinstance(value, list) else value
