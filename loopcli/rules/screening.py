"""What a screen is: something that knows which parts of a long text need no look.

Only a replay has one, so nothing here is imported when a pipeline starts.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple, Protocol


class Stretch(NamedTuple):
    """A part of a text: ``words`` that nobody need look at, or ``None`` for a look at each.

    Of what need not be looked at, ``recent`` is the text of the last words, as
    many as a window holds or all that there have been, and ``pending`` the
    unfinished word at its end.
    """

    chars: int
    words: int | None
    recent: str
    pending: str


class StretchScreen(Protocol):
    """Finds the stretches of a text that cannot leave a window saturated."""

    def __call__(self, pending: str, text: str, first: bool, /) -> Sequence[Stretch] | None:
        """Return the stretches of ``text`` in order; ``None`` if it is to be looked at as a whole.

        ``pending`` is the unfinished word before it; ``first`` tells that no
        word was complete before. What is to be looked at goes on for at least
        one word after the last that may leave the window saturated.
        """


class Places(NamedTuple):
    """Where the two searches of the period rule may find something; elsewhere they do not."""

    exact: Set[int]
    counters: Set[int]


class CopyScreen(Protocol):
    """Finds the places of a text at which what stands before may have stood there already."""

    def __call__(self, behind: str, text: str, at: int, /) -> Places | None:
        """Return the places in ``text``; ``None`` if all have to be searched.

        ``at`` characters came before it, the last of which are ``behind``: it is as
        long as any search reaches, or all that there has been.
        """
