"""What other programs wrote, made harmless for each place that it is printed to.

Text from a model, a server or a file may hold what a terminal obeys, a spreadsheet
computes, a page executes or a reader of a report misreads. Each sink has one escape here,
and every renderer of that sink uses it:

- ``terminal`` one line without controls, and nothing that is invisible or turns text round
- ``cell``     CSV: that, and no formula
- ``markdown`` that, and no markup of Markdown or HTML, no link
- ``xml``      that, and no markup; for text and for attributes alike

JSON is written by ``lenient_json.dump_line``, which escapes the same characters.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from loopcli.wording import escaped as terminal

__all__ = ["cell", "markdown", "terminal", "xml"]

# A spreadsheet computes a cell that begins with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&]")
# GitHub turns these into links, without any markup.
_LINK = re.compile(r"(?i):(?=//)|(?<=mailto):")
_WWW = re.compile(r"(?i)(?<=www)\.")
# At the beginning of a line these make lists, rulers and headings.
_BLOCK = re.compile(r"\A(\d*)([-+=#.)])")


def cell(text: str) -> str:
    """Return text for a cell of CSV.

    >>> cell("=1+1"), cell("a word"), cell("\\x1b[2J")
    ("'=1+1", 'a word', '\\\\u001b[2J')
    """
    safe = terminal(text)
    return f"'{safe}" if text.startswith(_FORMULA) else safe


def markdown(text: str) -> str:
    """Return text for a line or a cell of Markdown.

    >>> print(markdown("<b> [x](http://y) | www.z"))
    \\<b\\> \\[x\\](http\\://y) \\| www&#46;z
    """
    safe = _MARKUP.sub(r"\\\g<0>", terminal(text))
    safe = _WWW.sub("&#46;", _LINK.sub(r"\:", safe))
    return _BLOCK.sub(r"\1\\\2", safe)


def xml(text: str) -> str:
    """Return text for an element or an attribute of XML.

    >>> xml('<a "b">')
    '&lt;a &quot;b&quot;&gt;'
    """
    return escape(terminal(text), {'"': "&quot;"})
