"""Loop keys, actions and escalation as they are written: on a command line, or in a file.

Rules of this file: everything that is wrong is reported together, each with how
the user spelled it; nothing is half taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from loopcli.actions import Action
from loopcli.errors import ConfigError
from loopcli.loop_keys import NEVER_COUNTED, FieldKey, LoopKey
from loopcli.settings import jsonc
from loopcli.settings.sessions import SessionSettings

# What of a file is for sessions, beside the rules' own tables.
KEYS = ("results", "loop-keys", "actions", "escalation")

_KEY_MEMBERS = {"fields", "unless"}
_FIELD_MEMBERS = {"trim", "lower", "drop"}


def loop_keys(spelled: str, texts: Iterable[str]) -> dict[str, LoopKey]:
    """Return loop keys that are written as ``TOOL=false`` or ``TOOL=FIELD,FIELD``.

    >>> loop_keys("--loop-key", ["bash=command,cwd"])["bash"].fields[1].name
    'cwd'
    """
    keys: dict[str, LoopKey] = {}
    defects = []
    for text in texts:
        tool, sign, value = text.rpartition("=")
        fields = [field.strip() for field in value.split(",") if field.strip()]
        if not (sign and tool and fields):
            defects.append(f"{spelled} `{text}`: not TOOL=FIELD,FIELD nor TOOL=false")
        else:
            keys[tool] = NEVER_COUNTED if value == "false" else LoopKey.declared(fields)
    if defects:
        raise ConfigError(*defects)
    return keys


def actions(spelled: str, texts: Iterable[str]) -> dict[str, Action]:
    """Return actions that are written as ``TOOL=ACTION``; the last one of a tool holds.

    >>> actions("--action", ["bash=stop", "bash=observe"])
    {'bash': <Action.OBSERVE: 'observe'>}
    """
    by_tool: dict[str, Action] = {}
    defects = []
    for text in texts:
        tool, sign, value = text.rpartition("=")
        if not (sign and tool and value in {*Action}):
            known = ", ".join(Action)
            defects.append(f"{spelled} `{text}`: not TOOL=ACTION (there is: {known})")
        else:
            by_tool.pop(tool, None)  # the last one comes last
            by_tool[tool] = Action(value)
    if defects:
        raise ConfigError(*defects)
    return by_tool


def of_file(doc: Mapping[str, Any], defects: list[str]) -> SessionSettings:
    """Return what a file has for sessions; what is wrong with it goes to ``defects``."""
    keys = {
        tool: key
        for tool, value in _table(doc, "loop-keys", defects).items()
        if (key := _loop_key(f"[loop-keys] {tool}", value, defects)) is not None
    }
    texts = []
    for tool, value in _table(doc, "actions", defects).items():
        if isinstance(value, str):
            texts.append(f"{tool}={value}")
        else:
            defects.append(f"[actions] {tool} = `{jsonc.shown(value)}`: not the name of an action")
    try:
        wanted = actions("[actions]", texts)
    except ConfigError as error:
        wanted = {}
        defects += error.defects
    escalation = _table(doc, "escalation", defects)
    _refuse(escalation, {"model", "advisor"}, "[escalation]", defects)
    return SessionSettings(
        keys,
        wanted,
        _typed(escalation, "model", str, "[escalation] ", defects) or "",
        _typed(escalation, "advisor", bool, "[escalation] ", defects),
        _typed(doc, "results", bool, "", defects),
    )


def _table(doc: Mapping[str, Any], name: str, defects: list[str]) -> Mapping[str, Any]:
    value = doc.get(name, {})
    if isinstance(value, dict):
        return value
    defects.append(f"{name} = `{jsonc.shown(value)}`: not a table")
    return {}


def _typed(
    table: Mapping[str, Any], name: str, kind: type[Any], where: str, defects: list[str]
) -> Any:
    value = table.get(name)
    if value is None or isinstance(value, kind):
        return value
    what = {str: "a text", bool: "true or false"}[kind]
    defects.append(f"{where}{name} = `{jsonc.shown(value)}`: not {what}")
    return None


def _refuse(table: Mapping[str, Any], known: set[str], where: str, defects: list[str]) -> None:
    listed = ", ".join(sorted(known))
    defects += (
        f"{where} `{name}` is no setting (there is: {listed})" for name in table.keys() - known
    )


def _loop_key(where: str, value: object, defects: list[str]) -> LoopKey | None:
    """Return a loop key: ``false``, a list of fields, or a table of fields and conditions."""
    if value is False:
        return NEVER_COUNTED
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return LoopKey.declared(value)
    if not isinstance(value, dict):
        defects.append(f"{where} = `{jsonc.shown(value)}`: not a list of fields, false or a table")
        return None
    _refuse(value, _KEY_MEMBERS, where, defects)
    listed = value.get("fields")
    if isinstance(listed, list):
        listed = {name: {} for name in listed if isinstance(name, str)}
    fields = None
    if isinstance(listed, dict):
        fields = tuple(
            _field(f"{where}.fields.{name}", name, how, defects) for name, how in listed.items()
        )
    if fields == ():
        defects.append(f"{where}.fields is empty: no field would identify a call")
    elif listed is not None and fields is None:
        defects.append(f"{where}.fields = `{jsonc.shown(listed)}`: not a list nor a table")
    conditions = _table(value, "unless", defects)
    unless = [
        (name, pattern)
        for name, text in conditions.items()
        if (pattern := _pattern(f"{where}.unless.{name}", text, defects)) is not None
    ]
    return LoopKey(fields, unless=tuple(unless))


def _field(where: str, name: str, how: object, defects: list[str]) -> FieldKey:
    if not isinstance(how, dict):
        defects.append(f"{where} = `{jsonc.shown(how)}`: not a table")
        return FieldKey(name)
    _refuse(how, _FIELD_MEMBERS, where, defects)
    trim, lower = (_typed(how, key, bool, f"{where}.", defects) for key in ("trim", "lower"))
    drop = _pattern(f"{where}.drop", how["drop"], defects) if "drop" in how else None
    return FieldKey(name, bool(trim), bool(lower), drop)


def _pattern(where: str, text: object, defects: list[str]) -> re.Pattern[str] | None:
    try:
        if isinstance(text, str):
            return re.compile(text)
        defects.append(f"{where} = `{jsonc.shown(text)}`: not a regular expression")
    except re.error as error:
        defects.append(f"{where} = `{text}`: not a regular expression: {error}")
    return None
