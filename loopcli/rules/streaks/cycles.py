"""Cycles of a few rounds: read, edit, test, read, edit, test, each time the same.

The document's counting resets when a tool is called with other arguments, so a
model that alternates between two calls of one tool is invisible to it. Here the
rounds of an agent are compared as wholes. For each length p of a cycle, from 2
up, ``matched[p]`` is how many rounds in a row were equal to the round p before;
a cycle of length p has then come ``1 + matched[p] // p`` times. Of several
lengths that fit, the shortest has come most often and is the one reported.

A cycle of equal rounds is not one: that is a streak. A round without a call that
counts is left out.

If results are compared, a round whose results were news ends the cycle that it
was in, as soon as the next round is known: the results of a round arrive only
behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_MASK = 2**64 - 1


class Round(NamedTuple):
    """A round as cycles see it: its calls as one fingerprint, their tools, the sum of results."""

    key: str
    tools: str
    results: int = 0


class Cycle(NamedTuple):
    """The cycle that the last round completes: how often it has come, and its rounds."""

    times: int
    rounds: tuple[Round, ...]


class _Memory(NamedTuple):
    """The last rounds, the newest last, and for each length the rounds that matched.

    There is one round more than the longest cycle has: a comparison of results
    looks one round further back.
    """

    rounds: tuple[Round, ...]
    matched: tuple[int, ...]

    def was_news(self, length: int) -> bool:
        """Return whether the last round's results differ from those ``length`` rounds before."""
        if len(self.rounds) <= length:
            return False
        last, before = self.rounds[-1].results, self.rounds[-1 - length].results
        return bool(last and before) and last != before

    def after(self, key: str, length: int) -> int:
        """Return how many rounds match for a length, once a round with this key has come."""
        if len(self.rounds) < length or self.rounds[-length].key != key:
            return 0
        return 1 if self.was_news(length) else self.matched[length] + 1


class Cycles:
    """Compares each round of an agent with those up to ``longest`` rounds before it."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._now = _Memory((), (0,) * (longest + 1))
        # What there was before the last round.
        self._before: _Memory | None = None

    def add(self, key: str, tools: str) -> Cycle | None:
        """Count a round; return the cycle that it completes, if it has come twice or more.

        >>> cycles = Cycles(5)
        >>> [cycle and cycle.times for cycle in (cycles.add(key, "t") for key in "ABABAB")]
        [None, None, None, 2, 2, 3]
        """
        if self._longest < 2:
            return None
        past = self._before = self._now
        matched = 0, *(past.after(key, length) for length in range(1, self._longest + 1))
        rounds = (*past.rounds, Round(key, tools))[-self._longest - 1 :]
        self._now = _Memory(rounds, matched)
        for length in range(2, self._longest + 1):
            times = 1 + matched[length] // length
            # As many equal rounds at the end are a streak, not a cycle.
            if times > 1 and matched[1] < matched[length]:
                return Cycle(times, rounds[-length:])
        return None

    def undo(self) -> None:
        """Forget the last round; only one can be forgotten."""
        if self._before is not None:
            self._now, self._before = self._before, None

    def add_result(self, value: int) -> None:
        """Add to the results of the last round."""
        *rounds, last = self._now.rounds or (None,)
        if last is not None:
            last = last._replace(results=(last.results + value) & _MASK or 1)
            self._now = self._now._replace(rounds=(*rounds, last))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""
        return {"now": _saved(self._now), "before": self._before and _saved(self._before)}

    def restore(self, state: object) -> None:
        """Take over a saved state; an odd one counts as empty."""
        if isinstance(state, Mapping):
            self._now = _restored(state.get("now"), self._longest) or self._now
            self._before = _restored(state.get("before"), self._longest)


def _saved(memory: _Memory) -> dict[str, Any]:
    return {"rounds": [list(one) for one in memory.rounds], "matched": list(memory.matched)}


def _restored(state: object, longest: int) -> _Memory | None:
    rounds = state.get("rounds") if isinstance(state, Mapping) else None
    matched = state.get("matched") if isinstance(state, Mapping) else None
    if not (isinstance(rounds, list) and isinstance(matched, list)):
        return None
    if len(matched) != longest + 1 or len(rounds) > longest + 1:
        return None
    if not (all(map(_is_round, rounds)) and all(map(_is_count, matched))):
        return None
    return _Memory(tuple(Round(*one) for one in rounds), tuple(matched))


def _is_round(item: object) -> bool:
    return isinstance(item, list) and [*map(type, item)] == [str, str, int]


def _is_count(item: object) -> bool:
    return type(item) is int and 0 <= item < 2**53
