"""Several rules over a session, with the ladder that decides what follows from their counts.

Rules count; this file decides. When a reply of an agent is complete, every rule
returns its readings, and each reading meets the ladder. Both text detectors may
reach a rung on one reply; the stronger action is reported, of equals the
repetition inside the reply. A call that stands twice in a round shares one
verdict.

Judging goes on after a stop: whoever drives decides whether anything is read.

Source: OpenRouter, Doom-loop detection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from loopcli.actions import Action
from loopcli.bounds import drop_oldest
from loopcli.conversation import Conversation
from loopcli.events import Event, Text
from loopcli.ladder import MAX_ESCALATIONS, Escalation, Ladder, count, hazards
from loopcli.rules import table
from loopcli.rules.base import SessionRule
from loopcli.rules.streaks.entry import STREAKS
from loopcli.session_events import RoundEnd, SessionOptions, SessionStart, UserMessage
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import (
    SERVER,
    JudgedItem,
    JudgedRound,
    Reading,
    SessionConfig,
    SessionOutput,
    SessionTotals,
    SessionVerdict,
    Uncounted,
)
from loopcli.verdicts import Peak

# Agents that have been at work lately. Real sessions have a handful.
MAX_AGENTS = 256

_ESCALATED = " The next turn is escalated: use the guidance that it brings to change course."


class SessionJudge:
    """Hands each event to every rule, and gives the readings of a round to the ladder."""

    def __init__(
        self,
        rules: Sequence[SessionRule],
        ladder: Ladder | None = None,
        setup: SessionSetup | None = None,
        max_escalations: int = MAX_ESCALATIONS,
    ) -> None:
        self._rules = rules
        self._given = ladder or Ladder()
        self._setup = setup or SessionSetup()
        self._max_escalations = max_escalations
        self._start("")

    def _start(self, session: str) -> None:
        self._session = session
        self._begun = False
        # The next session goes on with this one, whatever its name.
        self._resumed = False
        self._rounds = 0
        self._conversations: dict[str, Conversation] = {}
        self._configure({})

    def _configure(self, options: Mapping[str, Any]) -> None:
        """Take over the options of the input; what the user stated goes before them."""
        setup, stated = self._setup, self._setup.stated
        asked = Ladder.from_options(options["ladder"]) if "ladder" in options else self._given
        own = {name: value for name, value in self._given._asdict().items() if name in stated}
        self.ladder = asked._replace(**own)
        escalation = Escalation.from_options(options.get("escalation"))
        if setup.model or setup.advisor:
            most = escalation.max_escalations if escalation else self._max_escalations
            escalation = Escalation(setup.model, setup.advisor or None, most)
        if escalation and "max_escalations" in stated:
            escalation = escalation._replace(max_escalations=self._max_escalations)
        self.escalation = escalation
        # What is in force is reported before the next round.
        self._announced = False

    # --- Events ------------------------------------------------------------------------------

    def update(self, event: Event) -> list[SessionOutput]:
        """Judge one event; return what there is to report."""
        if isinstance(event, SessionStart):
            return self._begin(event)
        if isinstance(event, SessionOptions):
            self._configure(event.options)
        elif isinstance(event, UserMessage) and event.agent in self._conversations:
            self._conversations[event.agent].lift()
        self._begun = self._begun or not isinstance(event, Text)
        readings = [reading for rule in self._rules for reading in rule.update(event)]
        if not isinstance(event, RoundEnd):
            return []
        return [*self._announce(), self._judge(event, readings)]

    def _begin(self, event: SessionStart) -> list[SessionOutput]:
        """Begin another session, or go on with the one that a saved state is of."""
        if self._resumed:
            self._resumed, self._session = False, event.session
            return []
        outputs = self.close() if self._begun else []
        for rule in self._rules:
            rule.update(event)
        self._start(event.session)
        self._begun = True
        return outputs

    def close(self) -> list[SessionOutput]:
        """Return what there is to report when the input ends."""
        talks = self._conversations
        agents = {agent: self._counts(agent) for agent in ("", *talks)}
        stops = {name: talk.stop for name, talk in talks.items() if talk.stop}
        totals = SessionTotals(self._session, self._rounds, agents, stops, self.peaks())
        return [*self._announce(), totals]

    def peaks(self) -> dict[str, Peak]:
        """Return the highest streak that each rule has counted."""
        return {rule.name: rule.peak for rule in self._rules}

    def _announce(self) -> Iterator[SessionConfig]:
        if self._announced:
            return
        self._announced = True
        options = {
            "ladder": self.ladder.to_json(),
            "escalation": self.escalation and self.escalation.to_json(),
        }
        for rule in self._rules:
            options |= rule.options()
        warnings = tuple(hazards(self.ladder, self.escalation))
        yield SessionConfig(self._session, options, warnings)

    # --- A round -----------------------------------------------------------------------------

    def _conversation(self, agent: str) -> Conversation:
        """Return what is kept of an agent; that of the one that rested longest is dropped."""
        talk = self._conversations.pop(agent, None) or Conversation()
        self._conversations[agent] = talk
        drop_oldest(self._conversations, MAX_AGENTS)
        return talk

    def _judge(self, event: RoundEnd, readings: Sequence[Reading | Uncounted]) -> JudgedRound:
        talk = self._conversation(event.agent)
        self._rounds += 1
        talk.begin_round()
        items = [JudgedItem(reading, self._verdict(talk, reading)) for reading in readings]
        items.sort(key=_place)
        warnings = [text for rule in self._rules for text in rule.warnings(event.agent)]
        judged = JudgedRound(
            agent=event.agent,
            number=talk.round,
            items=tuple(items),
            warnings=tuple(warnings),
            standing=talk.standing,
            line=event.line,
            byte=event.byte,
        )
        talk.standing = None
        for verdict in judged.verdicts:
            talk.follow(verdict)
        return judged

    def _verdict(self, talk: Conversation, reading: Reading | Uncounted) -> SessionVerdict | None:
        if isinstance(reading, Uncounted):
            return None
        can_escalate = (
            self.escalation is not None and talk.escalations < self.escalation.max_escalations
        )
        decided = self.ladder.decide(
            reading.streak,
            can_block=reading.detection.can_be_blocked,
            can_escalate=can_escalate,
        )
        if decided is None:
            return None
        action, ceiling = decided
        effective = self._overridden(action, reading)
        if effective is Action.BLOCK and not reading.detection.can_be_blocked:
            effective = Action.OBSERVE
        if effective is Action.ESCALATE and not can_escalate:
            effective = Action.OBSERVE
        message = reading.message + (_ESCALATED if effective is Action.ESCALATE else "")
        return SessionVerdict(reading, action, effective, ceiling, message, talk.round)

    def _overridden(self, action: Action, reading: Reading) -> Action:
        """Return the action that the user wants instead; the last one that applies wins."""
        for name, wanted in self._setup.actions.items():
            if name in (reading.tool, reading.detection.value):
                action = wanted
        return action

    # --- State -------------------------------------------------------------------------------

    def _counts(self, agent: str) -> dict[str, Any]:
        """Return what the document's detectors count of an agent, in the form of its engine."""
        state: dict[str, Any] = {"tools": {}}
        for rule in self._rules:
            state |= rule.document(agent)
        talk = self._conversations.get(agent)
        return state | ({"escalationsUsed": talk.escalations} if talk and talk.escalations else {})

    def document(self, agent: str = "") -> dict[str, Any]:
        """Return the whole state of an agent as the document's engine saves it."""
        talk = self._conversations.get(agent)
        return self._counts(agent) | (talk.document() if talk else {})

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on with a saved conversation: a ``snapshot``, or the state of the document's engine.

        A stop in it stands until the user speaks. Raises ``KeyError``,
        ``TypeError``, ``ValueError`` or ``AttributeError`` for another.
        """
        if "rules" in state:
            self.restore(state)
            # What the earlier input asked for ends with it.
            self.update(SessionOptions({}, {}, 0, 0))
        else:
            for rule in self._rules:
                rule.restore_document("", state)
            self._conversation("").restore_document(state)
        for talk in self._conversations.values():
            talk.standing = talk.stop
        self._resumed = True

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain JSON."""
        return {
            "session": self._session,
            "rounds": self._rounds,
            "begun": self._begun,
            "announced": self._announced,
            "ladder": self.ladder.to_json(),
            "escalation": self.escalation and self.escalation.to_json(),
            "agents": {name: talk.snapshot() for name, talk in self._conversations.items()},
            "rules": {rule.name: rule.snapshot() for rule in self._rules},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned, to go on as if nothing had happened.

        Raises ``KeyError``, ``TypeError``, ``ValueError`` or ``AttributeError`` for another.
        """
        self._start(str(state["session"]))
        self._rounds, self._begun = count(state["rounds"]), state["begun"] is True
        self.ladder = Ladder.from_options(state["ladder"])
        self.escalation = Escalation.from_options(state["escalation"])
        self._announced = state["announced"] is True
        for name, talk in state["agents"].items():
            self._conversation(name).restore(talk)
        for rule in self._rules:
            if rule.name in state["rules"]:
                rule.restore(state["rules"][rule.name])


def armed_judge(
    names: Iterable[str], configs: Mapping[str, Any], setup: SessionSetup
) -> SessionJudge | None:
    """Return a judge with the named rules, or ``None`` if there are none.

    ``configs`` has the configuration of every rule by its name: the ladder is the
    streaks rule's to configure, and every rule's to use.
    """
    rules = [table.RULES[name].load()(configs[name], setup) for name in names]
    ladder = configs[STREAKS.name]
    return SessionJudge(rules, ladder.ladder, setup, ladder.max_escalations) if rules else None


def _place(item: JudgedItem) -> int:
    """Return where an item stands in a report: texts, then requests to servers, then calls."""
    reading = item.reading
    if isinstance(reading, Reading) and reading.detection.is_text:
        return 0
    return 1 if reading.tool.startswith(SERVER) else 2
