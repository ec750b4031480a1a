"""The file of ``--config``: agent profiles, and in TOML settings of our own beside them.

Rules of this file:

- JSON is a harness's file: what is no agent profile in it is none of our business.
- TOML is ours. ``rules`` and ``watch`` are lists of names, and a rule's knobs
  stand in a table with the rule's name, spelled as the flags are but for the
  dashes before them. What is unknown is refused.
- A profile's ``loopDetection`` goes before the file's own knobs, and decides
  whether anything is armed for that agent: the saturation rule, and the others
  that ``rules`` names.
- One defect refuses the whole file; all defects are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from json import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from loopcli.errors import ConfigError, reason
from loopcli.rules import table
from loopcli.settings import jsonc, profiles, session_texts
from loopcli.settings.arming import FileSettings, chosen_channels, chosen_rules
from loopcli.settings.profiles import Profile
from loopcli.wording import near

_LISTS = ("rules", "watch")

P = ParamSpec("P")
T = TypeVar("T")


class ConfigFile(NamedTuple):
    """What is in a file: settings of our own, and the agents' profiles."""

    path: str
    own: FileSettings
    profiles: Sequence[Profile]

    def pick(self, agent: str | None) -> FileSettings:
        """Return what holds for an agent; for none, for the only agent there is, or for all.

        Raises ``ConfigError`` if that cannot be known.
        """
        if self.profiles:
            return self._of(profiles.pick(self.profiles, agent, self.path))
        if agent is not None:
            raise ConfigError(f"{self.path}: there is no agent `{agent}`, nor any other")
        return self.own

    def all(self) -> Iterator[FileSettings]:
        """Yield what holds for each agent; without agents, what holds for all."""
        if not self.profiles:
            yield self.own
        yield from map(self._of, self.profiles)

    def _of(self, profile: Profile) -> FileSettings:
        names: tuple[str, ...] = ()
        if profile.armed:
            names = tuple(dict.fromkeys([*profiles.BLOCK_RULES, *(self.own.names or ())]))
        knobs = {
            name: (f"{profile.title}: {profiles.spelled(name)}", str(value))
            for name, value in profile.knobs.items()
        }
        return self.own._replace(names=names, knobs={**self.own.knobs, **knobs}, profile=profile)


def load(path: str) -> ConfigFile:
    """Read a file: TOML if its name ends in ``.toml``, in whatever case, else JSON.

    Raises ``ConfigError`` with everything that is wrong, ``OSError`` if the
    file cannot be read.
    """
    raw = Path(path).read_bytes()
    toml = path.lower().endswith(".toml")
    try:
        text = raw.decode("utf-8-sig")
        doc = _toml(text) if toml else jsonc.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {reason(error)}{_hint(path, error)}") from error
    defects: list[str] = []
    own = _own(doc, defects) if toml else FileSettings()
    agents = profiles.judge(doc, defects)
    if not (defects or agents or own != FileSettings()):
        what = "neither a setting nor an agent profile" if toml else "no agent profile"
        raise ConfigError(f"{path}: {what} is in it")
    if defects:
        raise ConfigError(*(f"{path}: {defect}" for defect in defects))
    return ConfigFile(path, own, agents)


def _hint(path: str, error: Exception) -> str:
    """Return what else may be wrong with a file that is no JSON, unless it is called so."""
    if not isinstance(error, JSONDecodeError) or path.lower().endswith((".json", ".jsonc")):
        return ""
    return "; settings in TOML need a name that ends in .toml"


def _toml(text: str) -> Any:
    import tomllib  # only who writes TOML pays for the import

    return tomllib.loads(text, parse_float=jsonc.Unread)


def _own(doc: Mapping[str, Any], defects: list[str]) -> FileSettings:
    """Return the settings of our own; what is wrong with them goes to ``defects``."""
    _refuse_unknown("", doc, (*_LISTS, *session_texts.KEYS, *table.RULES, *profiles.KEYS), defects)
    knobs = dict(_knobs(doc, defects))
    _told(defects, table.configs, knobs)
    rules, watch = (_list(doc, key, defects) for key in _LISTS)
    return FileSettings(
        _told(defects, chosen_rules, "rules", rules) if rules is not None else None,
        _told(defects, chosen_channels, "watch", watch) if watch is not None else None,
        knobs,
        sessions=session_texts.of_file(doc, defects),
    )


def _told(defects: list[str], judge: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return what ``judge`` makes of something; what it refuses goes to ``defects``."""
    try:
        return judge(*args, **kwargs)
    except ConfigError as error:
        defects += error.defects
        return None


def _list(doc: Mapping[str, Any], key: str, defects: list[str]) -> str | None:
    """Return a list of names as ``--rules`` and ``--watch`` take it, ``None`` if there is none."""
    names = doc.get(key)
    if names is None:
        return None
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return ",".join(names)
    defects.append(f"{key} = `{jsonc.shown(names)}`: not a list of names")
    return None


def _refuse_unknown(
    where: str, settings: Mapping[str, Any], known: Sequence[str], defects: list[str]
) -> None:
    for key in settings:
        if key not in known:
            names = ", ".join(known)
            defects.append(f"{where}`{key}` is no setting (there is: {names}){near(key, known)}")


def _knobs(doc: Mapping[str, Any], defects: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the knobs in the rules' tables as they are written."""
    for entry in table.RULES.values():
        inner = doc.get(entry.name, {})
        if not isinstance(inner, dict):
            defects.append(f"{entry.name} = `{jsonc.shown(inner)}`: not a table of knobs")
            continue
        names = {knob.spelled: knob.name for knob in entry.knobs}
        _refuse_unknown(f"[{entry.name}] ", inner, list(names), defects)
        for key, value in inner.items():
            if key in names:
                yield names[key], (f"[{entry.name}] {key}", jsonc.shown(value))
