"""The tails rule: a reply that ends in a repetition, or says what the reply before it said.

Source: OpenRouter, Doom-loop detection, "Repeating the same text".

The text of a reply is what its answer says: reasoning and arguments are other
rules' business. It is gathered until the round ends, since only its end counts.
Each agent of the session is judged by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from loopcli.actions import Detection
from loopcli.bounds import drop_oldest
from loopcli.events import Channel, Event, Text
from loopcli.identity import fingerprint
from loopcli.ladder import count, saved_streak
from loopcli.rules.base import saved_peak
from loopcli.rules.tails.config import NAME, TailsConfig
from loopcli.rules.tails.repetition import normalised, repetition
from loopcli.session_events import RoundEnd, RoundRestart, SessionOptions, SessionStart
from loopcli.session_setup import SessionSetup
from loopcli.session_verdicts import Reading
from loopcli.verdicts import Peak

# Agents that have been at work lately. Real sessions have a handful.
MAX_AGENTS = 256
# Of a reply that is longer, the end is judged. A model's reply is far below.
MAX_CHARS = 4 * 1024 * 1024
# The options as the document spells them.
_SPELLED = {
    "max_period_tokens": "maxPeriodTokens",
    "min_repeats": "minRepeats",
    "min_covered_tokens": "minCoveredTokens",
    "max_window_tokens": "maxWindowTokens",
}

_BEGIN = "Doom loop suspected: "
_END = " Do not say it again; go on in another way."


class _OpenReply:
    """The text of a reply that is not over."""

    __slots__ = ("block", "chars", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.chars = 0
        self.block = 0

    def add(self, block: int, text: str) -> None:
        """Add a piece; what stands in another block stands in another paragraph."""
        if block != self.block and self.pieces:
            text = "\n" + text
        self.block = block
        self.pieces.append(text)
        self.chars += len(text)
        if self.chars > 2 * MAX_CHARS:
            self.pieces = [self.text]
            self.chars = MAX_CHARS

    @property
    def text(self) -> str:
        """The text, or the end of one that is too long."""
        return "".join(self.pieces)[-MAX_CHARS:]


class TextStreak(NamedTuple):
    """The last text that an agent wrote, and for how many replies in a row."""

    fingerprint: str
    streak: int

    @classmethod
    def from_json(cls, state: object) -> TextStreak | None:
        """Return the streak that somebody saved, or ``None`` if this is none."""
        if not isinstance(state, Mapping):
            return None
        same, streak = state.get("fingerprint"), saved_streak(state.get("streak"))
        return cls(same, streak) if isinstance(same, str) and streak is not None else None


class TailsRule:
    """Looks at the end of each reply of a session, and compares it with the reply before.

    >>> from loopcli.events import EventMarks, Lane
    >>> rule = TailsRule()
    >>> def reply(text):
    ...     rule.update(Text(Lane(), text, EventMarks([text], [1])))
    ...     readings = rule.update(RoundEnd("", 1, 1))
    ...     return [(one.detection.value, one.streak) for one in readings]
    >>> reply("I am stuck. " * 5)
    [('text-repetition', 5), ('text-streak', 1)]
    >>> reply("Trying again."), reply("Trying  again.")
    ([('text-streak', 1)], [('text-streak', 2)])
    """

    name = NAME

    def __init__(
        self, config: TailsConfig | None = None, setup: SessionSetup | None = None
    ) -> None:
        self._given = config or TailsConfig()
        self._setup = setup or SessionSetup()
        self._start()

    def _start(self) -> None:
        self.config = self._given
        self.enabled = True
        self._open: dict[str, _OpenReply] = {}
        self._streaks: dict[str, TextStreak] = {}
        self.gauge = 0
        self.peak = Peak()

    @property
    def ceiling(self) -> int:
        """The fewest repeats that count; the ladder decides what follows from them."""
        return self.config.lowest

    def update(self, event: Event) -> list[Reading]:
        """Take note of an event; return the readings of the reply that it ends."""
        match event:
            case Text(lane, text) if lane.channel is Channel.CONTENT and lane.choice == 0:
                self._open.setdefault(lane.agent, _OpenReply()).add(lane.block, text)
                drop_oldest(self._open, MAX_AGENTS)
            case RoundEnd():
                return self._end_round(event.agent)
            case RoundRestart():
                self._open.pop(event.agent, None)
            case SessionOptions():
                self._configure(event.options.get("text"))
            case SessionStart():
                self._start()
        return []

    def warnings(self, agent: str) -> list[str]:
        """Return nothing: there is nothing that a text can be wrong about."""
        return []

    def _configure(self, options: object) -> None:
        """Take over the text options of the input; the user's own numbers go before them."""
        self.config, self.enabled = self._given, options is not False
        if not isinstance(options, Mapping):
            return
        self.enabled = options.get("enabled") in (None, True)
        for name, spelled in _SPELLED.items():
            value: Any = options.get(spelled)
            if _is_number(value) and name not in self._setup.stated:
                self.config = self.config._replace(**{name: value})

    def options(self) -> Mapping[str, Any]:
        """Return the text options in force, as the document spells them."""
        numbers = {_SPELLED[name]: value for name, value in self.config._asdict().items()}
        return {"text": {"enabled": self.enabled, **numbers}}

    def _end_round(self, agent: str) -> list[Reading]:
        reply = self._open.pop(agent, None)
        text = normalised(reply.text) if reply and self.enabled else ""
        if not text:
            return []
        readings = [*self._repeated(agent, text), self._same(agent, text)]
        self.gauge = max(reading.streak for reading in readings)
        if self.gauge > self.peak.value:
            self.peak = Peak(self.gauge, ceiling=self.ceiling)
        return readings

    def _repeated(self, agent: str, text: str) -> list[Reading]:
        end = repetition(text, self.config)
        if end is None:
            return []
        message = f'{_BEGIN}the reply ends in "{end.sample}", {end.repeats} times in a row.{_END}'
        kind, same = Detection.REPETITION, fingerprint(end.sample)
        return [Reading(NAME, kind, agent, end.repeats, same, message)]

    def _same(self, agent: str, text: str) -> Reading:
        same, before = fingerprint(text), self._streaks.pop(agent, None)
        streak = before.streak + 1 if before and before.fingerprint == same else 1
        self._streaks[agent] = TextStreak(same, streak)
        drop_oldest(self._streaks, MAX_AGENTS)
        message = f"{_BEGIN}the text was identical for {streak} consecutive turns.{_END}"
        return Reading(NAME, Detection.TEXT_STREAK, agent, streak, same, message)

    def document(self, agent: str) -> dict[str, Any]:
        """Return what the document's engine saves of an agent: its last text, if there is one."""
        last = self._streaks.get(agent)
        return {"text": last._asdict()} if last else {}

    def restore_document(self, agent: str, state: Mapping[str, Any]) -> None:
        """Take over an agent's last text in the document's form."""
        if last := TextStreak.from_json(state.get("text")):
            self._streaks[agent] = last

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON."""
        return {
            "options": self.options()["text"],
            "streaks": {agent: last._asdict() for agent, last in self._streaks.items()},
            "open": {agent: [reply.block, reply.text] for agent, reply in self._open.items()},
            "gauge": self.gauge,
            "peak": self.peak.to_json(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the state that ``snapshot`` returned."""
        self._start()
        self._configure(state["options"])
        for agent, last in state["streaks"].items():
            self.restore_document(agent, {"text": last})
        for agent, (block, text) in state["open"].items():
            self._open[agent] = _OpenReply()
            self._open[agent].add(count(block), str(text))
        self.gauge, self.peak = count(state["gauge"]), saved_peak(state["peak"])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
