"""Replays the sessions of one file through the rules for sessions, and keeps a few rows of each.

A session is judged to its end, also behind a stop, so that a peak is that of
the whole session. What repeats is kept by agent and tool: the highest streak,
the call that reached it, and the round in which each rung of the ladder was
reached first. Nothing else is kept, so a session may be of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from loopcli.analyze.replay import LOOP, ReplayRow
from loopcli.events import Channel, Event, Text
from loopcli.lenient_json import dump_text
from loopcli.session_events import RoundEnd, RoundRestart, SessionCall, SessionStart
from loopcli.session_judge import SessionJudge
from loopcli.session_verdicts import JudgedRound, Reading
from loopcli.verdicts import REPETITION, Label

# Agents and tools of one session that are kept; the lowest streak gives way.
MAX_REPEATS = 256
# How much of a call, or of a text, a row shows.
_SHOWN = 160


class Rung(NamedTuple):
    """A rung of the ladder: its threshold, and the first round that reached it, if one did."""

    action: str
    threshold: int
    round: int | None


class Repeat(NamedTuple):
    """What one agent repeated most with one tool, or in its texts: then the tool is empty.

    ``detection`` says how it repeats, ``what`` shows it. It came ``streak`` times
    in a row, the last of them in round ``round`` of the agent, on ``line`` of the file.
    """

    rule: str
    detection: str
    agent: str
    tool: str
    what: str
    streak: int
    round: int
    line: int
    rungs: tuple[Rung, ...]


class SessionFacts(NamedTuple):
    """What the row of a session has beside those of a reply; ``repeats`` has the highest first."""

    rounds: int
    calls: int
    repeats: tuple[Repeat, ...]


class _Highest:
    """The highest streak of one agent and tool so far."""

    __slots__ = ("line", "reached", "reading", "round", "what")

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.round = self.line = 0
        self.what = ""
        self.reached: dict[str, int] = {}

    def repeat(self, rungs: Sequence[tuple[str, int]]) -> Repeat:
        """Return what is known of it."""
        reading = self.reading
        return Repeat(
            rule=reading.rule,
            detection=reading.detection.value,
            agent=reading.agent,
            tool=reading.tool,
            what=self.what,
            streak=reading.streak,
            round=self.round,
            line=self.line,
            rungs=tuple(Rung(name, least, self.reached.get(name)) for name, least in rungs),
        )


class _Stop(NamedTuple):
    """Where a rule stopped a session first: the rounds and calls that had come by then."""

    channel: str
    rounds: int
    calls: int


class SessionReplay:
    """Judges the sessions of one file, one after the other.

    ``rules`` names the rules that ``judge`` makes a judge of; ``label`` returns
    the label of the session with a number.
    """

    def __init__(
        self,
        path: str,
        rules: Sequence[str],
        judge: Callable[[], SessionJudge],
        label: Callable[[int], Label | None] = lambda number: None,
    ) -> None:
        self._path = path
        self._rules = rules
        self._make = judge
        self._label = label
        self._rows: list[ReplayRow] = []
        self._sessions = 0
        self._begin()

    def _begin(self) -> None:
        self._judge = self._make()
        self._highest: dict[tuple[str, str, str, str], _Highest] = {}
        self._stops: dict[str, _Stop] = {}
        self._rounds = self._calls = 0
        # The text of each agent's reply, as far as a row shows it.
        self._said: dict[str, str] = {}

    def update(self, event: Event) -> None:
        """Judge one event."""
        if isinstance(event, SessionStart):
            self._end()
        elif isinstance(event, SessionCall):
            self._calls += 1
        elif isinstance(event, Text):
            self._hear(event)
        elif isinstance(event, RoundRestart):
            self._said.pop(event.agent, None)
        for output in self._judge.update(event):
            if isinstance(output, JudgedRound):
                self._take(output)
        if isinstance(event, RoundEnd):
            self._said.pop(event.agent, None)

    def rows(self) -> list[ReplayRow]:
        """Return a row for each session and rule, now that the file has ended."""
        self._end()
        return self._rows

    def _hear(self, event: Text) -> None:
        said = self._said.get(event.lane.agent, "")
        if event.lane.channel is Channel.CONTENT and len(said) < _SHOWN:
            self._said[event.lane.agent] = said + event.text[:_SHOWN]

    def _take(self, judged: JudgedRound) -> None:
        self._rounds += 1
        for reading, verdict in judged.items:
            if not isinstance(reading, Reading):
                continue
            key = reading.rule, reading.detection.value, reading.agent, reading.tool
            highest = self._highest.get(key)
            if highest is None:
                self._make_room()
                highest = self._highest[key] = _Highest(reading)
            if highest.round == 0 or reading.streak > highest.reading.streak:
                highest.reading, highest.what = reading, self._shown(reading)
                highest.round, highest.line = judged.number, judged.line
            for name, least in self._rungs():
                if reading.streak >= least:
                    highest.reached.setdefault(name, judged.number)
            if verdict is not None and verdict is judged.stop:
                channel = "text" if reading.detection.is_text else "calls"
                stop = _Stop(channel, self._rounds, self._calls)
                self._stops.setdefault(reading.rule, stop)

    def _rungs(self) -> list[tuple[str, int]]:
        return [(action.value, least) for action, least in self._judge.ladder.rungs()]

    def _make_room(self) -> None:
        if len(self._highest) >= MAX_REPEATS:
            lowest = min(self._highest, key=lambda key: self._highest[key].reading.streak)
            del self._highest[lowest]

    def _shown(self, reading: Reading) -> str:
        if reading.detection.is_text:
            return " ".join(self._said.get(reading.agent, "").split())[:_SHOWN]
        arguments: Mapping[str, object] | None = reading.arguments
        return "" if arguments is None else dump_text(arguments)[:_SHOWN]

    def _end(self) -> None:
        """Keep the rows of the session that has ended; one without a round is none."""
        if self._rounds:
            self._sessions += 1
            self._rows += [self._row(rule) for rule in self._rules]
        self._begin()

    def _row(self, rule: str) -> ReplayRow:
        rungs = self._rungs()
        repeats = [item.repeat(rungs) for key, item in self._highest.items() if key[0] == rule]
        repeats.sort(key=lambda repeat: -repeat.streak)
        top = repeats[0] if repeats else None
        ceiling = self._judge.ladder.stop or max([least for _, least in rungs], default=0)
        peak = top.streak if top is not None else 0
        stop = self._stops.get(rule)
        return ReplayRow(
            id=f"{self._path}@{self._sessions}",
            label=self._label(self._sessions),
            onset=None,
            rule=rule,
            channel=None if top is None else ("calls" if top.tool else "text"),
            words=self._rounds,
            chars=self._calls,
            peak=peak,
            ceiling=ceiling,
            margin=ceiling - peak,
            peak_word=None if top is None else top.round,
            peak_char=None,
            peak_line=None if top is None else top.line,
            repeated=() if top is None else (top.tool or top.what,),
            verdict=None if stop is None else REPETITION,
            trip_channel=None if stop is None else stop.channel,
            trip_word=None if stop is None else stop.rounds,
            trip_char=None if stop is None else stop.calls,
            finding=None if stop is None else LOOP,
            places=(),
            session=SessionFacts(self._rounds, self._calls, tuple(repeats)),
        )
