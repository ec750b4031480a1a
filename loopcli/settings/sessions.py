"""What the user wrote about sessions, merged from where each was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from loopcli.session_setup import SessionSetup

if TYPE_CHECKING:
    from loopcli.actions import Action
    from loopcli.loop_keys import LoopKey

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class SessionSettings(NamedTuple):
    """What is written for sessions in one place; ``None`` and empty is what is not written."""

    loop_keys: Mapping[str, LoopKey] = _NOTHING
    actions: Mapping[str, Action] = _NOTHING
    model: str = ""
    advisor: bool | None = None
    results: bool | None = None

    def over(self, other: SessionSettings) -> SessionSettings:
        """Return these settings, and those of ``other`` where these say nothing."""
        return SessionSettings(
            {**other.loop_keys, **self.loop_keys},
            {**other.actions, **self.actions},
            self.model or other.model,
            other.advisor if self.advisor is None else self.advisor,
            other.results if self.results is None else self.results,
        )

    def setup(self, stated: Iterable[str], *, results: bool) -> SessionSetup:
        """Return what the rules get; ``results`` holds where nothing is written."""
        return SessionSetup(
            loop_keys=self.loop_keys,
            actions=self.actions,
            model=self.model,
            advisor=bool(self.advisor),
            results=results if self.results is None else self.results,
            stated=frozenset(stated),
        )
