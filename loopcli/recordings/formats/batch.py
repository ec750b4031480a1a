"""Results of batch jobs: one exchange a line, with the body of the answer in it.

OpenAI: ``{"custom_id", "response": {"status_code", "body"}, "error"}``.
Anthropic: ``{"custom_id", "result": {"type", "message"}}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.recordings.base import Defect, Item, marked
from loopcli.recordings.formats import bodies
from loopcli.status import Status


def claims(doc: object) -> bool:
    """Return whether ``doc`` is a line of a batch's results."""
    return (
        isinstance(doc, dict)
        and "custom_id" in doc
        and any(isinstance(doc.get(name), dict) for name in ("response", "result", "error"))
    )


def replies(doc: dict[str, Any]) -> Iterator[Item]:
    """Yield the replies in one line."""
    for outcome in (doc.get("response"), doc.get("result")):
        if isinstance(outcome, dict):
            answer = outcome.get("body") or outcome.get("message")
            # A failed request to Anthropic has an error in place of the message.
            failure = {"error": outcome["error"]} if outcome.get("error") else None
            yield from marked(bodies.replies(answer or failure), doc)
    error = doc.get("error")
    if isinstance(error, dict):
        yield Defect(str(error.get("message") or error), status=Status.UPSTREAM)
