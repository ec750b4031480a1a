"""Replies of Gemini's API as Gemini CLI's tests keep them: one a line, its chunks in a list.

Source: recordings of that project, ``{"method", "response": […]}`` a line. There
are no results in them, and no words of the user.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done
from loopcli.lenient_json import member, objects
from loopcli.sessions.base import RecordDialect
from loopcli.sessions.collector import SessionCollector


class GeminiResponses(RecordDialect):
    """Reads replies: each line is a round."""

    name = "gemini-cli-responses"

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a reply says."""
        response = member(doc, "response")
        chunks = objects(response if isinstance(response, list) else [response])
        if not any("candidates" in chunk for chunk in chunks):
            return  # a count of tokens
        out.messages += 1
        out.begin("", str(out.messages))
        for chunk in chunks:
            candidates = objects(chunk.get("candidates"))
            content = candidates[0].get("content") if candidates else None
            for part in objects(member(content, "parts")):
                channel = Channel.REASONING if part.get("thought") else Channel.CONTENT
                out.delta(part.get("text"), channel)
                call = part.get("functionCall")
                if isinstance(call, dict):
                    out.call(call.get("name"), call.get("args"), call.get("id"))
        out.end()

    def close(self, out: SessionCollector) -> None:
        """A recording has no end mark: it ends well wherever it ends."""
        out.add(Done())
