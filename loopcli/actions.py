"""What repeats in a session, and what is to be done about it.

They stand apart from the verdicts because every start of a command needs the names.
"""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """What is to be done, the weakest first.

    A filter can do no more than stop. What else a verdict asks for is for
    whoever runs the agent to do.
    """

    OBSERVE = "observe"  # take note
    STEER = "steer"  # hand the model the message before its next turn
    ESCALATE = "escalate"  # the same, and run that turn on a stronger model
    BLOCK = "block"  # refuse the call, with the message as its error
    STOP = "stop"  # end the session

    @property
    def strength(self) -> int:
        """The place of the action among all of them."""
        return _STRENGTH[self]


_STRENGTH = {action: place for place, action in enumerate(Action)}


class Detection(StrEnum):
    """What repeats. The first four names are the document's."""

    TOOL = "tool-fingerprint"
    SERVER_TOOL = "server-tool-fingerprint"
    REPETITION = "text-repetition"
    TEXT_STREAK = "text-streak"
    CYCLE = "call-cycle"

    @property
    def is_text(self) -> bool:
        """Whether it is the model's text that repeats."""
        return self in (Detection.REPETITION, Detection.TEXT_STREAK)

    @property
    def can_be_blocked(self) -> bool:
        """Whether there is a call that could still be refused."""
        return self in (Detection.TOOL, Detection.CYCLE)
