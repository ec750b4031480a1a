"""Parses a document that differs from an earlier one only in its text, by parsing that text.

The documents of a stream are often alike to the last byte but for the delta: the same
id, the same model, the same empty fields. Theory of operation:

- A dialect parses a document, understands that it holds one delta and nothing else,
  and names the place of the text (``learn``). The template then keeps the bytes before
  and after that text.
- A later document with the same bytes around a JSON string has the same meaning with
  another text, because exchanging one JSON string for another changes nothing outside
  it. So ``loads`` parses the string alone, which takes a fifth of the time.
- That the bytes do enclose this text, and not an equal one elsewhere in the document, is
  proved once, when it is learned: the document is parsed again with another text there.
- In some streams no two documents are alike (a random pad, a counter). There the search
  for a template pauses for longer and longer, up to ``_LONGEST_PAUSE`` documents.

A hit is returned as a ``Delta``, so that a document that is only a string is not taken for one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import orjson

from loopcli.events import Lane
from loopcli.readers.calls import Call

# The place of a delta: text of a lane, or arguments of a tool call.
Target = Lane | Call

_PROBE = "\0probe"
_LONGEST_PAUSE = 255
# The `wait` of a template that is to learn nothing: more documents than come.
NEVER = 1 << 62


def load_document(raw: bytes) -> Any:
    """Return the document in ``raw``; raises ``ValueError`` for null and for no JSON."""
    doc = orjson.loads(raw)
    if doc is None:
        raise ValueError("not a document")
    return doc


@cache
def _string_member(key: str) -> re.Pattern[bytes]:
    return re.compile(rb'"%b"\s*:\s*("(?:[^"\\]|\\.)*")' % key.encode(), re.DOTALL)


class Delta(str):
    """The text of a document that is like the one that was learned."""

    __slots__ = ()


class Template:
    """Stands in for ``load_document``; returns only the text of a document that it knows.

    ``target`` is where that text belongs.

    >>> template = Template()
    >>> doc = template.loads(b'{"choices":[{"index":0,"delta":{"content":"a"}}]}')
    >>> template.learn(doc, doc["choices"][0]["delta"], "content", Lane())
    >>> template.loads(b'{"choices":[{"index":0,"delta":{"content":"b"}}]}')
    'b'
    """

    __slots__ = ("_head", "_hit", "_pause", "_raw", "_tail", "target", "wait")

    def __init__(self) -> None:
        self.target: Target = Lane()
        self._raw = b""
        self._hit = True
        self.wait = self._pause = 0
        self.forget()

    def forget(self) -> None:
        """Forget the document that was learned, because its target is no longer valid."""
        self._head = self._tail = b"\0"  # no document begins with this

    def loads(self, raw: bytes) -> Any:
        """Return the text of a known document, or the document; raises ``ValueError``."""
        head, tail = self._head, self._tail
        if raw.startswith(head) and raw.endswith(tail):
            try:
                text = orjson.loads(raw[len(head) : len(raw) - len(tail)])
            except ValueError:
                pass
            else:
                if text.__class__ is str:
                    self._hit = True
                    return Delta(text)
        self._raw = raw
        doc = orjson.loads(raw)  # `load_document`, without another call
        if doc is None:
            raise ValueError("not a document")
        return doc

    def learn(self, doc: dict[str, Any], holder: dict[str, Any], key: str, target: Target) -> None:
        """Learn the document that ``loads`` returned last; ``holder[key]`` in it is the text.

        Call it only while ``wait`` is 0; otherwise count that down.
        """
        self._pause = 0 if self._hit else min(2 * self._pause + 1, _LONGEST_PAUSE)
        self.wait, self._hit = self._pause, False
        text = _string_member(key).search(self._raw)
        if text is None:
            return
        head, tail = self._raw[: text.start(1)], self._raw[text.end(1) :]
        original, holder[key] = holder[key], _PROBE
        try:
            same = orjson.loads(head + orjson.dumps(_PROBE) + tail) == doc
        except (ValueError, RecursionError):  # not of a kind that many chunks are
            same = False
        finally:
            holder[key] = original
        if same:
            self._head, self._tail, self.target = head, tail, target
