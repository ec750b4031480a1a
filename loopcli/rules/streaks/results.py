"""Whether a call's result is news: compared without what programs add to it.

A call that is repeated because its result moves is no loop: a poll, a progress
bar, a queue that empties. Programs wrap results, though, in figures that differ
each time whatever the tool printed, and compared with those every loop would
look like progress. Only such figures are dropped; numbers in the tool's own
output are its news.

Known, from recorded sessions: the ``Chunk ID``, the ``Wall time`` and the
session's number that Codex puts before ``Output:``, the ``duration_seconds`` of
its older form, the process group and the background processes that Gemini CLI
names on lines of their own, and the reminders that Claude Code appends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from xxhash import xxh3_64_intdigest

_HEAD = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines): [^\n]*\n"
    r"|Process (?:exited with code|running with session ID) [^\n]*\n)+(?=Output:)"
)
_HEAD_NOISE = re.compile(r"(?m)^(?:Chunk ID|Wall time):.*\n| with session ID .*")
_DURATION = re.compile(r'"duration_seconds":\s*[\d.]+')
_PROCESSES = re.compile(r"(?m)^(?:Process Group PGID|Background PIDs): .*\n?")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)

# An error that passes, in the words of APIs: too many requests, a server's failure.
_PASSING = re.compile(
    r"\b(?:429|50[0234]|529)\b|rate.?limit|too many requests|overloaded"
    r"|service unavailable|internal server error|bad gateway",
    re.IGNORECASE,
)
# What names an error stands at its beginning; the rest may quote anything.
_PASSING_WITHIN = 300

_MASK = 2**64 - 1


def without_noise(text: str) -> str:
    r"""Return a result without the figures that programs add to it.

    >>> without_noise("Chunk ID: f0a588\nWall time: 0.1 seconds\nOutput:\nnotes.txt\n")
    'Output:\nnotes.txt'
    >>> without_noise("Output: 1\nProcess Group PGID: 13400\n")
    'Output: 1'
    """
    if head := _HEAD.match(text):
        text = _HEAD_NOISE.sub("", head[0]) + text[head.end() :]
    if '"duration_seconds"' in text:
        text = _DURATION.sub("", text)
    if "Process Group PGID: " in text or "Background PIDs: " in text:
        text = _PROCESSES.sub("", text)
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    return text.rstrip()


def digest(text: str, is_error: bool) -> int:
    """Return what is kept of a result: 64 bits, never 0."""
    mark = "error\n" if is_error else "\n"
    return xxh3_64_intdigest((mark + without_noise(text)).encode("utf-8", "surrogatepass")) or 1


def is_passing(text: str, is_error: bool) -> bool:
    """Return whether a result is a failure of the kind that a retry is for."""
    return is_error and _PASSING.search(text, 0, _PASSING_WITHIN) is not None


class Results(NamedTuple):
    """The results of one call in its last round, and in the round before; 0 if there are none.

    Equal calls of one round may have several results, in any order; their sum
    stands for them. ``passing`` says that the last one was a passing failure.
    """

    last: int = 0
    prior: int = 0
    passing: bool = False

    @property
    def changed(self) -> bool:
        """Whether the last result is not the one before."""
        return bool(self.last and self.prior) and self.last != self.prior

    def add(self, text: str, is_error: bool) -> Results:
        """Return the results with one more of the last round."""
        value = (self.last + digest(text, is_error)) & _MASK
        return self._replace(last=value or 1, passing=is_passing(text, is_error))

    def shift(self) -> Results:
        """Return the results when the next round begins."""
        return Results(0, self.last or self.prior)


NO_RESULTS = Results()


def saved_results(state: object) -> Mapping[str, Results]:
    """Return results by call from a saved state; what is odd in it is left out."""
    if not isinstance(state, Mapping):
        return MappingProxyType({})
    return {name: found for name, item in state.items() if (found := _saved(item)) is not None}


def _saved(item: Any) -> Results | None:
    if not (isinstance(item, list | tuple) and len(item) == 3):
        return None
    last, prior, passing = item
    whole = all(type(value) is int and 0 <= value <= _MASK for value in (last, prior))
    return Results(last, prior, passing is True) if whole else None
