"""Logs with one step of an agent a line (``agent-steps-jsonl``).

Source: public logs of several frameworks. A step has the text of the reply, in
which each call stands as ``[name({…}) -> result]``, and mostly the calls once
more as ``tool_events``, which are exact where the text is cut short.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from loopcli.events import Channel, Done
from loopcli.lenient_json import objects, parse, string
from loopcli.sessions.base import RecordDialect, text_of
from loopcli.sessions.collector import SessionCollector

_CALL = re.compile(r"\[([A-Za-z_][\w.:-]{0,128})\((?=\{)")
_ARROW = "}) -> "
# A result may have brackets in it; the last before another call, or the end, closes it.
_CLOSE = re.compile(r"\](?=\s{0,8}(?:\[|\Z))")


class _WrittenCall(NamedTuple):
    name: str
    arguments: str
    result: str


class AgentSteps(RecordDialect):
    """Reads steps: each is a round."""

    name = "agent-steps"

    def __init__(self) -> None:
        self._task = ""

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a step says."""
        if not isinstance(doc, dict):
            return
        self._begin(string(doc.get("task")), out)
        text = string(doc.get("text"))
        out.messages += 1
        out.begin("", str(out.messages))
        said, calls = _split(text)
        out.say(said.strip(), Channel.CONTENT)
        events = objects(doc.get("tool_events"))
        if "tool_events" in doc:
            for event in events:
                out.call(event.get("name"), event.get("args"), event.get("id"))
                is_error = event.get("is_error") is True
                out.result(event.get("id"), text_of(event.get("result")), "", is_error)
        else:
            for name, arguments, result in calls:
                out.call(name, arguments if _is_json(arguments) else {"text": arguments})
                out.result("", result, "", doc.get("error") is True)
        out.end()

    def _begin(self, task: str, out: SessionCollector) -> None:
        """Take the task that a step belongs to: another one is another session."""
        if task and task != self._task:
            if self._task:
                out.start(task[:80])
            self._task = task
            out.user(task)

    def close(self, out: SessionCollector) -> None:
        """A log has no end mark: it ends well wherever it ends."""
        out.add(Done())


def _split(text: str) -> tuple[str, list[_WrittenCall]]:
    """Return what the model said in a step, and the calls that stand in it.

    >>> _split('Let me see. [ls({"path": "."}) -> a [b] c]')
    ('Let me see. ', [_WrittenCall(name='ls', arguments='{"path": "."}', result='a [b] c')])
    """
    said: list[str] = []
    calls: list[_WrittenCall] = []
    at = 0
    while (begun := _CALL.search(text, at)) is not None:
        arrow = text.find(_ARROW, begun.end())
        close = _CLOSE.search(text, arrow) if arrow >= 0 else None
        if close is None:
            break
        said.append(text[at : begun.start()])
        arguments = text[begun.end() : arrow + 1]
        calls.append(_WrittenCall(begun[1], arguments, text[arrow + len(_ARROW) : close.start()]))
        at = close.end()
    return "".join((*said, text[at:])), calls


def _is_json(text: str) -> bool:
    try:
        parse(text.encode("utf-8", "replace"))
    except ValueError:
        return False
    return True
