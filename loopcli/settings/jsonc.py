"""JSON as people write it in configuration files: comments, and commas too many.

Numbers that are not plain whole numbers come as ``Unread``, with the text that
was written: a message can then show it as it stands, and nothing is rounded.
"""

from __future__ import annotations

import json
import re
from typing import Any

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.S)
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.S)
# Far more digits than any knob takes; int() is slow with thousands.
_MAX_DIGITS = 30


class Unread(str):
    """A number that is not a plain whole number, as it was written."""

    __slots__ = ()


class DuplicateError(ValueError):
    """An object has two members of one name: which was meant cannot be known."""


def loads(text: str) -> Any:
    r"""Return the document; raises ``ValueError`` with a position.

    >>> loads('{"a": [1, 2,], // one\n "b": /* two */ 1.50,}')
    {'a': [1, 2], 'b': '1.50'}
    """
    for noise in (_COMMENT, _COMMA):
        text = noise.sub(_blanked, text)
    return json.loads(
        text,
        parse_int=whole,
        parse_float=Unread,
        parse_constant=Unread,
        object_pairs_hook=_members,
    )


def _blanked(match: re.Match[str]) -> str:
    # As long as before, line by line, so that positions stay true.
    return match[1] or re.sub(r"[^\n]", " ", match[0])


def whole(text: str) -> int | Unread:
    """Return a number that was written without point and exponent."""
    return Unread(text) if text.startswith("-") or len(text) > _MAX_DIGITS else int(text)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DuplicateError(f"`{twice}` is written twice in one object")
    return members


def shown(value: object) -> str:
    """Return a value as JSON has it; one that is too long or too deep for that as three dots."""
    if isinstance(value, Unread):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "…"
