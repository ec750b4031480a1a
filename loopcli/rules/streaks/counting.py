"""How often a tool has been called the same way in a row: the document's counting.

A repeat counts only when the model has seen the result and tries again. What is
counted is therefore not calls but rounds, and for each tool only the rounds in
which it was called: what other tools do in between changes nothing.

Two counts are kept for a tool, and the higher one decides:

- its *round streak*: how many rounds in a row it was called with the same set
  of calls. Five equal calls in one round are one. A model that fans out the
  same five reads again and again is caught by it.
- for each call of its last round, the *call streak*: how many rounds in a row
  this exact call was among the tool's calls, whatever else was. A model that
  repeats one call beside new ones is caught by it.

The requests that a server carries out are reported one by one, behind the reply
and without a set. Their round streak compares each with the last one of the
round before.

Calls here are fingerprints. A count is a value: nothing is changed in place, so
that a round can be counted again when one of its calls turns out to have been
refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from loopcli.ladder import saved_streak

# Calls of one tool in one round that are counted. Rounds of real agents have a
# handful; a state must not grow with what a hostile stream holds.
MAX_MEMBERS = 1024

_NONE: Mapping[str, int] = MappingProxyType({})


class ToolStreak(NamedTuple):
    """The counts of one tool.

    ``fingerprint`` is the last call that counted, ``streak`` the round streak,
    ``members`` the sorted set of the last round, and ``calls`` has the call
    streak of each of them.
    """

    fingerprint: str
    streak: int
    members: tuple[str, ...]
    calls: Mapping[str, int]

    def of(self, fingerprint: str) -> int:
        """Return how often this call of the last round has come: what the ladder is given."""
        return max(self.streak, self.calls[fingerprint])

    def to_json(self) -> dict[str, Any]:
        """Return the counts as the document saves them: what follows from the rest is left out."""
        state: dict[str, Any] = {"fingerprint": self.fingerprint, "streak": self.streak}
        if len(self.members) > 1:
            state["roundFingerprints"] = list(self.members)
        if self.calls != dict.fromkeys(self.members, self.streak):
            state["callStreaks"] = dict(self.calls)
        return state

    @classmethod
    def from_json(cls, state: object) -> ToolStreak | None:
        """Return the counts that somebody saved, or ``None`` if these are not counts.

        Figures out of range are brought into it, odd members are dropped.
        """
        if not isinstance(state, Mapping):
            return None
        fingerprint, streak = state.get("fingerprint"), saved_streak(state.get("streak"))
        if not isinstance(fingerprint, str) or streak is None:
            return None
        listed = state.get("roundFingerprints")
        members = {item for item in _items(listed) if isinstance(item, str)} or {fingerprint}
        calls = dict.fromkeys(sorted(members)[:MAX_MEMBERS], streak)
        given = state.get("callStreaks")
        for name, value in list(given.items())[:MAX_MEMBERS] if isinstance(given, Mapping) else ():
            count = saved_streak(value, below=None)
            if isinstance(name, str) and count is not None:
                calls[name] = count
        return cls(fingerprint, streak, tuple(sorted(members)[:MAX_MEMBERS]), calls)


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def count_round(
    before: ToolStreak | None,
    calls: Sequence[str],
    fresh: Collection[str] = (),
    failing: Collection[str] = (),
) -> ToolStreak:
    """Return the counts after a round in which the tool was called like this.

    ``fresh`` are the calls whose last result was news: what came before then
    counts for nothing, neither for this call nor for the set it is in.
    ``failing`` are those whose last result was a failure that passes: to try
    again is no repeat.

    >>> first = count_round(None, ["b", "a", "b"])
    >>> second = count_round(count_round(first, ["a", "b"]), ["a", "c"])
    >>> second.streak, second.of("a"), second.of("c")
    (1, 3, 1)
    """
    emitted = list(dict.fromkeys(calls))
    members = tuple(sorted(emitted))
    if before is None:
        return ToolStreak(calls[-1], 1, members, dict.fromkeys(emitted, 1))
    streak = 1
    if before.members == members and not any(call in fresh for call in emitted):
        streak = before.streak + (not any(call in failing for call in emitted))
    streaks = {
        call: 1
        if call in fresh or call not in before.calls
        else before.calls[call] + (call not in failing)
        for call in emitted
    }
    return ToolStreak(calls[-1], streak, members, streaks)


class ServerStreak(NamedTuple):
    """The counts of a server tool, and where its round began.

    ``round`` is the number of the round that ``now`` is of, ``None`` if any
    round is a new one; ``before`` are the counts of the round before that.
    """

    now: ToolStreak
    round: int | None = None
    before: ToolStreak | None = None


def count_server_call(
    state: ServerStreak | None, call: str, number: int
) -> tuple[ServerStreak, bool]:
    """Return the counts after a request in round ``number``, and whether it is a duplicate.

    >>> one, _ = count_server_call(None, "a", 0)
    >>> again, duplicate = count_server_call(one, "a", 0)
    >>> (again == one, duplicate), count_server_call(again, "a", 1)[0].now.of("a")
    ((True, True), 2)
    """
    if state is None:
        before, counted = None, _NONE
    elif state.round == number:
        before, counted = state.before, state.now.calls
    else:
        before, counted = state.now, _NONE
    streak, past = 1, 0
    if before is not None:
        past = before.calls.get(call, 0)
        streak = before.streak + 1 if before.fingerprint == call else 1
    # The round streak of the next round is compared with the last request, a duplicate or not.
    calls = counted if call in counted else {**counted, call: past + 1}
    if len(calls) > MAX_MEMBERS:
        calls = dict([*calls.items()][1:])
    return ServerStreak(ToolStreak(call, streak, (call,), calls), number, before), call in counted
