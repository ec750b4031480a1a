"""Every rule there is, with its knobs: what ``--rules`` and the knob flags refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from loopcli.errors import ConfigError
from loopcli.events import Channel
from loopcli.rules import saturation

_U32 = 2**32 - 1
_U64 = 2**64 - 1


class Knob(NamedTuple):
    """One number of a rule: ``zero`` says why 0 is refused (empty: 0 means something)."""

    name: str
    default: int
    help: str
    zero: str = ""
    maximum: int = _U64
    too_wide: str = "does not fit in 64 bits"

    @property
    def flag(self) -> str:
        """The knob as the command line spells it."""
        return "--" + self.name.replace("_", "-")


class RuleEntry(NamedTuple):
    """A rule as users meet it; ``channels`` are those that it can watch."""

    name: str
    title: str
    source: str
    channels: tuple[Channel, ...]
    knobs: tuple[Knob, ...]
    blind_spots: tuple[str, ...]


_defaults = saturation.SaturationConfig()

SATURATION = RuleEntry(
    name=saturation.NAME,
    title="several words over-represented for a long, unbroken stretch",
    source="gg, Loop detection",
    channels=tuple(Channel),
    knobs=(
        Knob(
            "window_words",
            _defaults.window_words,
            "How many recent words the frequency is measured over.",
            "a window of no words leaves nothing to look back over",
        ),
        Knob(
            "repeat_threshold",
            _defaults.repeat_threshold,
            "A word offends at more occurrences in the window than this.",
            "every word would be an offender",
            _U32,
            "does not fit the 32-bit counter of a word's occurrences",
        ),
        Knob(
            "min_offenders",
            _defaults.min_offenders,
            "How many different words must offend at once.",
            "a window without any offender would count as saturated",
        ),
        Knob(
            "min_saturated_run",
            _defaults.min_saturated_run,
            "How many words in a row must arrive while that lasts; 0 trips at once.",
        ),
        Knob(
            "max_response_chars",
            _defaults.max_response_chars,
            "Length backstop: trip after this many characters; 0 turns it off.",
        ),
    ),
    blind_spots=(
        "one word repeated for ever (it is one offender, and two are needed)",
        "a repeated unit of eight or more different words (none exceeds 32 in 256)",
        "a unit without whitespace whose length divides 128 (every slice is the same)",
        "blanks and newlines (they hold no words)",
        "loops that an output cap ends before 3,000 words",
    ),
)

RULES = {entry.name: entry for entry in (SATURATION,)}


def saturation_config(written: Mapping[str, tuple[str, str]]) -> saturation.SaturationConfig:
    """Return the knobs as written; what is not written has its default.

    ``written`` maps a knob's name to how the user spelled the name and to the
    value's text. Raises ``ConfigError`` with a sentence for every defect.
    """
    values, defects = {}, []
    for knob in SATURATION.knobs:
        if knob.name not in written:
            continue
        spelled, text = written[knob.name]
        reason = _defect(knob, text)
        if reason:
            defects.append(f"{spelled} = `{text}`: {reason}")
        else:
            values[knob.name] = int(text)
    if defects:
        raise ConfigError(*defects)
    return saturation.SaturationConfig(**values)


def _defect(knob: Knob, text: str) -> str:
    if not (text.isascii() and text.isdigit()):
        return "not a whole number of 0 or more"
    # A number this long is too wide whatever its digits; int() refuses to read it.
    if len(text.lstrip("0")) > len(str(knob.maximum)) or int(text) > knob.maximum:
        return knob.too_wide
    return knob.zero if int(text) == 0 else ""


def saturation_warning(config: saturation.SaturationConfig) -> str:
    """Return the one warning that knobs can earn, or nothing."""
    if config.min_offenders <= config.window_words:
        return ""
    return (
        f"min-offenders ({config.min_offenders}) is larger than window-words "
        f"({config.window_words}), so the repetition rule can never fire; "
        "only the length backstop is left"
    )


def armed_line(config: saturation.SaturationConfig) -> str:
    """Return the line that names an armed detector's configuration once, at launch."""
    crowd = f"{config.min_offenders} or more words have each occurred"
    often = f"more than {config.repeat_threshold} times in the last {config.window_words}"
    line = f"loop detection: armed — a reply is abandoned after {config.min_saturated_run} "
    line += f"consecutive words during which {crowd} {often}"
    if config.min_saturated_run == 0:
        line = "loop detection: armed — a reply is abandoned as soon as " + crowd + " " + often
    if config.max_response_chars:
        return line + f", or once it passes {config.max_response_chars} characters"
    return line + "; there is no length backstop"
