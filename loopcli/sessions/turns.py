"""The form of a session that is our own: one line a turn (``--input turns``).

It is for programs that have an agent's turns at hand and no session file, and it
is the form of the doom-loop document's transcripts. Each line is an object:

- a *head*, usually the first line: ``doomLoop`` has the document's options,
  ``tools`` declares tools with their ``loopKey``, ``id`` names the session, each
  optional. Another head begins another session.
- a *turn*: ``text``, ``reasoning``, ``calls`` and ``server`` of one reply, each
  optional. A call has a ``name``, and its arguments as a value (``args``) or as the
  model wrote them (``raw``); ``id`` and ``kind`` may be added. An item of ``server``
  is an output item as the provider sends it. ``results`` answer the calls.
- ``user``, alone or before a reply in the same line: the user spoke.

``agent`` names a subagent. A line may also hold a whole session: a head with its
``turns`` as a list.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel
from loopcli.lenient_json import dump_text, objects, string
from loopcli.session_events import CallKind, SessionOptions
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

_HEAD = {"doomLoop", "tools", "turns"}
_REPLY = {"text", "reasoning", "calls", "server"}
_NO_REPLY = {"user", "results", "agent"}
_KINDS = {kind.value: kind for kind in CallKind}


class Turns(RecordDialect):
    """Reads heads and turns."""

    name = "turns"

    def __init__(self) -> None:
        self._sessions = 0
        self._turns = 0
        # The ids of the calls that the next results answer in turn.
        self._unanswered: list[str] = []

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a line says."""
        if not isinstance(doc, dict):
            return
        first = not (self._sessions or self._turns)
        bare = not {*_REPLY, *_NO_REPLY} & doc.keys()
        if not (_HEAD & doc.keys() or (bare and (first or "id" in doc))):
            self._turn(doc, out)
            return
        self._head(doc, out)
        for turn in objects(doc.get("turns")):
            self._turn(turn, out)

    def _head(self, doc: dict[str, Any], out: SessionCollector) -> None:
        self._sessions += 1
        if self._sessions > 1 or self._turns or doc.get("id"):
            out.start(string(doc.get("id")) or str(self._sessions))
        options = doc.get("doomLoop")
        declared = {string(tool.get("name")): tool.get("loopKey") for tool in _tools(doc)}
        given = options if isinstance(options, dict) else {}
        out.add(SessionOptions(given, declared, out.line, out.byte))

    def _turn(self, doc: dict[str, Any], out: SessionCollector) -> None:
        agent = string(doc.get("agent"))
        self._turns += 1
        if "user" in doc:
            out.user(text_of(doc["user"]), agent)
        if doc.keys() <= _NO_REPLY and doc:
            self._results(doc, agent, out)
            return
        out.messages += 1
        out.begin(agent)
        out.say(doc.get("reasoning"), Channel.REASONING, agent)
        out.say(doc.get("text"), Channel.CONTENT, agent)
        for item in objects(doc.get("server")):
            out.call(item.get("type"), dump_text(item), item.get("id"), agent, CallKind.SERVER)
        self._unanswered = []
        for place, call in enumerate(objects(doc.get("calls"))):
            self._call(call, f"{self._turns}.{place}", agent, out)
        self._results(doc, agent, out)
        out.end(agent)

    def _call(self, call: dict[str, Any], ident: str, agent: str, out: SessionCollector) -> None:
        raw = call.get("raw")
        if not isinstance(raw, str):
            raw = dump_text(call["args"]) if "args" in call else ""
        kind = _KINDS.get(string(call.get("kind")), CallKind.CLIENT)
        ident = string(call.get("id")) or ident
        out.call(call.get("name"), raw, ident, agent, kind)
        if kind is CallKind.CLIENT:
            self._unanswered.append(ident)

    def _results(self, doc: dict[str, Any], agent: str, out: SessionCollector) -> None:
        """Add results; one without an id answers the next call that has none yet."""
        results = doc.get("results")
        for result in results if isinstance(results, list) else ():
            fields = result if isinstance(result, dict) else {"text": result}
            ident = string(fields.get("id"))
            if ident in self._unanswered:
                self._unanswered.remove(ident)
            elif not ident and self._unanswered:
                ident = self._unanswered.pop(0)
            out.result(
                ident,
                text_of(fields.get("text")),
                agent,
                fields.get("is_error") is True,
                fields.get("denied") is True,
            )


def _tools(doc: dict[str, Any]) -> list[dict[str, Any]]:
    return [tool for tool in objects(doc.get("tools")) if isinstance(tool.get("name"), str)]
