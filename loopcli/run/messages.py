"""What ``run`` says to people about its attempts: the document's sentences, or plain ones.

``DocumentMessages`` has the wording of the source (gg's model client), which stays where
the document's rule is asked for. ``PlainMessages`` says the same in one clause a fact.
"""

from __future__ import annotations

from typing import Protocol

from loopcli.run.attempts import AttemptOutcome, Attempts
from loopcli.wording import counted


class TurnMessages(Protocol):
    """The lines about one turn; ``turn`` is its number."""

    def retry(self, attempts: Attempts, seconds: float) -> str:
        """Return the warning before another attempt, which begins after ``seconds``."""

    def discarded(self, attempts: Attempts, turn: int) -> str:
        """Return the warning about what was discarded before the answer, or nothing."""

    def failure(self, attempts: Attempts, turn: int) -> list[str]:
        """Return the lines about a turn without an answer."""


class DocumentMessages:
    """The sentences of the document."""

    def retry(self, attempts: Attempts, seconds: float) -> str:
        """Return the warning before another attempt."""
        return attempts.retry_line(seconds)

    def discarded(self, attempts: Attempts, turn: int) -> str:
        """Return the warning about what was discarded before the answer, or nothing."""
        return attempts.discarded_line(turn)

    def failure(self, attempts: Attempts, turn: int) -> list[str]:
        """Return the lines about a turn without an answer; a loop outweighs the last failure."""
        last, line = attempts.last, attempts.failure(turn)
        if attempts.looped and last not in attempts.looped:
            return [f"the last attempt failed: {last.cause}", line]
        return [line]


class PlainMessages:
    """One plain line for each thing that happened."""

    def retry(self, attempts: Attempts, seconds: float) -> str:
        """Return the warning before another attempt."""
        number = f"attempt {len(attempts.outcomes)} of {attempts.most}"
        how = _how(attempts.last).removesuffix(".")  # a provider's sentence, which goes on here
        return f"{number}{how}; retrying in {seconds:.1f} s"

    def discarded(self, attempts: Attempts, turn: int) -> str:
        """Return the warning about what was discarded before the answer, or nothing."""
        loops, words, chars = attempts.tally
        if not loops:
            return ""
        replies = "1 looping reply" if loops == 1 else f"{loops} looping replies"
        return (
            f"discarded {replies} before this one: {counted(words, 'word')}, "
            f"{counted(chars, 'character')}, which may be billed"
        )

    def failure(self, attempts: Attempts, turn: int) -> list[str]:
        """Return the line about a turn without an answer."""
        made, (loops, _, chars) = len(attempts.outcomes), attempts.tally
        if made == 1:
            last = attempts.last
            return [last.plain if last.tripped is not None else f"the attempt{_how(last)}"]
        ended = f"no reply after {made} attempts; the last{_how(attempts.last)}"
        if loops:
            ended = (
                ended.removesuffix(".")
                + f"; {loops} looped, {counted(chars, 'character')} discarded"
            )
        return [ended]


def _how(outcome: AttemptOutcome) -> str:
    if outcome.tripped is not None:
        return f": {outcome.plain}"
    return f" failed: {outcome.plain or outcome.cause}"
