"""The knob grid of a sweep, and the text a person writes to ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import Any, ClassVar

from loopcli.errors import ConfigError
from loopcli.rules import table
from loopcli.rules.base import RuleConfig
from loopcli.rules.registration import IntervalEngine, RerunEngine
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.wording import kebab

MAX_COMBINATIONS = 1_000_000
"""A larger grid is refused: the tallies alone would outgrow memory."""

MAX_RERUNS = 10_000
"""The same for the rules that are run again: each combination may be a run of the rule."""

_RANGES = {knob.name: (knob.least, knob.maximum) for _, knob in table.knobs()}
"""Lowest and highest value of each knob."""

_OWNERS = {knob.name: entry.name for entry, knob in table.knobs()}


class GridError(ConfigError):
    """A sweep item that cannot be used; the message names the item and says what is wrong."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What the interval engine sweeps: the values of each of the saturation rule's knobs.

    Each tuple is ascending, without duplicates.

    Combinations are numbered with the last knob running fastest.  A *cell* is a combination of the
    first three knobs, on which alone a peak depends; a *rule* is a combination of the first four.
    """

    needs_numpy: ClassVar[bool] = True

    window_words: tuple[int, ...]
    repeat_threshold: tuple[int, ...]
    min_offenders: tuple[int, ...]
    min_saturated_run: tuple[int, ...]
    max_response_chars: tuple[int, ...]

    def __post_init__(self) -> None:
        for name, values in zip(SaturationConfig._fields, self.axes, strict=True):
            low, high = _RANGES[name]
            if not values or list(values) != sorted(set(values)):
                raise GridError(f"{kebab(name)}: values must ascend, without duplicates")
            if values[0] < low or values[-1] > high:
                raise GridError(f"{kebab(name)}: values must lie between {low} and {high}")
        if len(self) > MAX_COMBINATIONS:
            raise GridError(f"the sweep has {len(self)} combinations, more than {MAX_COMBINATIONS}")

    @classmethod
    def from_items(cls, rule: str, items: Iterable[str], defaults: RuleConfig) -> Grid:
        """The grid that `--sweep` items describe; a knob that no item names keeps its default."""
        axes = {name: (value,) for name, value in defaults._asdict().items()}
        return cls(**{**axes, **_axes(items)})

    @property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """The five tuples of values, in the order of `SaturationConfig`."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def cells(self) -> int:
        """Number of combinations of window, threshold and breadth."""
        return prod(map(len, self.axes[:3]))

    @property
    def rules(self) -> int:
        """Number of combinations without the length backstop."""
        return prod(map(len, self.axes[:4]))

    def __len__(self) -> int:
        return prod(map(len, self.axes))

    def __iter__(self) -> Iterator[SaturationConfig]:
        return (SaturationConfig(*values) for values in product(*self.axes))


@dataclass(frozen=True, slots=True)
class RuleGrid:
    """What the rerun engine sweeps: the values to combine of the knobs of ``rule``.

    Combinations are numbered as in ``Grid``; a knob that is not swept keeps its value.
    """

    needs_numpy: ClassVar[bool] = False

    rule: str
    axes: tuple[tuple[int, ...], ...]

    @classmethod
    def from_items(cls, rule: str, items: Iterable[str], defaults: RuleConfig) -> RuleGrid:
        """The grid that `--sweep` items describe; a knob that no item names keeps its default."""
        swept = _axes(items)
        axes = [swept.get(name, (value,)) for name, value in defaults._asdict().items()]
        if (size := prod(map(len, axes))) > MAX_RERUNS:
            raise GridError(f"the sweep has {size} combinations, more than {MAX_RERUNS}")
        return cls(rule, tuple(axes))

    def __len__(self) -> int:
        return prod(map(len, self.axes))

    def __iter__(self) -> Iterator[RuleConfig]:
        make = table.RULES[self.rule].config
        return (make(*values) for values in product(*self.axes))


GRIDS: dict[type[Any], type[Grid | RuleGrid]] = {IntervalEngine: Grid, RerunEngine: RuleGrid}
"""What each engine sweeps."""


def swept_rule(items: Iterable[str]) -> str | None:
    """The rule whose knobs `--sweep` items name, None if there are none; they must be of one.

    >>> swept_rule(["period-letters=320,640", "period-copies=2:4:1"])
    'period'
    """
    rules = dict.fromkeys(_OWNERS[parse_sweep(item)[0]] for item in items)
    if len(rules) > 1:
        raise GridError(f"a sweep is of one rule, and these knobs are of {' and '.join(rules)}")
    return next(iter(rules), None)


def _axes(items: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The values that items give to each knob."""
    swept: dict[str, tuple[int, ...]] = {}
    for item in items:
        name, values = parse_sweep(item)
        if name in swept:
            raise GridError(f"sweep `{item}`: {kebab(name)} is swept twice")
        swept[name] = values
    return swept


def parse_sweep(item: str) -> tuple[str, tuple[int, ...]]:
    """Read ``knob=values`` into the knob's field name and its ascending values.

    Values are numbers or ranges ``a:b:step`` (b included where a step lands on it), separated by
    commas.

    >>> parse_sweep("min-saturated-run=0,1000:3000:1000")
    ('min_saturated_run', (0, 1000, 2000, 3000))
    """
    knob, equals, written = item.partition("=")
    name = knob.strip().replace("-", "_")
    if not equals:
        raise GridError(f"sweep `{item}`: write it as knob=values, as in window-words=128,256")
    if name not in _RANGES:
        raise GridError(
            f"sweep `{item}`: no knob is called `{knob.strip()}`;"
            f" the knobs are {', '.join(map(kebab, _RANGES))}"
        )
    low, high = _RANGES[name]
    values: set[int] = set()
    for part in written.split(","):
        span = _span(part.strip(), item)
        if span[0] < low or span[-1] > high:
            raise GridError(f"sweep `{item}`: `{part.strip()}` is outside {low} to {high}")
        values.update(span)
    return name, tuple(sorted(values))


def _span(part: str, item: str) -> range:
    """The numbers one comma-separated part stands for; never empty."""
    numbers = [_number(text, part, item) for text in part.split(":")]
    if len(numbers) == 1:
        return range(numbers[0], numbers[0] + 1)
    if len(numbers) != 3:
        raise GridError(f"sweep `{item}`: `{part}` is neither a number nor a range a:b:step")
    first, last, step = numbers
    if step == 0:
        raise GridError(f"sweep `{item}`: the step of `{part}` is 0")
    if last < first:
        raise GridError(f"sweep `{item}`: `{part}` ends below its start")
    if (last - first) // step >= MAX_COMBINATIONS:
        raise GridError(f"sweep `{item}`: `{part}` has more than {MAX_COMBINATIONS} values")
    return range(first, last + 1, step)


def _number(text: str, part: str, item: str) -> int:
    """A non-negative decimal number; `int` alone would also take signs, blanks and underscores."""
    if not (text.isascii() and text.isdigit()):
        raise GridError(f"sweep `{item}`: `{part}` is neither a number nor a range a:b:step")
    if len(text) > 20:  # beyond 64 bits; and int() itself refuses thousands of digits
        raise GridError(f"sweep `{item}`: `{text}` is too large")
    return int(text)
