"""What is armed: rule names, knobs and channels, merged from where each was written.

Pure: whoever has a command line or a file brings what is written there. A flag
goes before the environment, which goes before the file of ``--config``, which
goes before the preset.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from loopcli.errors import ConfigError
from loopcli.events import Channel
from loopcli.rules import table
from loopcli.rules.base import Armed
from loopcli.rules.registration import Judged
from loopcli.rules.streaks.entry import STREAKS
from loopcli.rules.table import Configs
from loopcli.session_setup import SessionSetup
from loopcli.settings.sessions import SessionSettings
from loopcli.wording import kebab, near

if TYPE_CHECKING:
    from loopcli.settings.profiles import Profile

# The document's rule and figures, now and for ever, whatever the defaults become.
PRESETS = {"gg": ("saturation",), "openrouter": ("streaks", "tails")}
# Those that judge single replies.
REPLY_PRESETS = ("gg",)
# Novelty costs more than both, and finds only loops that are long already.
DEFAULT_RULES = ("saturation", "period")
# What judges a session beside those.
DEFAULT_SESSION_RULES = ("streaks", "tails")
# Numbers that a preset needs and that are not the defaults: the document knows no cycles.
_PRESET_KNOBS = {"openrouter": {"max_cycle": ("--preset openrouter", "0")}}

# By a knob's name: how the user spelled the name, and the value's text.
Written = Mapping[str, tuple[str, str]]
NOTHING: Written = MappingProxyType({})


class FileSettings(NamedTuple):
    """What holds where neither a flag nor the environment says otherwise.

    ``names`` is ``None`` where the preset or the default decides, and empty
    where a profile leaves the detector off.
    """

    names: tuple[str, ...] | None = None
    channels: frozenset[Channel] | None = None
    knobs: Written = NOTHING
    profile: Profile | None = None
    sessions: SessionSettings = SessionSettings()


class Settings(NamedTuple):
    """What is armed, now that all is merged; ``names`` is empty when nothing is."""

    names: tuple[str, ...]
    configs: Configs
    channels: frozenset[Channel] | None
    warnings: tuple[str, ...] = ()
    profile: Profile | None = None
    session_names: tuple[str, ...] = ()
    setup: SessionSetup = SessionSetup()

    @property
    def judging(self) -> frozenset[str]:
        """The rules whose knobs have an effect; the ladder's have one for every session rule."""
        ladder = [STREAKS.name] if self.session_names else []
        return frozenset([*self.names, *self.session_names, *ladder])

    @property
    def line(self) -> str:
        """The line that names the configuration, once, at launch; nothing when disarmed."""
        return table.armed_line(self.names, self.configs) if self.names else ""

    def knobs(self, name: str) -> dict[str, int]:
        """Return the knobs of a rule by name."""
        return self.configs[name]._asdict()

    def rules(self, *, past_trip: bool = False) -> list[Armed]:
        """Return the rules that judge text, armed; each on its own channels or the chosen ones.

        They are imported here: start-up is paid by every pipeline.
        """
        armed = []
        for name in self.names:
            entry = table.RULES[name]
            if entry.judges is not Judged.TEXT:
                continue
            watched = frozenset(entry.watches) if self.channels is None else self.channels
            maker = partial(entry.load(), self.configs[name], past_trip=past_trip)
            armed.append(Armed(maker, watched.intersection(entry.channels)))
        return armed


def resolve(
    base: FileSettings,
    written: Written = NOTHING,
    *,
    rules: str | None = None,
    preset: str | None = None,
    watch: str | None = None,
    sessions: SessionSettings | None = None,
) -> Settings:
    """Return what is armed. Raises ``ConfigError`` with all defects of the knobs.

    ``sessions`` is what a command was told about sessions, ``None`` for a command
    that judges none.
    """
    names = base.names
    session_names: tuple[str, ...] = DEFAULT_SESSION_RULES
    if rules is not None:
        names = chosen_rules("--rules", rules)
    elif names is None and preset:
        names = PRESETS[preset]
    if names is None:
        names = DEFAULT_RULES
    else:
        session_names = tuple(n for n in names if table.RULES[n].judges is Judged.SESSION)
    if sessions is None:
        if rules is not None and session_names:
            raise ConfigError(f"--rules: `{session_names[0]}` judges sessions, and this does not")
        names, session_names = tuple(n for n in names if n not in session_names), ()
    configs = table.configs({**_PRESET_KNOBS.get(preset or "", {}), **base.knobs, **written})
    channels = base.channels if watch is None else chosen_channels("--watch", watch)
    settings = Settings(
        names=names,
        configs=configs,
        channels=channels,
        profile=base.profile,
        session_names=session_names,
        setup=(sessions or SessionSettings())
        .over(base.sessions)
        .setup({*base.knobs, *written}, results=preset != "openrouter"),
    )
    idle = _idle(base, written, settings.judging) if sessions is not None or names else ()
    return settings._replace(warnings=(*_odd(base.profile, names, configs), *idle))


def _idle(base: FileSettings, written: Written, names: Collection[str]) -> Iterator[str]:
    """Yield a warning for each knob in a rule's table that changes nothing.

    A profile states its knobs because it must, and one that is off leaves nothing armed.
    """
    stated = base.profile.knobs if base.profile else {}
    for entry, knob in table.knobs() if names else ():
        if entry.name not in names and knob.name in base.knobs.keys() - {*stated, *written}:
            yield changes_nothing(base.knobs[knob.name][0], entry.name)


def changes_nothing(spelled: str, rule: str, why: str = "armed") -> str:
    """Return the warning for a knob of a rule that does not judge."""
    return f"{spelled} changes nothing, because the {rule} rule is not {why}"


def _odd(profile: Profile | None, names: Iterable[str], configs: Configs) -> Iterator[str]:
    """Yield what is odd about a profile and about the knobs of armed rules."""
    if profile is not None:
        yield from profile.warnings
    for name in names:
        warning, config = table.RULES[name].warning, configs[name]
        if profile is None:
            odd = warning(config, kebab)
        else:
            odd = profile.titled(warning(config, profile.spelling(name)))
        if odd:
            yield odd


def chosen_rules(spelled: str, text: str) -> tuple[str, ...]:
    """Return the rules of a list that was written as text, under the name ``spelled``."""
    names = _listed(text)
    unknown = [name for name in names if name not in table.RULES]
    if unknown or not names:
        known = ", ".join(table.RULES)
        what = f"unknown rule `{unknown[0]}`" if unknown else "no rule is named"
        hint = near(unknown[0], table.RULES) if unknown else ""
        raise ConfigError(f"{spelled}: {what} (there is: {known}){hint}")
    return names


def chosen_channels(spelled: str, text: str) -> frozenset[Channel]:
    """Return the channels of a list that was written as text, under the name ``spelled``."""
    names = set(_listed(text))
    known = [channel.value for channel in Channel]
    unknown = sorted(names - {*known, "all"})
    if unknown or not names:
        what = f"unknown channel `{unknown[0]}`" if unknown else "no channel is named"
        hint = near(unknown[0], [*known, "all"]) if unknown else ""
        raise ConfigError(f"{spelled}: {what} (there is: {', '.join(known)}, all){hint}")
    return frozenset(channel for channel in Channel if {channel, "all"} & names)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
