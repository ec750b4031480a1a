"""Every rule there is: what ``--rules`` and the knob flags refer to.

A rule is added by a line here; all that is said about it is in its folder's
``entry.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from loopcli.errors import ConfigError
from loopcli.rules import registration
from loopcli.rules.base import RuleConfig
from loopcli.rules.novelty.entry import NOVELTY
from loopcli.rules.period.entry import PERIOD
from loopcli.rules.prose.entry import PROSE
from loopcli.rules.registration import Judged, Knob, RuleEntry
from loopcli.rules.saturation.entry import SATURATION
from loopcli.rules.streaks.entry import STREAKS
from loopcli.rules.tails.entry import TAILS

RULES: Mapping[str, RuleEntry[Any]] = registration.listed(
    SATURATION,
    PERIOD,
    NOVELTY,
    PROSE,
    STREAKS,
    TAILS,
)

# The knobs of every rule, by its name.
Configs = Mapping[str, RuleConfig]


def knobs() -> Iterator[tuple[RuleEntry[Any], Knob]]:
    """Yield every knob, with the entry of its rule."""
    for entry in RULES.values():
        for knob in entry.knobs:
            yield entry, knob


def judging(events: Judged) -> tuple[str, ...]:
    """Return the names of the rules that judge such events."""
    return tuple(entry.name for entry in RULES.values() if entry.judges is events)


def configs(written: Mapping[str, tuple[str, str]]) -> Configs:
    """Return the knobs as written; what is not written has its default.

    ``written`` maps a knob's name to how the user spelled the name and to the
    value's text. Raises ``ConfigError`` with a sentence for every defect.
    """
    values: dict[str, dict[str, int]] = {name: {} for name in RULES}
    defects = []
    for entry, knob in knobs():
        if knob.name not in written:
            continue
        spelled, text = written[knob.name]
        reason = knob.defect(text)
        if reason:
            defects.append(f"{spelled} = `{text}`: {reason}")
        else:
            values[entry.name][knob.name] = int(text)
    if defects:
        raise ConfigError(*defects)
    return {name: entry.config(**values[name]) for name, entry in RULES.items()}


def armed_line(names: Iterable[str], configs: Configs) -> str:
    """Return the line that names the configuration of armed rules once, at launch."""
    clauses = "; or ".join(RULES[name].armed(configs[name]) for name in names)
    return f"loop detection: armed — a reply is abandoned {clauses}"
