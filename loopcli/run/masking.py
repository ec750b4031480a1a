"""Masks a key in what is printed and recorded, in every form that a server gives it.

A server may echo the key as it is, escaped as JSON escapes it (``\\/``, ``\\u0041``), percent
encoded, in hexadecimal, in base64 (alone or within a longer text such as ``Bearer KEY``), and
broken into lines by any of these. So a key is searched as a sequence of characters: each in any
of its spellings, with line breaks and blanks, real or escaped, between two of them.

Base64 turns three bytes into four characters. A key inside a longer text begins at one of three
places of such a group; for each, the characters that depend on the key alone are searched.
"""

from __future__ import annotations

import base64
import re

# A shorter key could match ordinary text.
_SHORTEST = 8
MASK = "***"
# Between two characters: line breaks and blanks, escaped or not, and the end of one string and
# the beginning of the next. Every repetition is bounded, so that a search stays linear. Escaped
# within an escaped string a character has two backslashes, and so on.
_BREAK = (
    r"(?:\s|\\{1,8}[nrt]|\\{1,8}u00(?:0[9aAdD]|20)|%0[9aAdD]|%20"
    r'|"\s{0,8}[,+]?\s{0,8}"){0,8}'
)


class Mask:
    """Replaces ``key`` by ``***``.

    Nothing is searched for fewer than 8 characters, nor for what is not ASCII: that is no key.
    """

    def __init__(self, key: str) -> None:
        self._forms: list[re.Pattern[str]] = []
        if len(key) < _SHORTEST or not key.isascii():
            return
        spelled = _BREAK.join(map(_spellings, key))
        forms = [spelled, _hexadecimal(key), *map(_literal, _base64(key))]
        self._forms = [re.compile(form) for form in forms]

    def __call__(self, text: str) -> str:
        """Return ``text`` with the key masked; JSON stays JSON."""
        for form in self._forms:
            text = form.sub(MASK, text)
        return text


def _spellings(char: str) -> str:
    """Return a pattern for one character as it is, as JSON escapes it, and percent encoded."""
    code = f"{ord(char):02x}"
    either = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in code)
    return rf"(?:\\{{0,8}}{re.escape(char)}|\\{{1,8}}u00{either}|%(?:25){{0,4}}{either})"


def _hexadecimal(key: str) -> str:
    return "(?i:" + _BREAK.join(key.encode("ascii").hex()) + ")"


def _base64(key: str) -> list[str]:
    """Return what base64 makes of the key alone at each of the three places in a group."""
    forms = []
    for before in range(3):
        data = bytes(before) + key.encode("ascii")
        text = base64.b64encode(data).decode("ascii").rstrip("=")
        # The first characters depend on what came before, the last on what follows.
        first = (0, 2, 3)[before]
        last = len(data) * 8 // 6
        forms.append(text[first:last])
    return forms


def _literal(text: str) -> str:
    """Return a pattern for base64 in both of its alphabets, broken into lines or not."""
    pairs = {"+": r"(?:\+|-|%2[bB])", "/": r"(?:\\{0,8}/|_|%2[fF])"}
    return _BREAK.join(pairs.get(char, char) for char in text)
