"""What lasts longer than a round, for one agent of a session.

- how many escalations it has had. One is spent when the escalated turn comes,
  so that however many verdicts of a round ask for one, it is one turn;
- the texts for the model that are due before its next turn, each only once;
- the verdict that ended the run. A message of the user lifts it; counts stay.

Source: OpenRouter, Doom-loop detection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopcli.actions import Action, Detection
from loopcli.ladder import count
from loopcli.session_verdicts import Reading, SessionVerdict

# Texts for the model that wait at a time: one for each tool that repeats.
MAX_STEERING = 64


class Conversation:
    """The memory of one agent's conversation.

    ``due`` says that its next turn is an escalated one. ``standing`` is a stop
    that a saved state brought along, until it has been reported.
    """

    __slots__ = ("due", "escalations", "round", "standing", "steering", "stop")

    def __init__(self) -> None:
        self.round = 0
        self.escalations = 0
        self.due = False
        self.steering: list[str] = []
        self.stop: SessionVerdict | None = None
        self.standing: SessionVerdict | None = None

    def begin_round(self) -> None:
        """Take note that a turn has come: what was due before it has been handed over."""
        self.round += 1
        self.escalations += self.due
        self.due = False
        self.steering = []

    def follow(self, verdict: SessionVerdict) -> None:
        """Take note of what a verdict asks for."""
        match verdict.effective:
            case Action.STOP:
                self.stop = verdict
            case Action.ESCALATE if not self.due:
                self.due = True
                self._steer(verdict.message)
            case Action.STEER:
                self._steer(verdict.message)

    def _steer(self, message: str) -> None:
        if message not in self.steering and len(self.steering) < MAX_STEERING:
            self.steering.append(message)

    def lift(self) -> None:
        """Take note that the user spoke."""
        self.stop = self.standing = None

    def document(self) -> dict[str, Any]:
        """Return the state as the document's engine saves it, beside the counts."""
        state: dict[str, Any] = {}
        if self.escalations:
            state["escalationsUsed"] = self.escalations
        if self.stop:
            state["stopVerdict"] = self.stop.document()
        if self.steering:
            state["pendingSteer"] = list(self.steering)
        return state

    def restore_document(self, state: Mapping[str, Any]) -> None:
        """Take over such a state; what is odd in it is left out."""
        self.escalations = count(state.get("escalationsUsed"))
        steering = state.get("pendingSteer")
        for text in steering if isinstance(steering, list) else ():
            if isinstance(text, str):
                self._steer(text)
        self.stop = _stop(state.get("stopVerdict"))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""
        return {
            "round": self.round,
            "escalations": self.escalations,
            "due": self.due,
            "steering": list(self.steering),
            "stop": self.stop and self.stop.to_json(),
            "standing": self.standing and self.standing.to_json(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        self.round, self.escalations = count(state["round"]), count(state["escalations"])
        self.due = state["due"] is True
        for text in state["steering"]:
            self._steer(str(text))
        stop, standing = state["stop"], state["standing"]
        self.stop = stop and SessionVerdict.from_json(stop)
        self.standing = standing and SessionVerdict.from_json(standing)


def _stop(state: object) -> SessionVerdict | None:
    """Return a verdict in the document's form that ended a run, or ``None`` if this is none."""
    if not isinstance(state, Mapping):
        return None
    texts = [state.get(name) for name in ("detector", "action", "fingerprint", "message")]
    streak, tool = count(state.get("streak")), state.get("toolName")
    if not all(isinstance(text, str) for text in texts) or not streak:
        return None
    detector, action, same, message = map(str, texts)
    if detector not in {*Detection} or action not in {*Action}:
        return None
    tool = tool if isinstance(tool, str) else ""
    reading = Reading("", Detection(detector), "", streak, same, message, tool)
    return SessionVerdict(reading, Action(action), Action.STOP, streak, message, 0)
