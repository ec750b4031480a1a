"""What the dialects of sessions share: their shape, and how to read what many of them have."""

from __future__ import annotations

from typing import Any, Protocol

from loopcli.lenient_json import dump_text
from loopcli.sessions.collector import SessionCollector


class SessionDialect(Protocol):
    """Knows what the records of one program, or of one format, mean.

    A dialect never raises, whatever a document holds, and its state is capped.
    """

    @property
    def name(self) -> str:
        """The format, as ``--input`` and the report call it."""

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a record says: a line, or an item of the array that the input is."""

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Add what a member of the object says that the input is, or an item of that member."""

    def end_document(self, out: SessionCollector) -> None:
        """Take note that the object has ended that the input, or a line of it, is."""

    def close(self, out: SessionCollector) -> None:
        """Add what only the end of the input makes certain."""


class RecordDialect:
    """A dialect that has records only: lines, or items of one array."""

    def member(self, name: str, doc: Any, out: SessionCollector) -> None:
        """Ignore the members of an object that should have been a line."""

    def end_document(self, out: SessionCollector) -> None:
        """Nothing hangs on the end of such an object either."""

    def close(self, out: SessionCollector) -> None:
        """The collector ends the rounds that are open."""


def text_of(content: Any) -> str:
    """Return the text of a message or of a result: a text, blocks with texts, or any document.

    Blocks of other kinds leave a mark, so that two pictures are not equal to none.

    >>> text_of([{"type": "text", "text": "one"}, {"type": "image", "source": {}}, "two"])
    'one\\n[image]\\ntwo'
    >>> text_of({"output": "x"}), text_of(None)
    ('{"output":"x"}', '')
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(_block_text, content))
    return "" if content is None else dump_text(content)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        text = block.get("text")
        if isinstance(text, str):
            return text
        kind = block.get("type")
        if isinstance(kind, str) and kind != "text":
            return f"[{kind}]"
    return dump_text(block)


class Recent:
    """A set that forgets: the last ``size`` members, or up to twice as many.

    >>> recent = Recent(2)
    >>> [recent.seen(name) for name in "abacda"]
    [False, False, True, False, False, True]
    """

    __slots__ = ("_new", "_old", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._new: set[str] = set()
        self._old: set[str] = set()

    def seen(self, name: str) -> bool:
        """Return whether ``name`` is a member, and make it one."""
        if name in self._new or name in self._old:
            return True
        if len(self._new) >= self._size:
            self._old, self._new = self._new, set()
        self._new.add(name)
        return False
