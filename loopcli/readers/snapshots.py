"""Distinguishes deltas that hold the whole text so far from deltas that continue it.

Some gateways (DashScope's coding plan, proxies before Gemini) send with each chunk
everything written so far. If such chunks were joined, every reply would read as a
loop. But a filter that removes repeated text would also remove real loops. Rules of
this file:

- A lane counts as growing only after ``_EXTENSIONS`` deltas in a row each held the
  whole text so far and more, and the text is long. From then on only the part that a
  delta adds is judged.
- A delta that equals the one before it is never dropped: it proves that the lane does
  not grow. So does a text that repeats with the length of its first delta, because a
  real loop that is cut at multiples of its period looks the same.
- Doubtful deltas are held back until the question is decided. The first delta is never
  doubtful, and the second decides for nearly every lane.
- The text that a growing delta must begin with is kept as a length and a hash.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopcli.words import word_hash

_EXTENSIONS = 4
_LONG = 100

Piece = tuple[str, int]  # a text, and the byte at which its wire event ended


class Snapshots:
    """Decides for one lane. ``settled`` is true once its deltas are known to be plain.

    >>> growth = Snapshots()
    >>> [growth.take(text, 0) for text in ("Hel", "Hello", " you")]
    [[('Hel', 0)], [], [('Hello', 0), (' you', 0)]]
    >>> growth.settled
    True
    """

    __slots__ = ("_digest", "_first", "_held", "_last", "_size", "settled")

    def __init__(self) -> None:
        self.settled = False
        self._begin("")

    def _begin(self, first: str) -> None:
        self._first = len(first)
        self._last = first
        self._held: list[Piece] = []
        # Length and hash of the text so far, once the lane is known to grow.
        self._size = 0
        self._digest = 0

    def take(self, delta: str, end: int) -> list[Piece]:
        """Return the pieces of text that ``delta``, which is not empty, makes certain."""
        if self.settled:
            return [(delta, end)]
        if self._size:
            return self._grow(delta, end)
        if not self._last:
            self._begin(delta)
            return [(delta, end)]
        if len(delta) <= len(self._last) or not delta.startswith(self._last):
            return self._settle([(delta, end)])
        self._held.append((delta, end))
        self._last = delta
        if len(self._held) < _EXTENSIONS or len(delta) < _LONG:
            return []
        if delta.endswith(delta[: -self._first]):
            return self._settle()
        return self._accept()

    def _settle(self, more: Iterable[Piece] = ()) -> list[Piece]:
        pieces = [*self._held, *more]
        self._begin("")
        self.settled = True
        return pieces

    def _accept(self) -> list[Piece]:
        pieces, known = [], self._first
        for text, end in self._held:
            pieces.append((text[known:], end))
            known = len(text)
        self._remember(self._last)
        self._held, self._last = [], ""
        return pieces

    def _grow(self, delta: str, end: int) -> list[Piece]:
        known = self._size
        if word_hash(delta[:known]) != self._digest:
            # Another text began (a new part, a plain rest): decide again.
            self._begin(delta)
            return [(delta, end)]
        self._remember(delta)
        return [(delta[known:], end)] if len(delta) > known else []

    def _remember(self, text: str) -> None:
        self._size, self._digest = len(text), word_hash(text)

    def close(self) -> list[Piece]:
        """Return what was held back: the text ended before it was known to grow."""
        pieces, self._held = self._held, []
        return pieces
