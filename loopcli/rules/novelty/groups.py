"""What the novelty rule takes for a word, and which of its groups of words count.

Words here are those that are compared, not those that the reply is counted in:
a script without blanks (Chinese, Japanese) has a word a character. The rule
imports this file when it is armed: the patterns take long to compile, and the
rule is off by default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

Group = tuple[str, str, str, str]

_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_LETTERS = re.compile(rf"[^\W\d_]{{2}}|{_UNSPACED.pattern}")
# A word of JSON or of a table in plain text, a number in hex, a constant.
_DATA = re.compile(
    r'":|^[\[{(]*"|"[\]}),;]*$|[,;\t].*[,;\t]\w|^0[xX][0-9a-fA-F]+\W*$'
    r"|^\W*(?:null|none|nil|true|false|nan|undefined)\W*$",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"{_UNSPACED.pattern}|[^\s{_UNSPACED.pattern[2:-2]}]+")


def spaced(text: str) -> str:
    """Return a text with blanks around the characters that are words by themselves."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


@lru_cache(maxsize=1024)
def is_prose(group: Group) -> bool:
    """Return whether the last of four words is one of running text or code, not of data.

    >>> is_prose(("so", "it", "goes,", "again")), is_prose(("|", "open", "|", "shut"))
    (True, False)
    """
    if any(word[:1] == "|" or word[-1:] == "|" for word in group):
        return False  # cells of a table
    return bool(_LETTERS.search(group[3])) and not _DATA.search(group[3])


def extent(text: str, number: int) -> tuple[int, int]:
    """Return where a word of a text begins, and behind which character it is known to have ended.

    >>> extent("over and out ", 1), extent("\u6728\u95e8 ", 1)
    ((5, 9), (1, 2))
    """
    token = next(islice(_TOKEN.finditer(text), number, None))
    return token.start(), token.end() + (not _UNSPACED.match(token.group()))


def joined(words: Sequence[str]) -> str:
    """Return words as they may have stood in the text.

    >>> joined(("over", "and")), joined(("\u6728", "\u95e8", "ok"))
    ('over and', '\u6728\u95e8 ok')
    """
    text = ""
    for word in words:
        glued = not text or (_UNSPACED.match(text[-1]) and _UNSPACED.match(word))
        text += word if glued else f" {word}"
    return text
