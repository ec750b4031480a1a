"""Guesses from the first bytes how a stream is framed.

Only the first ``MAX_GUESS`` bytes are examined. ``guess`` is monotonic: it returns
``None`` as long as more bytes could change the answer, and an answer, once given,
never changes. That is what makes detection independent of how the bytes are cut. The
tests check it for every prefix of their openings.

The tests go from the cheap and certain ones (a brace, a page, a status line) to the
lines of an event stream. There the difficulty is text that resembles one: prose and
YAML have lines like ``data: x`` or ``id: 7``. Therefore fields alone prove nothing;
``data:`` with a JSON value or a comment after it does, and so does a ``data:`` line
that is an event of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopcli.signatures import BOM

# OpenRouter opens with dozens of comments of 25 bytes. A stream that is still undecided
# after this many bytes is text.
MAX_GUESS = 16 * 1024
STATUS_LINE = rb"HTTP/\d(?:\.\d)? (\d{3})(?: [^\r\n]*)?\r?\n"
# Fields that may come before the first `data:`. Alone they prove nothing, because
# prose and YAML begin like this, too.
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b"error:", b":")
_WHOLE_LINE = re.compile(rb"[^\r\n]+[\r\n]")
# Lines that decide nothing, and lines that a blank one after them would decide. By one match
# each: a server may wait for long, and this is asked again at each line that comes.
_WAITING = re.compile(rb"(?:(?:(?::|event:|id:|retry:)[^\n]*+|data:[ \t\v\f]*+|[ \t\v\f]*+)\n)*+")
_PENDING = re.compile(
    rb"data:[ \t\v\f]*+[^\s{\[:][^\n]*+\n"
    rb"(?:(?::|event:|id:|retry:|data:[ \t\v\f]*+(?![{\[:]))[^\n]*+\n)*+"
)
# The comments and fields of servers are shorter than this.
_MAX_COMMENT = 1024
_CODES = tuple(f"{code}:{start}".encode() for code in "0gb9cf" for start in '"{')
_PAGES = (b"<!doctype", b"<html")
_LONGEST_START = max(map(len, (*_CODES, *_PAGES)))


def guess(head: bytes, *, final: bool = False) -> str | None:
    """Return the kind of a beginning: ``sse``, ``coded``, ``json``, ``page``, ``head`` or ``text``.

    Return ``None`` while it is undecided. More bytes never change an answer.

    >>> guess(b"Once upon"), guess(b": ping\\n"), guess(b": ping\\n\\ndata: {")
    ('text', None, 'sse')
    """
    capped = len(head) >= MAX_GUESS
    head, final = head[:MAX_GUESS], final or capped
    if not final and BOM.startswith(head):
        return None
    body = head.removeprefix(BOM)
    start = body.lstrip()
    if not start:
        return "text" if final else None
    if start[:1] in b"{[":
        return "json"
    if start[:9].lower().startswith(_PAGES):
        return "page"
    if body.startswith(b"HTTP/") and re.match(STATUS_LINE, body):
        return "head"
    if start.startswith(_CODES):
        return "coded"
    if not final and (maybe_status_line(body) or _may_go_on(start)):
        return None
    if not start.startswith(_FIELDS) and _WHOLE_LINE.match(start):
        return "text"  # the same answer as below, but sooner
    return _events_or_text(body, final=final, capped=capped)


def _may_go_on(start: bytes) -> bool:
    """Return whether more bytes may make this the start of a page or of coded lines."""
    return len(start) < _LONGEST_START and (
        any(page.startswith(start.lower()) for page in _PAGES)
        or any(code.startswith(start) for code in _CODES)
    )


def _events_or_text(body: bytes, *, final: bool, capped: bool) -> str | None:
    """Return whether the lines are those of an event stream."""
    text = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    waiting = _WAITING.match(text)
    start = waiting.end() if waiting else 0
    pending = _PENDING.match(text, start)
    unsure = pending is not None
    *lines, last = text[pending.end() if pending else start :].split(b"\n")
    for line in lines:
        if _is_event(line):
            return "sse"
        if line.strip():
            if not line.startswith(_FIELDS) or line.startswith(b"error:"):
                return "text"
            unsure = unsure or (line.startswith(b"data:") and bool(line[5:].strip()))
        elif unsure:
            return "sse"  # `data:` without a document, but an event of its own
    if _is_event(last):
        return "sse"
    possible = any(last.startswith(name) or name.startswith(last) for name in _FIELDS)
    if last.strip() and not possible:
        return "text"
    if capped and len(last) < _MAX_COMMENT:
        return "sse"  # only fields and comments: a server that is still waiting
    if final and not last and _only_comments(text.split(b"\n")[:-1]):
        return "sse"  # the same, but the server gave up
    return "text" if final else None


def _only_comments(lines: Sequence[bytes]) -> bool:
    """Return whether lines are only comments, as a server sends them to keep a connection open.

    Each such comment is an event of its own. An emoticon is not a comment.
    """
    comments = [line for line in lines if line]
    return b"" in lines and bool(comments) and all(b": ".startswith(c[:2]) for c in comments)


def _is_event(line: bytes) -> bool:
    """Return whether a line, or its beginning, can only be of an event stream."""
    field, _, value = line.partition(b":")
    value = value.lstrip()
    if field == b"error":
        return value.startswith(b"{")
    return field == b"data" and value.startswith((b"{", b"[", b":"))


def maybe_status_line(head: bytes) -> bool:
    """Return whether ``head``, which is short, may be the beginning of a status line."""
    return b"HTTP/".startswith(head[:5]) and b"\n" not in head and len(head) < 256
