"""What a rule states about itself, once: everything that a command, a report or a test asks.

Each folder of ``rules`` holds one ``RuleEntry`` in its ``entry.py``, and
``rules.table`` lists them. No field has a default: an entry that leaves one out
fails when it is imported. Entries are imported at every start, so they import
no more than the configuration; what loads the rule itself is a function.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from loopcli.events import Channel
from loopcli.rules.base import RuleConfig
from loopcli.wording import kebab

U32 = 2**32 - 1
U64 = 2**64 - 1

# How a message spells a knob: a function of its name.
Spelling = Callable[[str], str]


class Judged(StrEnum):
    """The events that a rule judges, hence what may hand it any."""

    TEXT = "text"  # what the model writes into the lanes of one reply
    SESSION = "session"  # an agent's turns: calls, their results, rounds


class Knob(NamedTuple):
    """One number of a rule.

    ``argument`` stands for the number in a synopsis, ``heading`` names it at the
    head of a table's column, and ``zero`` says why 0 is refused (empty: 0 means
    something).
    """

    name: str
    default: int
    argument: str
    help: str
    heading: str
    zero: str
    minimum: int = 0
    maximum: int = U64
    too_wide: str = "does not fit in 64 bits"

    @classmethod
    def of(
        cls, config: type[Any], name: str, text: str, heading: str, *, zero: str, **limits: Any
    ) -> Self:
        """Return the knob ``name`` of a configuration, which holds the default."""
        return cls(name, config._field_defaults[name], "N", text, heading, zero, **limits)

    @property
    def spelled(self) -> str:
        """The knob as files and sweeps spell it."""
        return kebab(self.name)

    @property
    def flag(self) -> str:
        """The knob as the command line spells it."""
        return f"--{self.spelled}"

    @property
    def least(self) -> int:
        """The lowest value that is accepted."""
        return max(self.minimum, 1 if self.zero else 0)

    def defect(self, text: str) -> str:
        """Return why a text is no value of this knob; nothing if it is one."""
        if not (text.isascii() and text.isdigit()):
            return "not a whole number of 0 or more"
        # A number this long is too wide whatever its digits; int() refuses to read it.
        if len(text.lstrip("0")) > len(str(self.maximum)) or int(text) > self.maximum:
            return self.too_wide
        if int(text) == 0:
            return self.zero
        return f"has to be {self.minimum} or more" if int(text) < self.minimum else ""


ConfigT = TypeVar("ConfigT", bound=RuleConfig)


class RunNotes(Protocol):
    """What one run of a rule in a sweep says about runs under other knobs."""

    config: Any
    """The configuration that the rule of this run is made with; it may take notes."""

    def ceiling_under(self, other: Any, peak: int, ceiling: int, tripped: bool) -> int | None:
        """Return the ceiling of the same outcome under other knobs.

        The run ended with this peak, under this ceiling, tripped or not. ``None``
        means that a run under ``other`` may end differently and has to be made.
        """


class NoNotes:
    """The notes of a rule whose runs say nothing about each other: each combination is run."""

    def __init__(self, config: RuleConfig) -> None:
        self.config = config

    def ceiling_under(self, other: Any, peak: int, ceiling: int, tripped: bool) -> None:
        """Return ``None``: run the rule again."""


class IntervalEngine(NamedTuple):
    """The sweep has an engine for this rule that answers a whole grid from one pass.

    It needs the five knobs of the saturation rule, in their order, and numpy.
    """


class RerunEngine(NamedTuple):
    """The sweep runs the rule again for each combination that ``notes`` do not answer."""

    notes: Callable[[Any], RunNotes]


class SweepPlan(NamedTuple):
    """How ``analyze --sweep`` and ``--suggest`` try a rule's knobs.

    ``suggested`` are the values that ``--suggest`` tries, written as for
    ``--sweep``. ``columns`` names the knobs that a table always shows; it shows
    the others where they are swept.
    """

    engine: IntervalEngine | RerunEngine
    suggested: tuple[str, ...]
    columns: tuple[str, ...]


class RuleEntry(NamedTuple, Generic[ConfigT]):
    """A rule as users and commands meet it.

    name: what ``--rules`` calls it.  title: what it detects, one line.
    source: where it comes from.
    judges: the events that it judges.
    channels: those that it can watch.  watches: those that it watches by default.
    states: the kinds of verdict that it can state (see ``loopcli.verdicts``).
    knobs: its numbers, in the order of ``config``, the class that holds them.
    ceiling_knob: the knob that is the ceiling of every peak; ``None`` where the ceiling depends
    on what repeats.
    load: imports the rule and returns its class. One that judges text is called as
    ``Rule(config, past_trip=…)``, one that judges sessions as ``SessionRule(config, setup)``.
    armed: ends the sentence "a reply is abandoned …" for a configuration.
    warning: what is odd about a configuration, or nothing; it spells knobs as the caller says.
    sweep: how its knobs are tried.
    blind_spots: what it cannot detect.
    """

    name: str
    title: str
    source: str
    judges: Judged
    channels: tuple[Channel, ...]
    watches: tuple[Channel, ...]
    states: tuple[str, ...]
    knobs: tuple[Knob, ...]
    config: type[ConfigT]
    ceiling_knob: str | None
    load: Callable[[], Callable[..., Any]]
    armed: Callable[[ConfigT], str]
    warning: Callable[[ConfigT, Spelling], str]
    sweep: SweepPlan
    blind_spots: tuple[str, ...]


def no_warning(config: RuleConfig, spelling: Spelling) -> str:
    """Return nothing: no configuration of the rule is odd."""
    return ""


def listed(*entries: RuleEntry[Any]) -> Mapping[str, RuleEntry[Any]]:
    """Return entries by name. Raises ``TypeError`` for those that contradict themselves."""
    for entry in entries:
        names = [knob.name for knob in entry.knobs]
        if names != list(entry.config()._asdict()):
            raise TypeError(f"the {entry.name} rule: its knobs are not the fields of its config")
        named = {*entry.sweep.columns, *filter(None, [entry.ceiling_knob])}
        if not named <= {*names}:
            raise TypeError(f"the {entry.name} rule: not among its knobs: {named - {*names}}")
        if not {*entry.watches} <= {*entry.channels}:
            raise TypeError(f"the {entry.name} rule: it watches what it cannot watch")
    knobs = [knob.name for entry in entries for knob in entry.knobs]
    for names in ([entry.name for entry in entries], knobs):
        if len(names) > len({*names}):
            raise TypeError(f"a name is registered twice among {', '.join(names)}")
    return {entry.name: entry for entry in entries}
