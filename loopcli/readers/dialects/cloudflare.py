"""Cloudflare Workers AI: ``response`` an event, or one answer in ``result``.

Source: Cloudflare's documentation; no recording. Rules: ``response`` is the text, ``p`` is
padding. Tool calls come whole. The stream ends with ``[DONE]``; a whole answer stands in
``result``, beside ``success`` and ``errors``.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done, Lane, UpstreamError
from loopcli.lenient_json import objects, string
from loopcli.readers.base import Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import LoneDelta, ProviderDialect
from loopcli.readers.errors import report

_CONTENT = Lane(Channel.CONTENT)
_ALONE = frozenset({"response", "p"})


class CloudflareDialect(ProviderDialect):
    """Understands the documents of text generation on Workers AI."""

    name = "cloudflare"

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a document with nothing else but padding."""
        if doc.keys() - _ALONE:
            return None
        return self._targets["response"], doc, "response"

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        for error in objects(doc.get("errors")):
            message = string(error.get("message")) or "no message"
            report(UpstreamError(message, frame[2], frame[1], str(error.get("code") or "")), out)
        result = doc.get("result")
        answer = result if isinstance(result, dict) else doc
        self._know("response", _CONTENT)
        out.add_member(_CONTENT, answer.get("response"), frame[1])
        for call in objects(answer.get("tool_calls")):
            place = len(self._calls.places(0))
            name, ident = string(call.get("name")), string(call.get("id"))
            self._calls.open(out, 0, place, name, ident, frame[1])
            self._calls.add_whole(out, 0, place, call.get("arguments"), frame[1])
        usage = answer.get("usage")
        if isinstance(usage, dict) and usage:
            out.add_usage(usage, frame[1])
        if answer is result:
            out.add_event(Done())
