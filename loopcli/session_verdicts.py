"""What rules for sessions state: how often something has come, and what is to be done about it.

A rule only counts. At the end of each round it returns a ``Reading`` for each
call and text that counted, and an ``Uncounted`` for each call that did not. A
ladder turns a reading into an action, so that all rules of a session share one
ladder and one budget (see ``loopcli.ladder``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from loopcli.actions import Action, Detection
from loopcli.verdicts import Peak


class Reading(NamedTuple):
    """Something came for the ``streak``-th time in a row.

    ``fingerprint`` identifies it. A call has the name of its ``tool``, the
    ``call_id`` that its format gives it, and its ``arguments`` if they are an
    object. A ``duplicate`` stands behind an equal call of the same round and
    shares its count. ``message`` explains the repetition to the model.
    """

    rule: str
    detection: Detection
    agent: str
    streak: int
    fingerprint: str
    message: str
    tool: str = ""
    call_id: str = ""
    arguments: Mapping[str, Any] | None = None
    duplicate: bool = False


class Uncounted(NamedTuple):
    """A call that neither grows nor ends a streak, and why."""

    rule: str
    agent: str
    tool: str
    call_id: str
    reason: str


# How the tools of a server are named, apart from those of the agent.
SERVER = "server:"

# Reasons of ``Uncounted``. Those of kind "manual" and "denied" are kinds of call.
EXEMPT = "exempt"
UNHASHABLE = "unhashable"
TOO_MANY = "too-many"


class SessionVerdict(NamedTuple):
    """A reading reached a rung of the ladder.

    ``action`` is the ladder's, ``effective`` what is to be done after the user's
    overrides, ``ceiling`` the threshold of that rung. ``message`` is the text
    for the model. ``round`` counts the agent's replies from 1.
    """

    reading: Reading
    action: Action
    effective: Action
    ceiling: int
    message: str
    round: int

    def document(self) -> dict[str, Any]:
        """Return the verdict as the document's engine writes it."""
        reading = self.reading
        tool: dict[str, Any] = {"toolName": reading.tool} if reading.tool else {}
        if reading.arguments is not None:
            tool["toolInput"] = dict(reading.arguments)
        return {
            "detector": reading.detection.value,
            "action": self.action.value,
            "streak": reading.streak,
            "fingerprint": reading.fingerprint,
            **tool,
            "message": self.message,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON, as a state saves it."""
        reading = self.reading._asdict() | {"arguments": None}
        return self._asdict() | {"reading": reading}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """Return the verdict that ``to_json`` wrote."""
        reading = Reading(**state["reading"])
        reading = reading._replace(
            detection=Detection(reading.detection), streak=int(reading.streak)
        )
        action, effective = Action(state["action"]), Action(state["effective"])
        message, ceiling, number = str(state["message"]), state["ceiling"], state["round"]
        return cls(reading, action, effective, int(ceiling), message, int(number))


class JudgedItem(NamedTuple):
    """A call or a text of a round, and the verdict on it, if it has reached a rung."""

    reading: Reading | Uncounted
    verdict: SessionVerdict | None


class JudgedRound(NamedTuple):
    """A round of an agent, judged. ``number`` counts its replies from 1.

    ``items`` are its texts, its server requests and its calls, in this order.
    ``standing`` is a stop from before, which nothing has lifted.
    """

    agent: str
    number: int
    items: tuple[JudgedItem, ...]
    warnings: tuple[str, ...]
    standing: SessionVerdict | None
    line: int
    byte: int

    @property
    def text(self) -> SessionVerdict | None:
        """The verdict on the text of the reply: the strongest, of equals the first."""
        on_text = [
            item.verdict
            for item in self.items
            if item.verdict and item.verdict.reading.detection.is_text
        ]
        return max(on_text, key=lambda verdict: verdict.action.strength, default=None)

    @property
    def verdicts(self) -> list[SessionVerdict]:
        """The verdicts, each once: on the text, then on requests and calls."""
        verdicts = [self.standing, self.text]
        for _, verdict in self.items:
            if verdict and not (verdict.reading.detection.is_text or verdict.reading.duplicate):
                verdicts.append(verdict)
        return [verdict for verdict in verdicts if verdict]

    @property
    def stop(self) -> SessionVerdict | None:
        """The verdict that ends the session, if one does; of several the last."""
        stops = [verdict for verdict in self.verdicts if verdict.effective is Action.STOP]
        return stops[-1] if stops else None


class SessionConfig(NamedTuple):
    """What a session is judged by: the document's options as they are in force."""

    session: str
    options: Mapping[str, Any]
    warnings: tuple[str, ...]


class SessionTotals(NamedTuple):
    """What is known of a session when it is over.

    ``agents`` maps each agent to the state that the document's engine would
    save, ``stops`` those whose run has been ended to the verdict.
    """

    session: str
    rounds: int
    agents: Mapping[str, Mapping[str, Any]]
    stops: Mapping[str, SessionVerdict]
    peaks: Mapping[str, Peak]


SessionOutput = SessionConfig | JudgedRound | SessionTotals
