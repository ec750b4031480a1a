"""Small pieces of wording that messages, reports and errors share."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, thing: str) -> str:
    """Return a number with what it counts.

    >>> counted(1, "word"), counted(2, "word")
    ('1 word', '2 words')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def kebab(name: str) -> str:
    """Return the name of a field or a parameter as options and settings files spell it.

    >>> kebab("window_words"), kebab("json_")
    ('window-words', 'json')
    """
    return name.rstrip("_").replace("_", "-")


def near(name: str, known: Iterable[str]) -> str:
    """Return a question that ends a message about an unknown name, if a known one is close.

    >>> near("perod", ["period", "novelty"]), near("nope", ["period"])
    ('; did you mean `period`?', '')
    """
    from difflib import get_close_matches  # slow to import, and seldom needed

    close = get_close_matches(name, known, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


# What a peer wrote is shown this long and no longer.
_MAX_SHOWN = 40


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def shown(text: str, limit: int = _MAX_SHOWN) -> str:
    """Return a peer's text quoted, escaped and shortened, safe for a terminal.

    >>> print(shown("a\\x1b[2Jb"))
    "a\\u001b[2Jb"
    """
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return '"' + escaped(short.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def escaped(text: str) -> str:
    """Return a peer's text with everything that is not printable spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _ESCAPES.get(c, f"\\u{ord(c):04x}") for c in text)


# A message of a server or about a file is printed and reported this long and no longer.
_MAX_MESSAGE = 500


def brief(text: str) -> str:
    """Return a message cut to 500 characters."""
    return text if len(text) <= _MAX_MESSAGE else text[: _MAX_MESSAGE - 1] + "…"


def clean(text: str) -> str:
    """Return a reply's text as UTF-8 can hold it; what it cannot is ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")


def spelled(text: str) -> str:
    """Return an id or a message with odd bytes of a path spelled out, as on standard error."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
