"""SWE-agent: trajectories, one document each.

Source: two demonstration trajectories of the project, with and without function
calls. ``trajectory`` (steps) and ``history`` (messages) hold the same replies;
whichever comes first in the document is read. A step's tool is the first word
of its action, as the agent's commands are its tools.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel
from loopcli.lenient_json import objects, string
from loopcli.sessions.base import text_of
from loopcli.sessions.collector import SessionCollector
from loopcli.sessions.messages import MessageList


class SweAgent(MessageList):
    """Reads the steps or the messages of a trajectory."""

    name = "swe-agent"

    def __init__(self) -> None:
        super().__init__()
        self._list = ""

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what a step or a message says."""
        if name not in ("trajectory", "history") or not isinstance(doc, dict):
            return
        self._list = self._list or name
        if name != self._list or doc.get("is_demo"):
            return
        if name == "trajectory":
            self._step(doc, out)
        elif "action" in doc and not objects(doc.get("tool_calls")):
            self._step({**doc, "response": doc.get("content")}, out)
            self._asked = True
        else:
            self._message(doc, out)

    def end_document(self, out: SessionCollector) -> None:
        """Forget which of its lists a document is read by."""
        self._list = ""

    def _step(self, step: dict[str, Any], out: SessionCollector) -> None:
        out.messages += 1
        out.begin("", f"step {out.messages}")
        action = string(step.get("action"))
        out.say(step.get("thought") or step.get("response"), Channel.CONTENT)
        words = action.split(None, 1)
        if words:
            out.call(words[0], {"command": action})
        out.end()
        if "observation" in step and words:
            out.result("", text_of(step["observation"]))
