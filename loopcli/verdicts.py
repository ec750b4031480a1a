"""What rules state: a verdict when one fires, a peak at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopcli.events import Lane

REPETITION = "repetition"
LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule fired. Everything in it is the same however the bytes were cut.

    ``words`` and ``chars`` are the completed words and the characters of the
    lane when the rule fired; ``offset`` is how many characters of the event
    that was being judged had been consumed. ``onset_word`` and ``onset_char``
    count what came before the stretch that fired: ``text[onset_char:]`` is
    where it starts. ``ceiling`` is the one that applied. ``facts`` are the
    rule's own figures, plain JSON.
    """

    rule: str
    kind: str
    message: str
    words: int
    chars: int
    offset: int
    gauge: int
    ceiling: int
    onset_word: int | None = None
    onset_char: int | None = None
    repeated: tuple[str, ...] = ()
    facts: Mapping[str, int | str] = field(default_factory=dict)
    lane: Lane = Lane()


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest a gauge has been, and where that stretch began (see ``Verdict``)."""

    value: int = 0
    word: int | None = None
    char: int | None = None
    repeated: tuple[str, ...] = ()
