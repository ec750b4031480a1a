"""What a repeated unit is made of.

A copy is judged by what is copied: a sentence is not repeated forty times on
purpose, a zero is. ``kind_of`` sorts an exactly repeated unit into five kinds,
``counter_kind`` one whose digits were masked. Both look at the unit alone (and
at a few characters before it) and give the same answer for every rotation of
it, because a period has no first character.

Only a stretch that has grown long is looked at. That is rare, so the period
rule imports this file when the first one comes: compiling these patterns takes
longer than the rest of the rule's start-up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from loopcli.rules.period.config import UnitKind

# Blanks that were written out; a page of them is a page of blanks.
_BLANK_CODES = re.compile(
    r"\\[nrtfv]|\\u(?:00[aA]0|200[bB]|3000|0020|2003)|&nbsp;|&#160;|&#x[aA]0;|%20|%0[aAdD]"
)
_CODE_MARKS = frozenset("\\&%")  # each begins with one of these
# Everything with letters that still is a number or a constant. A pair of hex digits counts only
# with a decimal digit in it (or as ff), for "be", "da" and "ad" are words. A long number
# is several: tried again from each of its digits, it would take as long as its square.
_LITERALS = re.compile(
    r"\\[xX][0-9a-fA-F]{2}|\\u\{?[0-9a-fA-F]{1,6}\}?|\\U[0-9a-fA-F]{8}|\\[0-7]{1,3}|\\[nrtfvab]"
    r"|0[xX][0-9a-fA-F]+[uUlL]*|[uU]\+[0-9a-fA-F]{4,6}|&#x?[0-9a-fA-F]+;|%[0-9a-fA-F]{2}"
    r"|\d[\d.]{0,63}(?:[eE][-+]?\d{1,63})?[fFuUlLdD]{0,3}(?![^\W\d_])"
    r"|(?<![^\W_])(?:[0-9][0-9a-fA-F]|[a-fA-F][0-9]|ff|FF)(?![^\W_])"
    r"|(?<![^\W_])(?:null|NULL|None|none|nil|true|True|TRUE|false|False|FALSE"
    r"|NaN|nan|NAN|undefined|inf|N/A|n/a)(?![^\W_])"
)
# A list of one enumeration's members; plain words with commas between them are prose.
# An underscore is a word character, too, so nothing here is given back: each name can be
# read in one way only.
_CONSTANTS = re.compile(r"(?:[A-Za-z](?:\w*+(?:\.|::)\w++|(?=\w*_\w)\w++)\s*+,\s*+)++")
_GROUP = re.compile(r"[,.'_ ]000")  # 1,000,000,000: one number that does not end
_SUM_SIGNS = frozenset("=+*\u00d7\u00b7\u00f7")  # a calculation goes on, a list of numbers is kept
_LIST_SIGNS = frozenset(",;[](){}|")
_BASE64 = re.compile(r"[A-Za-z0-9+/\n]+")
_TAGS = re.compile(r"<[^<>]*>|&\w+;")
_ELEMENT = re.compile(r"<(?!(?:br|hr|p|wbr)\b)[A-Za-z]")  # opened, not only closed
# A word that is neither a literal nor a part of one: the unit is not data, whatever else.
_PLAIN_WORD = re.compile(r"(?<![\w\\&%#])(?!(?:false|False|FALSE|undefined)\b)[^\W\d_]{5}")
_WORD = re.compile(r"[^\W\d_]+")
# A reply that writes these has left its part and plays the whole conversation.
_MARKS = re.compile(
    r"<\|[^|\n]{1,40}\|>|<\uff5c[^\uff5c\n]{1,40}\uff5c>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>"
)
_CODE_SIGNS = frozenset('{}<>[];"|\t`')
_CODE = re.compile(r"\w\(0|,\s*\n|\\\n")  # a call, an element or a macro a line
_KEY = re.compile(r"(?:- )?[\w.-]+:(?: |$)")
_SENTENCE = re.compile(r"[.:!?\u3002\uff1a](?=[\s*\\])|(?<![^\W\d_])(?:[^\W\d_]++ ){3}")
_LONE_NUMBER = re.compile(r"(?<![\w.])0")  # a number that is not part of a name
_GRID = 1024  # characters: the rows of a grid that are equal are a shorter unit than this
_LIST = 256  # characters: nor are the constants of a list that are equal
_ROW_WIDTH = 8  # characters: a narrower line is a word on its own, not a row of a grid


def without_marks(text: str) -> str:
    """A text without the marks of a chat template and without the blanks around it.

    >>> without_marks("\\n<|im_end|>\\n"), without_marks("]\\n")
    ('', ']')
    """
    return _MARKS.sub("", text).strip()


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _besides(unit: str, token: re.Pattern[str]) -> Iterator[str]:
    """Yield what of a unit is in no ``token``, not even in one that its ends split."""
    around = unit * (16 // len(unit) + 1)
    text, at, stop = around + unit + around, len(around), len(around) + len(unit)
    for hit in token.finditer(text):
        if hit.start() > at:
            yield text[at : min(hit.start(), stop)]
        at = max(at, hit.end())
        if at >= stop:
            return
    yield text[at:stop]


def _rows(unit: str) -> Iterator[str]:
    """The non-blank lines of one period of the endless text whose period is ``unit``."""
    cut = unit.index("\n")
    for line in (unit[cut + 1 :] + unit[:cut]).split("\n"):
        if line := line.strip():
            yield line


def _is_csv(line: str) -> bool:
    """Three or more short fields; prose has a blank after its commas, records have none."""
    for mark in ",;\t":
        if line.count(mark) >= 2 and f"{mark} " not in line:
            return all(len(field.split()) <= 3 for field in line.split(mark))
    return False


def _is_table(unit: str) -> bool:
    if "\n" in unit:
        if unit.count("|") > 1:
            piped = [row.startswith("|") and row.endswith("|") for row in _rows(unit)]
            if 2 * sum(piped) >= len(piped):
                return True
        if all(map(_is_csv, _rows(unit))):
            return True
    if "<" not in unit or any(map(_has_letter, _besides(unit, _TAGS))):
        return False
    opened = _ELEMENT.search(unit * 3)  # one that is cut by the end of the text is none
    return opened is not None and opened.start() < 2 * len(unit)


def _is_grid_row(line: str) -> bool:
    """A row of a board, a map or a tablature: single letters, or a word of very few."""
    words = _WORD.findall(line)
    if len(line) < _ROW_WIDTH or not line.isascii():
        return False
    return all(len(word) == 1 or (len(word) >= 8 and len(set(word)) <= 3) for word in words)


def _is_base64(unit: str, before: str) -> bool:
    """A repeated group of a binary file; a chess position has more strokes and fewer letters."""
    if not _BASE64.fullmatch(unit):
        return False
    if "base64," in before:
        return True
    lead = "".join(before.split("\n"))[-64:]
    return (
        len(lead) == 64
        and bool(_BASE64.fullmatch(lead))
        and sum(map(str.isupper, lead)) >= 8
        and sum(map(str.islower, lead)) >= 4
        and any(map(str.isdigit, lead))
        and lead.count("/") <= 4
    )


@lru_cache(maxsize=64)
def kind_of(unit: str, before: str = "") -> UnitKind:
    """Return the kind of an exactly repeated ``unit``; ``before`` is what stands in front of it.

    >>> [kind_of(unit).value for unit in ("so ", "?!", "0, ", "+--\\n|  \\n", "| ok | no |\\n")]
    ['letters', 'signs', 'data', 'art', 'table']
    """
    one_line = "\n" not in unit
    if unit.isspace():
        return UnitKind.SIGNS
    if _has_letter(unit):
        return _kind_with_letters(unit, before)
    if any(map(str.isdigit, unit)):
        sums = not _SUM_SIGNS.isdisjoint(unit) and _LIST_SIGNS.isdisjoint(unit)
        endless = unit.isdigit() or sums or bool(_GROUP.fullmatch(_turned(unit)))
        return UnitKind.SIGNS if one_line and endless else UnitKind.DATA
    return UnitKind.SIGNS if one_line else UnitKind.ART


def _turned(unit: str) -> str:
    """A short unit turned so that its separator comes first."""
    for place, char in enumerate(unit):
        if not char.isdigit():
            return unit[place:] + unit[:place]
    return unit


def _kind_with_letters(unit: str, before: str) -> UnitKind:
    start = unit.find(",") + 1
    if start and len(unit) <= _LIST and _CONSTANTS.fullmatch((unit[start:] + unit[:start]).strip()):
        return UnitKind.DATA
    if _is_base64(unit, before):
        return UnitKind.DATA
    if not _PLAIN_WORD.search(unit):
        if not _CODE_MARKS.isdisjoint(unit) and not any(
            map(str.strip, _besides(unit, _BLANK_CODES))
        ):
            return UnitKind.SIGNS
        if not any(map(_has_letter, _besides(unit, _LITERALS))):
            return UnitKind.DATA
    if _is_table(unit):
        return UnitKind.TABLE
    if "\n" in unit and len(unit) < _GRID and all(map(_is_grid_row, _rows(unit))):
        return UnitKind.ART
    return UnitKind.LETTERS


@lru_cache(maxsize=64)
def counter_kind(unit: str) -> UnitKind:
    """Return the kind of a unit whose digits were all written as 0.

    Only running text can loop through a counter and be told from data: rows of a table, objects
    of an array, elements of a page and lines of code are equal but for digits by nature.

    >>> counter_kind("Case 00: a = 0. ").value, counter_kind('{"id": 00}, ').value
    ('counter', 'record')
    """
    around = unit * 2
    if "0" not in unit or len(set(_WORD.findall(around))) < 2:
        return UnitKind.RECORD
    code = not _CODE_SIGNS.isdisjoint(unit) or bool(_CODE.search(around))
    if code and _MARKS.search(around):
        return UnitKind.DIALOGUE
    if code or not _LONE_NUMBER.search(around, 1) or not _SENTENCE.search(around):
        return UnitKind.RECORD
    if "\n" in unit and (_is_table(unit) or all(map(_KEY.match, _rows(unit)))):
        return UnitKind.RECORD
    return UnitKind.COUNTER
