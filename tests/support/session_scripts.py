"""Sessions as tests write them: turn by turn, judged by the rules for sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from helpers import text_event

from loopcli.events import Event, Lane
from loopcli.ladder import Ladder
from loopcli.rules.streaks.config import StreaksConfig
from loopcli.rules.streaks.rule import StreaksRule
from loopcli.rules.tails.config import TailsConfig
from loopcli.rules.tails.rule import TailsRule
from loopcli.session_events import (
    CallKind,
    RoundEnd,
    SessionCall,
    SessionOptions,
    SessionResult,
    UserMessage,
)
from loopcli.session_judge import SessionJudge
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import JudgedRound, Reading, SessionOutput, SessionVerdict

# A call as a test writes it: the tool, and its arguments as text or as a value.
Call = tuple[str, Any]


def session_call(
    tool: str, arguments: Any, ident: str = "", kind: CallKind = CallKind.CLIENT, agent: str = ""
) -> SessionCall:
    """A call; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return SessionCall(agent, tool, text, ident, kind, 1, 1)


def server_item(query: str, **more: Any) -> SessionCall:
    """A search that the model's provider carries out."""
    item = {"type": "web_search_call", "action": {"type": "search", "query": query}, **more}
    return session_call("web_search_call", item, kind=CallKind.SERVER)


class Script:
    """A session that is judged as it is written; every turn goes through a saved state."""

    def __init__(
        self,
        config: StreaksConfig | None = None,
        setup: SessionSetup | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        tools: Mapping[str, Any] | None = None,
        resumed: Mapping[str, Any] | None = None,
    ) -> None:
        self.config = config or StreaksConfig(max_cycle=0)
        self.setup = setup or SessionSetup()
        self.judge = self.fresh()
        if resumed is not None:
            self.judge.resume(resumed)
        if options is not None or tools is not None:
            self.judge.update(SessionOptions(options or {}, tools or {}, 1, 1))
        self.calls = 0
        self.outputs: list[SessionOutput] = []

    def fresh(self) -> SessionJudge:
        """A judge that knows nothing."""
        return SessionJudge(
            [TailsRule(TailsConfig(), self.setup), StreaksRule(self.config, self.setup)],
            self.config.ladder,
            self.setup,
            self.config.max_escalations,
        )

    def turn(
        self,
        *calls: Call | SessionCall,
        text: str = "",
        agent: str = "",
        results: Iterable[str | SessionResult] = (),
    ) -> JudgedRound:
        """Judge one reply; plain results answer the calls one by one."""
        events: list[Event] = [text_event(text, Lane(agent=agent))] if text else []
        ids = []
        for call in calls:
            self.calls += 1
            if not isinstance(call, SessionCall):
                call = session_call(*call, ident=f"call-{self.calls}", agent=agent)
            ids.append(call.id)
            events.append(call)
        for event in events:
            self.judge.update(event)
        self._through_json()
        outputs = self.judge.update(RoundEnd(agent, 1, 1))
        self.outputs += outputs
        for ident, result in zip(ids, results, strict=False):
            if isinstance(result, str):
                result = SessionResult(agent, ident, result, False, 1, 1)
            self.judge.update(result._replace(call_id=result.call_id or ident))
        self._through_json()
        (judged,) = (output for output in outputs if isinstance(output, JudgedRound))
        return judged

    def _through_json(self) -> None:
        """Go on with what was saved: the same must follow from it."""
        state = json.loads(json.dumps(self.judge.snapshot()))
        self.judge = self.fresh()
        self.judge.restore(state)
        assert json.loads(json.dumps(self.judge.snapshot())) == state

    def user(self, text: str = "Go on.", agent: str = "") -> None:
        """Let the user speak."""
        self.judge.update(UserMessage(agent, text, 1, 1))


def said(verdict: SessionVerdict) -> str:
    """A verdict in short: `observe@2`."""
    return f"{verdict.action}@{verdict.reading.streak}"


def verdicts(judged: JudgedRound) -> list[str]:
    """The verdicts of a round in short."""
    return [said(verdict) for verdict in judged.verdicts]


def streaks(judged: JudgedRound) -> list[int]:
    """The streak of every call that counted, in their order."""
    return [
        item.reading.streak
        for item in judged.items
        if isinstance(item.reading, Reading) and not item.reading.detection.is_text
    ]


def ladder(**rungs: int) -> StreaksConfig:
    """The ladder with these rungs and no other, as a configuration without cycles."""
    off = dict.fromkeys(Ladder()._asdict(), 0)
    return StreaksConfig(**(off | rungs), max_cycle=0)
