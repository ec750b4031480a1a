"""What the user wants of the rules for sessions, beside their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from loopcli.actions import Action
    from loopcli.loop_keys import LoopKey

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class SessionSetup(NamedTuple):
    """How the agents of a session are judged.

    ``loop_keys`` are by the name of the tool, ``actions`` by that name or by
    what repeats (a ``Detection``): the action to take instead of the ladder's.
    ``model`` and ``advisor`` are what an escalated turn may use. ``results``
    lets a changed result end a streak. ``stated`` names the numbers that the
    user wrote: what the input itself asks for does not change them.
    """

    loop_keys: Mapping[str, LoopKey] = _NOTHING
    actions: Mapping[str, Action] = _NOTHING
    model: str = ""
    advisor: bool = False
    results: bool = False
    stated: frozenset[str] = frozenset()
