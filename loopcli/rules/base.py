"""The shape of a rule, and how one is armed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from loopcli.errors import ConfigError
from loopcli.events import Channel, Event
from loopcli.ladder import count
from loopcli.verdicts import Peak, Region, Verdict

if TYPE_CHECKING:
    from loopcli.session_verdicts import Reading, Uncounted

# The ``quiet`` of a rule that has stopped: more characters than come.
FOREVER = 1 << 62


class Rule(Protocol):
    """Watches one lane of one reply and fires at most once.

    ``gauge`` is what it measures now, ``peak`` the highest that has been,
    ``ceiling`` where it fires. A tripped rule stays tripped and inert, unless
    it was asked to measure past its trip. A fresh object per attempt.
    """

    name: str
    verdict: Verdict | None

    @property
    def words(self) -> int:
        """The complete words judged so far (see ``loopcli.words``)."""

    @property
    def chars(self) -> int:
        """The characters judged so far."""

    @property
    def gauge(self) -> int:
        """What the rule measures now."""

    @property
    def ceiling(self) -> int:
        """The gauge at which the rule fires, for what it measures now."""

    @property
    def peak(self) -> Peak:
        """The highest the gauge has been."""

    @property
    def regions(self) -> Sequence[Region]:
        """The stretches that reached their ceiling, of a rule that knows where one ends."""

    def update(self, event: Event) -> Verdict | None:
        """Judge one event; return the verdict from the moment the rule fires on."""

    @property
    def quiet(self) -> int:
        """The number of further characters within which the rule cannot fire."""

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""


class SessionRule(Protocol):
    """Watches a whole session, each agent by itself, and counts what comes again.

    It states nothing by itself: a ladder decides what follows from its readings
    (see ``loopcli.session_verdicts``). It never stops counting. ``gauge`` is the
    highest streak of the last round, ``peak`` the highest there has been, and
    ``ceiling`` the streak that is too much.
    """

    name: str
    gauge: int
    peak: Peak

    @property
    def ceiling(self) -> int:
        """The streak at which something follows."""

    def update(self, event: Event) -> Sequence[Reading | Uncounted]:
        """Take note of an event; return the readings of the round that it ends."""

    def warnings(self, agent: str) -> Sequence[str]:
        """Return what went wrong in the agent's last round, without a failure."""

    def options(self) -> Mapping[str, Any]:
        """Return the options in force that the document has for this rule."""

    def document(self, agent: str) -> dict[str, Any]:
        """Return this rule's members of the state that the document's engine saves."""

    def restore_document(self, agent: str, state: Mapping[str, Any]) -> None:
        """Take over such a state; what is odd in it is left out."""

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned.

        Raises ``KeyError``, ``TypeError``, ``ValueError`` or ``AttributeError`` for another.
        """


def saved_peak(state: Mapping[str, Any]) -> Peak:
    """Return the peak of a session rule from a state that somebody may have changed."""
    ceiling, names = count(state["ceiling"]), tuple(map(str, state["repeated"]))
    return Peak(count(state["value"]), repeated=names, ceiling=ceiling or None)


class Armed(NamedTuple):
    """A rule that is to watch every lane of ``channels``; ``make`` builds a fresh one."""

    make: Callable[[], Rule]
    channels: frozenset[Channel]


class RuleConfig(Protocol):
    """A rule's configuration: a named tuple of whole numbers, one for each knob."""

    @property
    def lowest(self) -> int:
        """The lowest ceiling that these knobs allow: what a reply without a peak is held to."""

    def __iter__(self) -> Iterator[int]:
        """Yield the values."""

    def _asdict(self) -> dict[str, int]: ...


def refuse_zeros(config: RuleConfig, but: Container[str] = ()) -> None:
    """Refuse knobs under which every reply would be a loop; 0 means something for those in ``but``.

    >>> from loopcli.rules.novelty.config import NoveltyConfig
    >>> refuse_zeros(NoveltyConfig(novelty_words=0))
    Traceback (most recent call last):
    loopcli.errors.ConfigError: novelty_words cannot be 0
    """
    if min(config) > 0:
        return
    values = config._asdict()
    defects = [f"{name} cannot be 0" for name in values if values[name] < 1 and name not in but]
    if defects:
        raise ConfigError(*defects)
