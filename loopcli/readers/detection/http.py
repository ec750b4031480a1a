r"""HTTP heads, as ``curl -i`` prints them, and bodies that are error messages.

Theory of operation. ``HeadProbe`` reads one head after the other (100 Continue, a
proxy's, redirects) and keeps the last. A head is a status line, header lines and a
blank line. It is read line by line, and each line either confirms that this is a head
or proves that it is not; in the second case the bytes from its status line on belong
to the body, which a model may have begun with a sentence about HTTP. Rules of this file:

- A head ends at its blank line, whatever its header values hold. A head without headers
  needs the line ends of a server (CR LF); with LF it is a sentence about HTTP.
- The last head counts and is the first event.
- With a status of 400 or more the body is an error message. So is the body of a final
  redirect, which curl follows only with ``-L``.
- Without a head, an HTML page is an error message if its title reads like one. Any
  other page may be the reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loopcli.events import Event, HttpHead, UpstreamError
from loopcli.lenient_json import parse
from loopcli.readers.base import Origin, Reader
from loopcli.readers.detection.guess import STATUS_LINE, maybe_status_line
from loopcli.readers.detection.probe import Choice, Probe
from loopcli.readers.errors import lone_error, upstream_error

_HEADER = re.compile(rb"[!#-'*+.0-9A-Z^-z|~-]+:[^\r\n]*\r?\n|[ \t][^\r\n]*\r?\n")
_BLANK = re.compile(rb"\r?\n")
# The headers that say when to ask again, and by whose clock.
_TIMES = re.compile(rb"(retry-after|retry-after-ms|date):([^\r\n]*)", re.IGNORECASE)
_EVENTS = re.compile(rb"content-type:[ \t]*text/event-stream", re.IGNORECASE)
_MAX_HEAD = 64 * 1024
# Only this much of a body is read for its message.
_MAX_BODY = 64 * 1024
_MAX_MESSAGE = 300
_MAX_PAGE = 4096

# An element is sought by its two tags, one after the other: one pattern for both would look
# for the end of each that is only opened, through the whole page.
_OPENED = rb"(?i)<%b\b[^<>]*>"
_CLOSED = rb"(?i)</%b\s*+>"
_TAG = rb"<[^<>]*>"
_BAD_NEWS = re.compile(
    r"\b[345]\d\d\b|\berror\b|forbidden|denied|unauthori[sz]ed|not found|bad (gateway|request)|"
    r"unavailable|time-?d?\s?out|too many requests|rate limit|just a moment|attention required|"
    r"moved permanently|blocked",
    re.IGNORECASE,
)


class HeadProbe(Probe):
    """Reads the heads. ``body`` makes the reader of the body.

    Its arguments are where the body begins and whether a head announced events.
    """

    def __init__(self, origin: Origin, body: Callable[[Origin, bool], Reader]) -> None:
        super().__init__(origin)
        self._body = body
        self._at = 0
        # Of the last whole head, and of the one being read.
        self._head = HttpHead(0)
        self._next = HttpHead(0)
        self._in_head = False
        self._head_at = 0
        # Whether the head being read is one for certain.
        self._surely = False
        self._events = False

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the reader of the body, once the last head is over."""
        while True:
            if not self._in_head:
                rest = bytes(self._held[self._at : self._at + 256])
                status = re.match(STATUS_LINE, rest)
                if status is None:
                    known = final or (rest and not maybe_status_line(rest))
                    return self._whole_heads() if known else None
                self._in_head, self._head_at = True, self._at
                # After a first head, a second one needs no proof.
                self._surely = status[0].endswith(b"\r\n") or self._head.status > 0
                self._events = False
                self._next = HttpHead(int(status[1]))
                self._at += status.end()
            line = self._held.find(b"\n", self._at) + 1
            if not line and final:
                if not self._surely:
                    return self._no_head()
                # The head itself was cut short, but its status is known.
                self._head, self._at = self._next, len(self._held)
                return self._whole_heads()
            if (line or len(self._held)) - self._head_at > _MAX_HEAD:
                return self._no_head()
            if not line:
                return None
            if not self._take(bytes(self._held[self._at : line])):
                return self._no_head()
            self._at = line

    def _take(self, line: bytes) -> bool:
        """Read a line of a head; return whether it can be one."""
        if _BLANK.fullmatch(line):
            if self._surely:
                self._in_head, self._head = False, self._next
            return self._surely
        self._surely = True
        if _EVENTS.match(line):
            self._events = True
        if time := _TIMES.match(line):
            value, head = time[2].strip().decode("latin-1"), self._next
            match time[1].lower():
                case b"date":
                    self._next = head._replace(date=value)
                case b"retry-after":
                    self._next = head._replace(retry_after=value)
                case _:
                    self._next = head._replace(retry_after_ms=value)
        return _HEADER.fullmatch(line) is not None

    def _no_head(self) -> Choice:
        """Return the choice after something that only looked like a head: it is the body."""
        self._at = self._head_at
        return self._whole_heads()

    def _whole_heads(self) -> Choice:
        origin = self.after(self._at)
        self._head = self._head._replace(byte=origin.byte)
        if self._head.status >= 300:
            return ErrorBodyReader(origin, self._head.status), self._at
        return self._body(origin, self._events), self._at

    def _settle(self, choice: Choice | None) -> list[Event]:
        body = super()._settle(choice)
        return [self._head, *body] if choice and self._head.status else body


class ErrorBodyReader:
    """Reads a body that is an error message."""

    name = "error"
    framing = "none"
    progress = 0

    def __init__(self, origin: Origin, status: int = 0) -> None:
        self._origin = origin
        self._status = status
        self._body = bytearray()
        self._reported = False

    def feed(self, data: bytes) -> list[Event]:
        """Return the error, once enough of the body has arrived."""
        if self._reported:
            return []
        self._body += data[: _MAX_BODY - len(self._body)]
        return self._report() if len(self._body) == _MAX_BODY else []

    def close(self) -> list[Event]:
        """Return the error."""
        return [] if self._reported else self._report()

    def _report(self) -> list[Event]:
        self._reported = True
        message = body_message(bytes(self._body)) or "no message"
        if 300 <= self._status < 400:
            message += " (curl follows redirects with -L)"
        byte = self._origin.byte + len(self._body)
        return [UpstreamError(message, self._origin.line + 1, byte, str(self._status or ""))]


def body_message(body: bytes) -> str:
    """Return the message in an error body: JSON, an event stream, HTML or text.

    >>> body_message(b"<html><title>502 Bad Gateway</title></html>")
    '502 Bad Gateway'
    """
    text = body.strip()
    for part in (text, *re.findall(rb"^data:[ ]?(.+)$", text, re.MULTILINE)):
        try:
            doc = parse(part)
        except ValueError:
            continue
        if isinstance(doc, list) and doc:
            doc = doc[0]
        error = lone_error(doc, 0, 0) or upstream_error(doc, "error", 0, 0)
        if error is not None and error.message != "no message":
            return error.message
    return page_heading(text) or _plain(text)


def page_heading(page: bytes) -> str:
    """Return the first title or heading of an HTML page, if it has a full one."""
    places = [place for tag in (b"title", b"h1") if (place := _element(page, tag))]
    if not places:
        return ""
    _, inner, end, _ = min(places)
    return _plain(page[inner:end])


def _element(page: bytes, tag: bytes, start: int = 0) -> tuple[int, int, int, int] | None:
    """Return where an element begins and ends, without and within its tags."""
    opened = re.compile(_OPENED % tag).search(page, start)
    closed = opened and re.compile(_CLOSED % tag).search(page, opened.end())
    if not opened or not closed:
        return None
    return opened.start(), opened.end(), closed.start(), closed.end()


def _plain(markup: bytes) -> str:
    from html import unescape  # slow to import and seldom needed

    for tag in (b"style", b"script"):
        kept, at = [], 0
        while element := _element(markup, tag, at):
            kept.append(markup[at : element[0]])
            at = element[3]
        markup = b" ".join([*kept, markup[at:]])
    text = unescape(re.sub(_TAG, b" ", markup).decode("utf-8", "replace"))
    return " ".join(text.split())[:_MAX_MESSAGE]


class PageProbe(Probe):
    """Decides by its first heading whether a page is an error or the model wrote it."""

    def __init__(self, origin: Origin, text: Reader) -> None:
        super().__init__(origin)
        self._text = text

    def decide(self, data: bytes, *, final: bool) -> Choice | None:
        """Return the reader, once the page has a heading or is too long for an error page."""
        head = bytes(self._held[:_MAX_PAGE])
        final = final or len(self._held) >= _MAX_PAGE
        if b">" not in data and not final:
            return None  # no element can have ended
        heading = page_heading(head) or (_plain(head) if final else "")
        if heading and len(heading) < 120 and _BAD_NEWS.search(heading):
            return ErrorBodyReader(self._origin), 0
        return (self._text, 0) if heading or final else None
