"""Agent profiles: the ``loopDetection`` block, and how it is judged.

Source: gg's loop detection, "Configuring it". Rules of this file:

- An armed detector states all five knobs; a missing one is refused.
- A knob that is written is judged as written, whether armed or not.
- All defects of a file are reported together, in the order of the knobs, each
  with the agent that it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from loopcli.errors import ConfigError
from loopcli.rules.registration import Knob, Spelling
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.entry import SATURATION
from loopcli.settings import jsonc
from loopcli.wording import kebab

BLOCK = "loopDetection"
# The rules that the block arms, and whose knobs it states.
BLOCK_RULES = (SATURATION.name,)
_LISTS = ("agents", "profiles")
# What a document that holds profiles, or is one, has at its top.
KEYS = (*_LISTS, "id", "name", BLOCK)
_PURPOSES = {
    "window_words": "the lookback of the frequency rule",
    "repeat_threshold": "how often a word may occur in the window before it offends",
    "min_offenders": "how many distinct offenders make the window saturated",
    "min_saturated_run": "how long the window must stay saturated",
    "max_response_chars": "the hard ceiling on the length of one reply",
}


class Profile(NamedTuple):
    """One agent's block as it was read. ``knobs`` has those that are written.

    ``warnings`` are those of the block alone; how its knobs get on with each
    other is known only once flags and environment are merged.
    """

    id: str
    name: str
    armed: bool
    knobs: Mapping[str, int]
    off_because: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def config(self) -> SaturationConfig:
        """The knobs; one that a disarmed profile does not write has its default."""
        return SaturationConfig(**self.knobs)

    @property
    def title(self) -> str:
        """The agent as every message about it begins."""
        return f"agent `{self.name}`"

    def titled(self, warning: str) -> str:
        """Return a warning about knobs that this profile's were merged into, if there is one."""
        return f"{self.title}: {warning}." if warning else ""

    def spelling(self, rule: str) -> Spelling:
        """Return how messages about this profile spell the knobs of a rule."""
        return spelled if rule in BLOCK_RULES else kebab


def spelled(knob: str) -> str:
    """Return a knob's name as profiles spell it.

    >>> spelled("window_words")
    'windowWords'
    """
    first, *rest = knob.split("_")
    return first + "".join(map(str.capitalize, rest))


def judge(doc: Any, defects: list[str]) -> list[Profile]:
    """Return the profiles that are in a document; what is wrong with them goes to ``defects``."""
    read = [_judged(profile, place, defects) for place, profile in enumerate(_profiles(doc), 1)]
    ids = [profile.id for profile in read if profile.id]
    for twice in dict.fromkeys(ident for ident in ids if ids.count(ident) > 1):
        defects.append(f"the id `{twice}` belongs to {ids.count(twice)} agents")
    return read


def pick(profiles: Sequence[Profile], agent: str | None, path: str) -> Profile:
    """Return the profile with this id, or this name; without one, the only profile there is."""
    known = ", ".join(profile.id or profile.name for profile in profiles)
    if agent is None:
        if len(profiles) == 1:
            return profiles[0]
        raise ConfigError(f"{path}: name one of its agents with --agent (there is: {known})")
    for attribute in ("id", "name"):
        named = [profile for profile in profiles if agent and getattr(profile, attribute) == agent]
        if len(named) == 1:
            return named[0]
        if named:  # ids are of one agent each
            raise ConfigError(
                f"{path}: the name `{agent}` belongs to {len(named)} agents; "
                f"name one of them by its id (there is: {known})"
            )
    raise ConfigError(f"{path}: there is no agent `{agent}` (there is: {known})")


def _profiles(doc: Any) -> Iterator[Any]:
    """Yield the profiles: of a list, of an object's ``agents`` or ``profiles``, or the one."""
    if isinstance(doc, list):
        yield from doc
        return
    if not isinstance(doc, dict):
        return
    inner = next((doc[key] for key in _LISTS if isinstance(doc.get(key), list | dict)), None)
    if isinstance(inner, dict):
        # By id: {"agents": {"implementer": {…}}}
        for ident, profile in inner.items():
            yield {"id": ident} | profile if isinstance(profile, dict) else profile
    elif inner is not None:
        yield from inner
    elif doc.keys() & {"id", "name", BLOCK}:
        yield doc


def _judged(profile: Any, place: int, defects: list[str]) -> Profile:
    """Return a profile as read; what is wrong with it goes to ``defects``."""
    if not isinstance(profile, dict):
        defects.append(f"agent `#{place}`: a profile is an object, not `{jsonc.shown(profile)}`")
        return Profile("", f"#{place}", armed=False, knobs={})
    ident, name = (_string(profile.get(key)) for key in ("id", "name"))
    read = Profile(ident, name or ident or f"#{place}", armed=False, knobs={})
    block = profile.get(BLOCK)
    if block is None:
        return read._replace(off_because=f"{BLOCK} is absent")
    if not isinstance(block, dict):
        defects.append(f"{read.title}: {BLOCK} = `{jsonc.shown(block)}` — not an object")
        return read
    enabled = block.get("enabled")
    wrong = []
    if enabled is not None and not isinstance(enabled, bool):
        wrong.append(f"{BLOCK}.enabled = `{jsonc.shown(enabled)}` — neither true nor false")
    wrong += [
        f"{BLOCK}.{spelled(knob.name)}{reason}"
        for knob in SATURATION.knobs
        if (reason := _defect(knob, block.get(spelled(knob.name)), armed=enabled is True))
    ]
    defects += (f"{read.title}: {defect}" for defect in wrong)
    if wrong:
        return read
    return _armed_or_off(read, block)


def _armed_or_off(read: Profile, block: Mapping[str, Any]) -> Profile:
    names = {spelled(knob.name): knob.name for knob in SATURATION.knobs}
    knobs = {name: block[key] for key, name in names.items() if block.get(key) is not None}
    warnings = [
        f"{read.title}: {BLOCK}.{key} is no knob and changes nothing"
        for key in block
        if key not in names and key != "enabled"
    ]
    enabled = block.get("enabled")
    if enabled is None:
        warnings.append(f"{read.title}: {BLOCK} does not say `enabled`, so it is off")
    off_because = "" if enabled else f"{BLOCK} is not enabled"
    return read._replace(
        armed=enabled is True, knobs=knobs, off_because=off_because, warnings=tuple(warnings)
    )


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _defect(knob: Knob, value: object, *, armed: bool) -> str:
    """Return what is wrong with a knob as it is written, or not written; nothing if it is right."""
    if value is None:
        if not armed:
            return ""
        return (
            f" — the detector is armed, and this profile writes no {spelled(knob.name)}, which is "
            f"{_PURPOSES[knob.name]}; all five knobs must be stated"
        )
    written = f" = `{jsonc.shown(value)}` — "
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return written + "not a whole number of 0 or more"
    if value > knob.maximum:
        return written + knob.too_wide
    if value == 0 and knob.zero:
        return f"{written}it cannot bound anything at zero: {knob.zero}"
    return ""
