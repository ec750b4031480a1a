"""Errors that providers report inside a stream, in every shape they use.

Rules of this file:

- An error object anywhere in a document is the provider's error, whatever else the
  document holds.
- A payload that is prose with the words of a failure, instead of JSON, is an error
  message, too. Any other payload that is not JSON is a fault of the stream. The first
  one is reported, all of them are skipped, and reading goes on.
- A server that ends a reply because *it* detected a repetition has not failed: that
  is a verdict (vLLM's ``repetition``, Ollama's token limit).

The words themselves, which providers use for endings and failures, are in ``endings``.
"""

from __future__ import annotations

import re
from typing import Any

from loopcli.events import Done, ServerLoop, UpstreamError
from loopcli.lenient_json import objects, string
from loopcli.readers.base import DONE, Frame
from loopcli.readers.collector import Collector
from loopcli.readers.endings import OLLAMA_ABORT

_SHOWN = 300
# A sentence: more than one word, beginning with a letter.
_PROSE = rb"\s*([A-Za-z][^\s]*[ \t]+\S|[\x80-\xff])"
# Plain text as data may also be the reply of a server that knows no JSON, or a ping.
# As text: compiled where a failure is first looked for, and not at every start.
_FAILURE = (
    rb"(?i)error|fail|invalid|\bmust\b|exceed|limit|denied|forbidden|unauthori[sz]ed|timed? ?out|"
    rb"unavailable|overloaded|unsupported|\bgone\b|refused|exception|too many|not found|cannot"
)


def document_of(frame: Frame, out: Collector) -> dict[str, Any] | None:
    """Return the document of ``frame`` for its dialect to read, if it has one.

    End marks, errors and unreadable payloads are the same in every dialect and are
    added to ``out`` here.
    """
    doc, end, line, name, _ = frame
    if doc is DONE:
        out.add_event(Done())
        return None
    if doc is None:
        _unreadable(frame, out)
        return None
    error = upstream_error(doc, name, line, end)
    if error is not None:
        report(error, out)
    return doc if isinstance(doc, dict) else None


def report(error: UpstreamError, out: Collector) -> None:
    """Add an error; if it states a repetition, add the server's verdict instead."""
    if OLLAMA_ABORT in error.message:
        out.add_event(ServerLoop(0, error.message))
    else:
        out.add_event(error)


def is_prose(payload: bytes) -> bool:
    """Return whether a payload that is not JSON is a message for people.

    >>> is_prose(b"Number of choices must be greater than 0."), is_prose(b"{not json")
    (True, False)
    """
    return re.match(_PROSE, payload) is not None


def is_failure(payload: bytes) -> bool:
    """Return whether a payload that is not JSON says that something failed.

    >>> is_failure(b"Number of choices must be greater than 0."), is_failure(b"The sur")
    (True, False)
    """
    return is_prose(payload) and re.search(_FAILURE, payload[:_SHOWN]) is not None


def _unreadable(frame: Frame, out: Collector) -> None:
    _, end, line, name, raw = frame
    if name == "error" or is_failure(raw):
        out.add_event(UpstreamError(raw[:_SHOWN].decode("utf-8", "replace").strip(), line, end))
        return
    shown = raw[:60].decode("utf-8", "replace")
    out.add_fault(f"a data line that is neither JSON nor [DONE]: {shown}", line, end)


def upstream_error(doc: Any, name: str, line: int, end: int) -> UpstreamError | None:
    """Return the error that a document reports."""
    if not isinstance(doc, dict):
        return UpstreamError(str(doc)[:_SHOWN], line, end) if name == "error" else None
    error = doc.get("error")
    if not error and ("error" in (name, doc.get("object"), doc.get("type")) or _detail_only(doc)):
        error = doc
    if not error:
        return None
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return UpstreamError(str(error), line, end)
    kind = string(error.get("type"))
    code = error.get("code") or ("" if kind == "error" else kind) or error.get("status") or ""
    return UpstreamError(_message(error), line, end, str(code))


def _message(error: dict[str, Any]) -> str:
    for key in ("message", "detail", "error", "errorText", "msg"):
        value = error.get(key)
        for item in objects(value)[:1]:  # FastAPI sends a list of complaints
            value = item.get("msg") or item.get("message")
        if value:
            return str(value)
    return "no message"


def _detail_only(doc: dict[str, Any]) -> bool:
    return doc.keys() == {"detail"}


def lone_error(doc: Any, line: int, end: int) -> UpstreamError | None:
    """Return the error in a document that is the whole body; gateways send it without a wrapper.

    >>> lone_error({"message": "no Route matched", "request_id": "a1"}, 1, 10).message
    'no Route matched'
    """
    if not isinstance(doc, dict) or not string(doc.get("message")) or doc.keys() - _FLAT:
        return None
    codes = [doc.get(key) for key in ("code", "status", "statusCode", "status_code")]
    bad = any(isinstance(code, int) and 400 <= code <= 599 for code in codes)
    if bad or "request_id" in doc or doc.get("success") is False:
        code = next((code for code in codes if code), "")
        return UpstreamError(doc["message"], line, end, str(code))
    return None


_FLAT = frozenset(
    (
        *("code", "status", "statusCode", "status_code", "success", "error", "type", "param"),
        *("message", "detail", "details", "data", "path", "timestamp"),
        *("id", "request_id", "requestId"),
    )
)
