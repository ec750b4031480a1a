"""How long a server asks to wait, from the head of its response.

Source: RFC 9110 10.2.3 (seconds, or a date), and ``retry-after-ms``, which OpenAI and
Azure send and their clients prefer. Some servers send fractions of a second.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from loopcli.events import HttpHead

# 529 is Anthropic's: overloaded.
_HEEDED = frozenset({429, 503, 529})


def wait_of(head: HttpHead | None, now: float) -> float:
    """Return the seconds that a response asks to wait; 0 if it asks for nothing.

    A date is compared with the server's own clock, and only without one with
    ``now``, in seconds since the epoch.

    >>> wait_of(HttpHead(429, "1.5"), 0), wait_of(HttpHead(529, retry_after_ms="250"), 0)
    (1.5, 0.25)
    """
    if head is None or head.status not in _HEEDED:
        return 0
    milliseconds = _number(head.retry_after_ms)
    if milliseconds is not None:
        return milliseconds / 1000
    seconds = _number(head.retry_after)
    if seconds is not None:
        return seconds
    date = _time(head.retry_after)
    if date is None:
        return 0
    sent = _time(head.date)
    return max(date - (now if sent is None else sent), 0)


def _number(text: str) -> float | None:
    whole, _, part = text.partition(".")
    known = (whole + part).isascii() and (whole + part).isdigit()
    return float(text) if known and whole and len(whole) < 10 else None


def _time(text: str) -> float | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return None if date.tzinfo is None else date.timestamp()  # an HTTP date names its zone
