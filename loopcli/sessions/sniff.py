"""Finds out from its first bytes whether an input is a session, and of which format.

Rules of this file:

- The first record that is recognised decides; broken lines and the notes of
  other tools before it are passed over.
- If the first line is no document by itself, the input is one document that is
  broken into lines, unless what follows is not how that would go on: then the
  first line is broken, and the others are looked at.
- An answer depends on the bytes alone, never on how many of them came at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from loopcli.lenient_json import parse
from loopcli.sessions import table
from loopcli.sessions.prefix import parse_beginning
from loopcli.signatures import BOM

# What a session is recognised by. A first record larger than this is recognised
# by what of it is in here.
HEAD_BYTES = 64 * 1024
_LINES_LOOKED_AT = 20
# A server's event stream may be a session, too; its lines are read as records.
_EVENT = b"data:"


class Sniffed(NamedTuple):
    """The format of a session, and how its records are cut; both empty for what is none."""

    name: str = ""
    framing: str = ""


def sniff(head: bytes, *, final: bool = False) -> Sniffed | None:
    """Return what begins like this; ``None`` if more bytes are needed to know.

    >>> sniff(b'{"type": "system", "subtype": "init", "session_id": "1"}\\n')
    Sniffed(name='claude-code-stream-json', framing='ndjson')
    >>> sniff(b"Once upon"), sniff(b'{"type"')
    (Sniffed(name='', framing=''), None)
    """
    capped = len(head) >= HEAD_BYTES
    head, final = head[:HEAD_BYTES], final or capped
    if BOM.startswith(head):
        return Sniffed() if final else None
    body = head.removeprefix(BOM).lstrip()
    if not body.startswith((b"{", b"[")):
        if body.startswith(table.AIDER_START):
            return Sniffed("aider", "text")
        if body.startswith(_EVENT):
            return _lines(body.split(b"\n") if final else body.split(b"\n")[:-1], final=final)
        begun = table.AIDER_START.startswith(body) or _EVENT.startswith(body)
        return None if begun and not final else Sniffed()
    *lines, last = body.split(b"\n")
    if final:
        lines.append(last)  # which counts if it is whole
    if not lines:
        return None
    if _parsed(lines[0]) is None:
        if not final:
            return None
        try:
            name = table.recognise(parse_beginning(body))
            in_lines = len(lines) == 1 and body.startswith(b"{") and not table.holds_session(name)
            return Sniffed(name, "" if not name else "ndjson" if in_lines else "json")
        except ValueError:
            pass
    return _lines(lines, final=final)


def _lines(lines: list[bytes], *, final: bool) -> Sniffed | None:
    for line in lines[:_LINES_LOOKED_AT]:
        doc = _parsed(line)
        name = table.recognise(doc) if doc is not None else ""
        if name:
            # An array is cut into its items wherever it stands.
            return Sniffed(name, "json" if isinstance(doc, list) else "ndjson")
    return Sniffed() if final or len(lines) >= _LINES_LOOKED_AT else None


def _parsed(line: bytes) -> Any:
    line = line.strip().removeprefix(b"data:").lstrip()
    if not line.startswith((b"{", b"[")):
        return None
    try:
        return parse(line)
    except ValueError:
        return None
