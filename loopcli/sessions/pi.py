"""Sessions of the pi agent: a record a line.

Source: a public session of 453 replies. A record of type ``message`` is a
message of the user or of the model, or a result; other records are notes.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Meta
from loopcli.lenient_json import member, string
from loopcli.sessions.base import Recent, RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

# Records remembered by their id: a fork copies those before it.
_MAX_RECENT = 128 * 1024


class PiSession(RecordDialect):
    """Reads the session files of pi."""

    name = "pi-session"

    def __init__(self) -> None:
        self._seen = Recent(_MAX_RECENT)
        self._session = ""

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a record says."""
        if not isinstance(doc, dict):
            return
        message = doc.get("message")
        if doc.get("type") == "session":
            self._begin(string(doc.get("id")), out)
        elif doc.get("type") == "message" and isinstance(message, dict):
            ident = doc.get("id")
            if not (isinstance(ident, str) and self._seen.seen(ident)):
                self._message(message, out)

    def _begin(self, session: str, out: SessionCollector) -> None:
        if self._session and session != self._session:
            out.start(session)
        self._session = session
        out.add(Meta(session))

    def _message(self, message: dict[str, Any], out: SessionCollector) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "toolResult":
            is_error = message.get("isError") is True
            out.result(message.get("toolCallId"), text_of(content), "", is_error)
        elif role == "user":
            out.user(text_of(content))
        elif role == "assistant":
            out.messages += 1
            out.begin("", str(out.messages))
            if isinstance(content, str):
                out.say(content, Channel.CONTENT)
            for block in content if isinstance(content, list) else ():
                self._block(block, out)
            out.end()

    def _block(self, block: Any, out: SessionCollector) -> None:
        kind = member(block, "type")
        if kind == "text":
            out.say(block.get("text"), Channel.CONTENT)
        elif kind == "thinking":
            out.say(block.get("thinking"), Channel.REASONING)
        elif kind == "toolCall":
            out.call(block.get("name"), block.get("arguments"), block.get("id"))

    def close(self, out: SessionCollector) -> None:
        """A file has no end mark: it ends well wherever it ends."""
        out.add(Done())
