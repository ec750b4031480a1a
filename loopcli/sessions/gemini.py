"""Gemini CLI: its session files, and what ``--output-format stream-json`` prints.

Source: recordings of version 0.61, and the program's own types of records.
Rules of this file:

- In a file a reply is written twice under one id, without its calls and with
  them, and ``$set`` may write the whole list again: what has been read of a
  record is not read again.
- The result of a call stands with the call, and once more in a record of the
  user: only the former counts. Its ``resultDisplay`` is the tool's output;
  ``result`` has the number of a process group in it.
- In the stream the text comes in deltas. When the connection breaks, the
  program asks again after 1, 2 and 4 seconds and prints the new reply from its
  beginning, unmarked. Deltas that begin the reply again after such a pause are
  taken for that; a model that loops writes on without a pause.
- The program may stop itself for a loop, wrongly sometimes: that is reported,
  and is no verdict of ours.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Meta, Note, UpstreamError, Usage
from loopcli.lenient_json import member, objects, string
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

# Texts that the program writes in the user's name.
_PROGRAM = ("<session_context>", "System: Potential loop detected")
_MAX_RECENT = 64 * 1024
# The program tries four times, and waits at least a second before each of the last three.
_RETRIES = 3
_PAUSE_MS = 900
_DAY_MS = 24 * 60 * 60 * 1000
# Of a reply, what is kept to recognise its beginning by.
_MAX_SAID = 256 * 1024


class GeminiStream(RecordDialect):
    """Reads what the program prints as it runs."""

    name = "gemini-cli-stream-json"

    def __init__(self) -> None:
        self._said: list[str] = []
        self._size = 0
        self._at = -1
        self._retries = 0
        self._speaking = False

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what an event says."""
        kind = member(doc, "type")
        if kind == "message":
            self._message(doc, out)
        elif kind == "tool_use":
            out.begin()
            self._stop_speaking()
            out.call(doc.get("tool_name"), doc.get("parameters"), doc.get("tool_id"))
        elif kind == "tool_result":
            self._stop_speaking()
            out.end()
            is_error = doc.get("status") == "error"
            refused = member(doc, "error", "type") == "policy_violation"
            text = text_of(doc.get("output") or member(doc, "error", "message"))
            out.result(doc.get("tool_id"), text, "", is_error, is_error and refused)
        elif kind == "init":
            out.add(Meta(string(doc.get("session_id")), string(doc.get("model"))))
        elif kind == "error":
            out.add(Note(f"Gemini CLI: {string(doc.get('message'))}"))
        elif kind == "result":
            self._end(doc, out)

    def _end(self, doc: dict[str, Any], out: SessionCollector) -> None:
        self._stop_speaking()
        out.end()
        stats = doc.get("stats")
        if isinstance(stats, dict):
            out.add(Usage(stats))
        if doc.get("status") == "error":
            message = string(member(doc, "error", "message")) or "the session failed"
            out.add(UpstreamError(message, out.line, out.byte))
        out.add(Done())

    def _message(self, doc: dict[str, Any], out: SessionCollector) -> None:
        text = doc.get("content")
        if not isinstance(text, str):
            return
        if doc.get("role") == "user":
            self._stop_speaking()
            out.user(text)
            return
        at = _milliseconds(doc.get("timestamp"))
        if not self._speaking:
            self._speaking = True
            self._retries = 0
            self._forget()
            out.begin()
            out.messages += 1
        elif self._begins_again(text, at):
            self._retries += 1
            self._forget()
            out.restart()
        self._at = at
        if self._size < _MAX_SAID:
            self._said.append(text)
            self._size += len(text)
        out.delta(text, Channel.CONTENT)

    def _begins_again(self, text: str, at: int) -> bool:
        """Return whether a delta is the first of another attempt at the same reply."""
        if self._retries >= _RETRIES or self._at < 0 or at < 0:
            return False
        # A clock that was set back shows a pause of almost a day.
        if not _PAUSE_MS <= (at - self._at) % _DAY_MS < _DAY_MS // 2:
            return False
        said = "".join(self._said)
        return bool(text) and (said.startswith(text) or text.startswith(said))

    def _forget(self) -> None:
        self._said, self._size = [], 0

    def _stop_speaking(self) -> None:
        self._speaking = False


def _milliseconds(stamp: Any) -> int:
    """Return the time of day in an ISO 8601 time stamp; -1 if it is none.

    >>> _milliseconds("2030-01-31T00:01:02.345Z")
    62345
    """
    clock = string(stamp)[11:23]
    digits = clock.replace(":", "").replace(".", "")
    if len(clock) != 12 or len(digits) != 9 or not (digits.isascii() and digits.isdigit()):
        return -1
    hours, minutes, rest = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    return (hours * 60 + minutes) * 60_000 + rest


class GeminiSession(RecordDialect):
    """Reads the files under ``~/.gemini/tmp/PROJECT/chats``."""

    name = "gemini-cli-session"

    def __init__(self) -> None:
        # Of a reply, by its id: how many characters, thoughts and calls have been read.
        self._read: dict[str, tuple[int, int, int]] = {}
        self._session = ""

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a record says."""
        if not isinstance(doc, dict):
            return
        patch = doc.get("$set")
        for record in objects(member(patch, "messages")):
            self._record(record, out)
        if "type" in doc:
            self._record(doc, out)
        elif "sessionId" in doc:
            self._head(string(doc.get("sessionId")), out)

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what a member of the older files says, which are one document."""
        if name == "sessionId":
            self._head(string(doc), out)
        elif name == "messages" and isinstance(doc, dict):
            self._record(doc, out)

    def close(self, out: SessionCollector) -> None:
        """A file has no end mark: it ends well wherever it ends."""
        out.add(Done())

    def _head(self, session: str, out: SessionCollector) -> None:
        if session != self._session:
            self._session = session
            out.add(Meta(session))

    def _record(self, record: dict[str, Any], out: SessionCollector) -> None:
        ident = string(record.get("id"))
        kind = record.get("type")
        if kind == "gemini":
            self._reply(record, ident, out)
        elif kind == "user" and not (ident and ident in self._read):
            self._remember(ident, (0, 0, 0))
            text = text_of(_texts(record.get("content")))
            if text and not text.startswith(_PROGRAM):
                out.user(text)

    def _reply(self, record: dict[str, Any], ident: str, out: SessionCollector) -> None:
        known = bool(ident) and ident in self._read
        said, thought, called = self._read[ident] if known else (0, 0, 0)
        text = text_of(_texts(record.get("content")))
        thoughts, calls = objects(record.get("thoughts")), objects(record.get("toolCalls"))
        if not known:
            out.messages += 1
        elif len(text) <= said and len(thoughts) <= thought and len(calls) <= called:
            return
        out.begin("", ident or str(out.messages))
        for note in thoughts[thought:]:
            parts = string(note.get("subject")), string(note.get("description"))
            out.say("\n".join(filter(None, parts)), Channel.REASONING)
        out.say(text[said:], Channel.CONTENT)
        for call in calls[called:]:
            out.call(call.get("name"), call.get("args"), call.get("id"))
        for call in calls[called:]:
            self._result(call, out)
        if calls:
            out.end()
        self._remember(ident, (max(said, len(text)), len(thoughts), len(calls)))

    def _result(self, call: dict[str, Any], out: SessionCollector) -> None:
        status, shown = call.get("status"), call.get("resultDisplay")
        if call.get("result") is None and not shown:
            return
        text = shown if isinstance(shown, str) else text_of(call.get("result"))
        is_error = status in ("error", "cancelled")
        denied = status == "cancelled" or (is_error and text.startswith("Tool execution blocked"))
        out.result(call.get("id"), text, "", is_error, denied)

    def _remember(self, ident: str, read: tuple[int, int, int]) -> None:
        if len(self._read) >= _MAX_RECENT and ident not in self._read:
            del self._read[next(iter(self._read))]
        self._read[ident] = read


def _texts(content: Any) -> Any:
    """Return the texts of a record's content, which may be parts of any kind."""
    if not isinstance(content, list):
        return content
    return [part["text"] for part in objects(content) if isinstance(part.get("text"), str)]
