"""Every rule there is, with its knobs: what ``--rules`` and the knob flags refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from loopcli.errors import ConfigError
from loopcli.events import Channel
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.saturation import rule as saturation
from loopcli.rules.saturation.rule import SaturationConfig
from loopcli.wording import kebab

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
        return f"--{kebab(self.name)}"


class RuleEntry(NamedTuple):
    """A rule as users meet it.

    ``channels`` are those that it can watch, ``watches`` those that it does
    watch unless it is told otherwise.
    """

    name: str
    title: str
    source: str
    channels: tuple[Channel, ...]
    watches: tuple[Channel, ...]
    knobs: tuple[Knob, ...]
    blind_spots: tuple[str, ...]


class Configs(NamedTuple):
    """The knobs of every rule."""

    saturation: SaturationConfig = SaturationConfig()
    period: PeriodConfig = PeriodConfig()
    novelty: NoveltyConfig = NoveltyConfig()


_defaults = SaturationConfig()

SATURATION = RuleEntry(
    name=saturation.NAME,
    title="several words over-represented for a long, unbroken stretch",
    source="gg, Loop detection",
    channels=tuple(Channel),
    watches=(Channel.CONTENT,),
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

_NOTHING_COPIED = "every reply would be a loop"
_period, _novelty = PeriodConfig(), NoveltyConfig()

PERIOD = RuleEntry(
    name="period",
    title="the end of the reply only copies what stood one period before",
    source="loopcheck's own",
    channels=tuple(Channel),
    watches=tuple(Channel),
    knobs=(
        Knob(
            "period_letters",
            _period.period_letters,
            "How many copied characters are too many of a unit with letters in it.",
            _NOTHING_COPIED,
        ),
        Knob(
            "period_signs",
            _period.period_signs,
            "The same for signs, blanks or one number on a line: dividers, emoji, 0000.",
            _NOTHING_COPIED,
        ),
        Knob(
            "period_art",
            _period.period_art,
            "The same for several lines of signs: drawings, boards. At least 150 rows.",
            _NOTHING_COPIED,
        ),
        Knob(
            "period_table",
            _period.period_table,
            "The same for rows of a Markdown, CSV or HTML table. At least 150 rows.",
            _NOTHING_COPIED,
        ),
        Knob(
            "period_data",
            _period.period_data,
            "The same for data: separated numbers, escapes, null, base64.",
            _NOTHING_COPIED,
        ),
        Knob(
            "period_counter",
            _period.period_counter,
            "The same for text that is equal but for its numbers: Case 59, Case 60.",
            _NOTHING_COPIED,
        ),
        Knob(
            "period_copies",
            _period.period_copies,
            "How many whole periods must be copied, however long the unit is.",
            "a unit that came once is no repetition",
        ),
    ),
    blind_spots=(
        "loops whose copies differ in wording, or come in changing order",
        "a unit longer than 4,096 characters",
        "data, code and table rows that are equal but for their numbers",
        "repeated numbers and other data, until there are 40,000 characters of them",
        "that a repetition was asked for: 2,000 times one syllable, a form of 40 equal parts",
    ),
)

NOVELTY = RuleEntry(
    name="novelty",
    title="the reply only uses groups of four words that it has used before",
    source="loopcheck's own",
    channels=tuple(Channel),
    watches=tuple(Channel),
    knobs=(
        Knob(
            "novelty_words",
            _novelty.novelty_words,
            "How many recycled words, less four for each new group, are too many.",
            "every reply would be a loop",
        ),
        Knob(
            "novelty_seen",
            _novelty.novelty_seen,
            "A group of four words is recycled when it has come this often before.",
            "every word would be a recycled one",
        ),
    ),
    blind_spots=(
        "loops that an output cap ends before a thousand recycled words",
        "data and tables, whose words it does not count",
        "texts in which every fifth group of words is new",
    ),
)

RULES = {entry.name: entry for entry in (SATURATION, PERIOD, NOVELTY)}


def saturation_config(written: Mapping[str, tuple[str, str]]) -> SaturationConfig:
    """Return the saturation rule's knobs as written; the others may be written, too."""
    return configs(written).saturation


def configs(written: Mapping[str, tuple[str, str]]) -> Configs:
    """Return the knobs as written; what is not written has its default.

    ``written`` maps a knob's name to how the user spelled the name and to the
    value's text. Raises ``ConfigError`` with a sentence for every defect.
    """
    values: dict[str, dict[str, int]] = {name: {} for name in RULES}
    defects = []
    for entry in RULES.values():
        for knob in entry.knobs:
            if knob.name not in written:
                continue
            spelled, text = written[knob.name]
            reason = _defect(knob, text)
            if reason:
                defects.append(f"{spelled} = `{text}`: {reason}")
            else:
                values[entry.name][knob.name] = int(text)
    if defects:
        raise ConfigError(*defects)
    return Configs(
        SaturationConfig(**values["saturation"]),
        PeriodConfig(**values["period"]),
        NoveltyConfig(**values["novelty"]),
    )


def _defect(knob: Knob, text: str) -> str:
    if not (text.isascii() and text.isdigit()):
        return "not a whole number of 0 or more"
    # A number this long is too wide whatever its digits; int() refuses to read it.
    if len(text.lstrip("0")) > len(str(knob.maximum)) or int(text) > knob.maximum:
        return knob.too_wide
    return knob.zero if int(text) == 0 else ""


def saturation_warning(
    config: SaturationConfig, crowd: str = "min-offenders", window: str = "window-words"
) -> str:
    """Return the one warning that knobs can earn, or nothing; it spells the two as told."""
    if config.min_offenders <= config.window_words:
        return ""
    return (
        f"{crowd} ({config.min_offenders}) is larger than {window} "
        f"({config.window_words}), so the repetition rule can never fire; "
        "only the length backstop is left"
    )


_ARMED = "loop detection: armed — a reply is abandoned "


def armed_line(config: SaturationConfig) -> str:
    """Return the line that names an armed detector's configuration once, at launch."""
    crowd = f"{config.min_offenders} or more words have each occurred"
    often = f"more than {config.repeat_threshold} times in the last {config.window_words}"
    line = f"{_ARMED}after {config.min_saturated_run} "
    line += f"consecutive words during which {crowd} {often}"
    if config.min_saturated_run == 0:
        line = _ARMED + "as soon as " + crowd + " " + often
    if config.max_response_chars:
        return line + f", or once it passes {config.max_response_chars} characters"
    return line + "; there is no length backstop"


def armed_lines(names: Iterable[str], configs: Configs) -> str:
    """Return what ``armed_line`` does, for several rules."""
    lines = {
        "saturation": armed_line(configs.saturation),
        "period": f"{_ARMED}after {configs.period.period_letters} characters that only copy what "
        f"stood one period before ({configs.period.period_signs} of signs, "
        f"{configs.period.period_art} of drawings, {configs.period.period_table} of table rows, "
        f"{configs.period.period_data} of data, {configs.period.period_counter} with a counter)",
        "novelty": f"{_ARMED}after {configs.novelty.novelty_words} words in excess of new ones "
        f"that it had used {configs.novelty.novelty_seen} times before, four in a row",
    }
    return _ARMED + "; or ".join(lines[name].removeprefix(_ARMED) for name in names)
