"""Plain text: the bytes are the reply."""

from __future__ import annotations

from bisect import bisect_left
from codecs import utf_8_decode

from loopcli.events import Event, Lane, Text
from loopcli.readers.base import START, Origin
from loopcli.signatures import BOM


class TextMarks:
    """Marks of a text that was decoded from ``raw``, which is at byte ``base`` of the input."""

    __slots__ = ("_base", "_raw")

    def __init__(self, raw: bytes, base: int) -> None:
        self._raw = raw
        self._base = base

    def byte_after(self, chars: int) -> int:
        """Return the byte after character number ``chars``; a bad sequence is one character."""
        raw = self._raw

        def decoded(size: int) -> int:
            return len(utf_8_decode(raw[:size], "replace", False)[0])

        size = bisect_left(range(len(raw) + 1), chars, key=decoded)
        text, at = utf_8_decode(raw[: size - 1], "replace", False)
        # The last byte, or the end of the input, produced at least one character. A
        # bad byte turns each byte that was held back before it into a character.
        missing = chars - len(text)
        while missing:
            try:
                valid, _ = utf_8_decode(raw[at:size], "strict", True)
                at, missing = at + len(valid[:missing].encode()), 0
            except UnicodeDecodeError as error:
                at, missing = at + error.end, missing - 1
        return self._base + at


class TextReader:
    """Reads UTF-8, cut anywhere; bytes that are not UTF-8 are judged as U+FFFD."""

    name = "text"
    framing = "text"

    def __init__(self, origin: Origin = START) -> None:
        self.progress = 0
        self._lane = Lane()
        self._rest = b""
        self._at = origin.byte
        self._begun = False

    def feed(self, data: bytes) -> list[Event]:
        """Return the text that ``data`` completes."""
        return self._decode(data, final=False)

    def close(self) -> list[Event]:
        """Return what is left: the bytes of an incomplete character."""
        return self._decode(b"", final=True)

    def _decode(self, data: bytes, *, final: bool) -> list[Event]:
        raw = self._rest + data
        if not self._begun and (final or len(raw) >= len(BOM) or not BOM.startswith(raw)):
            self._begun = True
            if raw.startswith(BOM):
                self._at += len(BOM)
                raw = raw[len(BOM) :]
        if not self._begun:
            self._rest = raw
            return []
        text, used = utf_8_decode(raw, "replace", final)
        base, self._at, self._rest = self._at, self._at + used, raw[used:]
        if not text:
            return []
        self.progress += 1
        return [Text(self._lane, text, TextMarks(raw[:used], base))]
