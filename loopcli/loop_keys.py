"""Which part of a tool's arguments identifies a call: the document's ``loopKey``.

By default that is all of them. A loop key names the fields that count, or says
that a tool is never counted because repetition is its job. The document also
takes a function; a function cannot be written in a file, so what such functions
are for is declared: how a field's text is normalised before it is compared, and
which calls are not counted at all.

A loop key never causes a failure: where it does not apply, all arguments count,
with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from loopcli.identity import Material, UnhashableError, fingerprint, material


class FieldKey(NamedTuple):
    """A top-level field that identifies a call, and how its text is normalised first.

    ``drop`` is removed wherever it matches; a value that is no text stays as it is.
    """

    name: str
    trim: bool = False
    lower: bool = False
    drop: re.Pattern[str] | None = None

    def apply(self, value: object) -> object:
        """Return the value as it is compared.

        >>> FieldKey("query", trim=True, lower=True).apply("  Cats ")
        'cats'
        """
        if not isinstance(value, str):
            return value
        if self.drop:
            value = self.drop.sub("", value)
        if self.trim:
            value = value.strip()
        return value.lower() if self.lower else value


class LoopKey(NamedTuple):
    """What identifies a call of one tool.

    ``fields`` is ``None`` where all arguments do. ``exempt`` means that no call
    of the tool counts, unless its arguments are no JSON: a broken call is not what
    the tool repeats as its job. ``internal`` means that not even those count.
    ``unless`` means that a call does not count in which every pattern is found in
    the text of its field. ``unsupported`` is the type of a declaration that means
    nothing.
    """

    fields: tuple[FieldKey, ...] | None = None
    exempt: bool = False
    internal: bool = False
    unless: tuple[tuple[str, re.Pattern[str]], ...] = ()
    unsupported: str = ""

    @classmethod
    def declared(cls, declaration: object) -> LoopKey:
        """Return the key that a tool's declaration means, as plain data.

        >>> LoopKey.declared(["command"]).fields, LoopKey.declared(False).exempt
        ((FieldKey(name='command', trim=False, lower=False, drop=None),), True)
        """
        if declaration is None:
            return ALL_ARGUMENTS
        if declaration is False:
            return NEVER_COUNTED
        if isinstance(declaration, list | tuple):
            names = [name for name in declaration if isinstance(name, str)]
            return cls(tuple(map(FieldKey, dict.fromkeys(names))))
        return cls(unsupported=type(declaration).__name__)

    def skips(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether this one call is not counted."""
        return bool(self.unless) and all(
            isinstance(text := arguments.get(name), str) and pattern.search(text)
            for name, pattern in self.unless
        )


ALL_ARGUMENTS = LoopKey()
NEVER_COUNTED = LoopKey(exempt=True)
INTERNAL = LoopKey(exempt=True, internal=True)


class Identity(NamedTuple):
    """How one call is identified: by ``fingerprint``, or not at all.

    ``exempt`` says that its tool or its loop key takes it out of the count. A
    call without a fingerprint that is not exempt cannot be hashed. ``parsed`` are
    its arguments, if they are an object.
    """

    fingerprint: str | None
    exempt: bool = False
    warnings: tuple[str, ...] = ()
    parsed: Mapping[str, Any] | None = None


def identify(tool: str, arguments: str, key: LoopKey = ALL_ARGUMENTS) -> Identity:
    """Return the identity of a call of ``tool`` with the arguments that the model wrote.

    >>> one = identify("bash", '{"command": "ls", "verbose": 1}', LoopKey.declared(["command"]))
    >>> one.fingerprint == identify("bash", '{"command": "ls"}').fingerprint
    True
    """
    if key.internal:
        return Identity(None, exempt=True)
    try:
        whole = material(arguments)
    except UnhashableError as error:
        warnings = () if key.exempt else (_uncounted(error),)
        return Identity(None, key.exempt, warnings)
    return identity_of(tool, whole, key)


def identity_of(tool: str, whole: Material, key: LoopKey = ALL_ARGUMENTS) -> Identity:
    """Return the identity of a call whose arguments have been read."""
    parsed = whole.value if isinstance(whole.value, dict) else None
    if (key.exempt and whole.parsed) or (parsed is not None and key.skips(parsed)):
        return Identity(None, exempt=True, parsed=parsed)
    chosen, warning = _chosen(whole, key)
    warnings = (warning,) if warning else ()
    try:
        return Identity(fingerprint(chosen, tool), False, warnings, parsed)
    except UnhashableError as error:  # then the whole of which it is a part cannot be, either
        return Identity(None, False, (*warnings, _uncounted(error)), parsed)


def _uncounted(error: UnhashableError) -> str:
    return f"the call is not counted, because its arguments cannot be hashed: {error}"


def _chosen(whole: Material, key: LoopKey) -> tuple[object, str]:
    """Return what identifies the call, and a warning where the key does not apply."""
    if not whole.parsed:
        return whole.value, ""
    if key.unsupported:
        return whole.value, f"a loop key cannot be of type {key.unsupported}; all arguments count"
    if key.fields is None:
        return whole.value, ""
    arguments = whole.value if isinstance(whole.value, dict) else {}
    chosen = {
        field.name: field.apply(arguments[field.name])
        for field in key.fields
        if field.name in arguments
    }
    if chosen:
        return chosen, ""
    why = "names no field" if not key.fields else "names no field of this call"
    return whole.value, f"the loop key {why}; all arguments count"
