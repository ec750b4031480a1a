"""The end of a long text, and the line on which a place in it stands."""

from __future__ import annotations

from collections import deque

# How much text is kept to tell at which line a stretch began.
KEPT_CHARS = 4 * 1024 * 1024


class RecentText:
    """The last pieces of a text, and how many lines came before them."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._breaks: deque[int] = deque()  # line breaks in the first of them, as far as counted
        self._first = 0  # characters before the first piece that is kept
        self._end = 0
        self._lines = 0  # line breaks before it

    def take(self, piece: str) -> None:
        """Add a piece, and let go of those that have become too old."""
        self._pieces.append(piece)
        self._end += len(piece)
        while self._end - self._first > KEPT_CHARS and len(self._pieces) > 1:
            old = self._pieces.popleft()
            self._first += len(old)
            self._lines += self._breaks.popleft() if self._breaks else old.count("\n")

    def line(self, char: int) -> int | None:
        """Return the line that holds the character after the first ``char``; lines count from 1.

        ``None`` if it came too long ago: then an unbroken stretch of millions
        of characters has had to overtake another.
        """
        if char < self._first:
            return None
        line, left = self._lines + 1, char - self._first
        for at, piece in enumerate(self._pieces):
            if left <= len(piece):
                return line + piece.count("\n", 0, left)
            left -= len(piece)
            if at == len(self._breaks):
                self._breaks.append(piece.count("\n"))
            line += self._breaks[at]
        return line
