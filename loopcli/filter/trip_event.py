"""The error that ends a stream in which a rule fired, in the API's own form.

A client of an API understands one form of error, and may take any other for the end of a
good reply. So the form is that of the format that was recognised:

- OpenAI's clients raise for a ``data`` object with a true ``error``, in chat, completions
  and Responses alike. Responses have their own event ``error`` besides, whose figures
  stand beside ``error``.
- Anthropic's raise for an event that is named ``error``.
- Google's raise for an object whose first member is ``error``, by its ``code``.
- Ollama's raise for a line with a text as ``error``.

The official clients of these four are run in tests/real/test_clients.py. The other forms
are those that this package reads itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from loopcli.lenient_json import dump_line
from loopcli.readers.dialects.table import NAMES

# The type of the error, for programs: no provider uses it.
CODE = "model_response_loop"
_DONE = b"data: [DONE]\n\n"


class _Form(NamedTuple):
    """The event's name, if it needs one, its document, and whether ``[DONE]`` follows."""

    event: str
    document: Callable[[str], Any]
    done: bool = False


def _openai(message: str) -> Any:
    return {"error": {"message": message, "type": CODE, "param": None, "code": CODE}}


def _responses(message: str) -> Any:
    own = {"type": "error", "code": CODE, "message": message, "param": None}
    return {**own, **_openai(message)}


def _anthropic(message: str) -> Any:
    return {"type": "error", "error": {"type": CODE, "message": message}}


def _google(message: str) -> Any:
    return {"error": {"code": 500, "message": message, "status": CODE}}


def _interactions(message: str) -> Any:
    return {"event_type": "error", "error": {"code": CODE, "message": message}}


def _text(message: str) -> Any:
    return {"error": message}


_OPENAI = _Form("", _openai, done=True)
_FORMS = {
    "responses": _Form("error", _responses),
    "anthropic": _Form("error", _anthropic),
    "lmstudio": _Form("error", _anthropic),
    "gemini": _Form("", _google),
    "interactions": _Form("error", _interactions),
    "ollama": _Form("", _text),
    "tgi": _Form("", lambda message: {"error": message, "error_type": CODE}),
    "vercel": _Form("", lambda message: {"type": "error", "errorText": message}, done=True),
    "agui": _Form("", lambda message: {"type": "RUN_ERROR", "message": message, "code": CODE}),
    "dify": _Form(
        "error",
        lambda message: {"event": "error", "status": 500, "code": CODE, "message": message},
    ),
    "dashscope": _Form("error", lambda message: {"code": CODE, "message": message}),
}


def trip_event(name: str, framing: str, message: str) -> bytes | None:
    """Return the event or line that ends a stream of a format, or ``None`` if it can have none.

    >>> trip_event("ollama", "ndjson", "It loops.")
    b'{"error":"It loops."}\\n'
    >>> trip_event("text", "text", "It loops.")
    """
    if name not in NAMES or framing not in ("sse", "ndjson"):
        return None
    form = _FORMS.get(name, _OPENAI)
    data = dump_line(form.document(message))
    if framing == "sse":
        head = f"event: {form.event}\n".encode() if form.event else b""
        return head + b"data: " + data + b"\n\n" + (_DONE if form.done else b"")
    if name == "vercel":  # numbered parts instead of objects
        data = b"3:" + dump_line(message)
    return data + b"\n"
