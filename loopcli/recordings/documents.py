"""Which recorded format a JSON document is in.

The tables below begin with the formats that resemble nothing else and end with
those that are recognised by the names of members. A document that none of them
claims is not judged at all: its braces and keys are not a model's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from loopcli.recordings.base import Defect, Item, Reply, dump, within
from loopcli.recordings.formats import (
    batch,
    cassette,
    har,
    json_records,
    messages,
    nock,
    sharegpt,
    stream,
)

NO_TEXT = "no member of this record holds a reply (--text-field names one)"


class Format(NamedTuple):
    """How to recognise a format, and how to read it."""

    claims: Callable[[object], bool]
    replies: Callable[[Any], Iterator[Item]]


RECORDINGS = (
    Format(har.claims, har.replies),
    Format(cassette.claims, cassette.replies),
    Format(nock.claims, nock.replies),
)
CONVERSATIONS = (
    Format(batch.claims, batch.replies),
    Format(sharegpt.claims, sharegpt.replies),
    Format(messages.claims, messages.replies),
)


class Known(NamedTuple):
    """Which parts of a document may be a reply.

    ``field`` is the member that the user named; every other member is then ignored.
    With ``sure`` the name of a member alone does not make its value a reply.
    """

    field: str | None = None
    sure: bool = False


def whole_file(doc: object, known: Known) -> Iterator[Item] | None:
    """Return the replies of a document that is a file; ``None`` if it is in no known format."""
    for claims, read in RECORDINGS:
        if claims(doc):
            return read(doc)
    if known.field is None:
        answer = _answer(doc)
        if answer is not None:
            return iter(answer)
    if isinstance(doc, list) and (known.field or not _is_conversation(doc)):
        records = [record(item, known) for item in doc]
        return _numbered(records) if any(map(has_reply, records)) else None
    single = record(doc, known)
    return None if single is None else iter(single)


def record(doc: object, known: Known) -> list[Item] | None:
    """Return the replies of a line, or of an item of a list; ``None`` if no member holds any."""
    if known.field is None:
        if is_whole_answer(doc):
            return stream.body(dump(doc))
        for claims, read in CONVERSATIONS:
            # Beside a reply may stand the messages that led to it.
            if claims(doc) and not (read is messages.replies and _has_answer(doc)):
                return list(read(doc))
    return None if known.sure else json_records.replies(doc, known.field)


def has_reply(items: list[Item] | None) -> bool:
    """Return whether a reply is among the items."""
    return any(isinstance(item, Reply) for item in items or ())


def _numbered(records: list[list[Item] | None]) -> Iterator[Item]:
    for number, items in enumerate(records, 1):
        missing = Defect(NO_TEXT, numbered=True)
        yield from within([missing] if items is None else items, f"item {number}")


def _is_conversation(doc: list[Any]) -> bool:
    return sharegpt.claims(doc) or messages.claims(doc)


def _has_answer(doc: object) -> bool:
    return isinstance(doc, dict) and any(doc.get(name) for name in json_records.BESIDE_MESSAGES)


def _answer(doc: object) -> list[Item] | None:
    """Return the replies in an answer of a model's API, whole or as a list of its chunks."""
    if isinstance(doc, list) and (not doc or is_whole_answer(doc[0]) or not speaks(doc[0])):
        return None
    return stream.body(dump(doc)) if isinstance(doc, dict | list) else None


def speaks(doc: object) -> bool:
    """Return whether a document is an answer of a model's API or a part of one."""
    return isinstance(doc, dict) and stream.speaks(dump(doc))


def is_whole_answer(doc: object) -> bool:
    """Return whether a document is a whole answer, so that the next document is another reply."""
    if not isinstance(doc, dict):
        return False
    choices = doc.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return "message" in choices[0]
    return (
        doc.get("object") == "response"
        or (doc.get("type") == "message" and isinstance(doc.get("content"), list))
        or (doc.get("done") is True and bool(doc.get("response") or doc.get("message")))
    )
