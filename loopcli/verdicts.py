"""What rules state: a verdict when one fires, a peak at any time.

And ``Label``, which a person gives to a recorded reply and verdicts are compared with.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from loopcli.events import Channel, Lane

REPETITION = "repetition"
LENGTH = "length"


class Label(StrEnum):
    """What a recorded reply is known to be. ``None`` in its place means: not known."""

    CLEAN = "clean"
    LOOP = "loop"


class Verdict(NamedTuple):
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
    facts: Mapping[str, int | str] = MappingProxyType({})
    lane: Lane = Lane()

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON."""
        plain = {"facts": dict(self.facts), "lane": self.lane._asdict()}
        return self._asdict() | plain | {"repeated": list(self.repeated)}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """Return the verdict that ``to_json`` wrote."""
        lane = Lane(**state["lane"] | {"channel": Channel(state["lane"]["channel"])})
        return cls(**dict(state) | {"repeated": tuple(state["repeated"]), "lane": lane})


class Peak(NamedTuple):
    """The highest a gauge has been, and where that stretch began (see ``Verdict``).

    ``ceiling`` is the one of that stretch, where a rule has several and not
    the one that ``Rule.ceiling`` always gives; the highest is then the stretch
    that came nearest to its own.
    """

    value: int = 0
    word: int | None = None
    char: int | None = None
    repeated: tuple[str, ...] = ()
    ceiling: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the peak as plain JSON."""
        return self._asdict() | {"repeated": list(self.repeated)}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """Return the peak that ``to_json`` wrote."""
        return cls(**dict(state) | {"repeated": tuple(state["repeated"])})


class Region(NamedTuple):
    """A stretch that reached its ceiling, as far as it has come.

    ``unit`` stands there ``copies`` times in full, each of ``period`` characters;
    ``copied`` is the gauge. ``onset_char`` characters came before its first copy
    and ``end_char`` before what followed it. ``ended`` says whether the reply has
    gone on with something else since.
    """

    kind: str
    unit: str
    period: int
    copies: int
    copied: int
    ceiling: int
    onset_char: int
    end_char: int
    ended: bool


def share(gauge: int, ceiling: int) -> float:
    """Return a gauge as a fraction of its ceiling; a ceiling of 0 is reached at once.

    >>> share(750, 3000), share(0, 0), share(1, 0)
    (0.25, 0.0, 1.0)
    """
    return gauge / ceiling if ceiling else float(gauge > 0)
