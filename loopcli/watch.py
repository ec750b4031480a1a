"""A reader and a detector as one: bytes in, events and verdicts out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from loopcli.detector import MAX_LANES, Detector
from loopcli.events import (
    BrokenRecord,
    Channel,
    Done,
    Event,
    EventMarks,
    Finish,
    HttpHead,
    Lane,
    Meta,
    Note,
    Problem,
    Restart,
    ServerLoop,
    Text,
    UpstreamError,
    Usage,
)
from loopcli.readers.base import Reader
from loopcli.readers.dialects.table import NAMES as REPLY_FORMATS
from loopcli.readers.endings import CAPPED, FAILED, REFUSED
from loopcli.session_events import RoundEnd, SessionCall
from loopcli.verdicts import REPETITION, Verdict
from loopcli.wording import brief

if TYPE_CHECKING:
    from loopcli.session_judge import SessionJudge
    from loopcli.session_verdicts import SessionOutput, SessionVerdict


class End(StrEnum):
    """How a reply ended."""

    DONE = "done"
    CAPPED = "capped"  # the provider's output cap
    REFUSED = "refused"  # the provider's content filter
    CUT = "cut"  # the stream stopped without an end mark
    FAILED = "failed"  # the provider reported an error
    MALFORMED = "malformed"
    TRIPPED = "tripped"
    TIMED_OUT = "timed-out"
    INTERRUPTED = "interrupted"


class PlacedVerdict(NamedTuple):
    """A verdict, and the byte at which the input is to be cut for it.

    A server's own verdict needs no cut: the server has ended the reply. ``input_kind`` names
    the format and framing that the input was read as.
    """

    verdict: Verdict
    cut: int | None
    input_kind: str = ""


class SessionReport(NamedTuple):
    """What there is to report on a session, which is no event of the input."""

    output: SessionOutput


# The framings that several formats come in.
_FRAMINGS = ("sse", "ndjson", "json")

# What a watch yields: an event, or a report, with the verdicts on it.
WatchItem = tuple[Event | SessionReport, list[PlacedVerdict]]


class StreamState:
    """What a stream has said so far: its id, its usage, its endings, its errors."""

    def __init__(self) -> None:
        self.format = ""
        self.framing = ""
        self.meta = Meta()
        self.usage: Usage | None = None
        self.finishes: dict[int, str] = {}
        self.done = False
        self.head: HttpHead | None = None
        self.error: UpstreamError | None = None
        self.problem: Problem | None = None
        self.server_loop = False
        self.rounds = 0  # of a session
        self.has_words = False  # whether any text but blanks has arrived

    @property
    def input_kind(self) -> str:
        """The format, and the framing where it adds something: ``chat over sse``."""
        return f"{self.format} over {self.framing}" if self.framing in _FRAMINGS else self.format

    @property
    def nothing_arrived(self) -> bool:
        """Whether the input was empty, or blank plain text: a command that failed, most often."""
        return self.format == "text" and not self.has_words

    @property
    def finish_reason(self) -> str | None:
        """The first finish_reason of the stream, in the provider's word."""
        return next(iter(self.finishes.values()), None)

    @property
    def failure(self) -> str:
        """The first finish_reason that means a failure."""
        return next((r for r in self.finishes.values() if r.lower() in FAILED), "")

    def note(self, event: Event) -> None:
        """Update the state with an event."""
        match event:
            case Meta():
                self.meta = event
            case Usage():
                self.usage = event
            case Finish(choice, reason):
                # Gemini sends STOP with every chunk, so a later reason counts.
                if choice in self.finishes or len(self.finishes) < MAX_LANES:
                    self.finishes[choice] = reason
            case Done():
                self.done = True
            case RoundEnd():
                self.rounds += 1
            case Restart():
                self.finishes, self.done, self.usage = {}, False, None
            case HttpHead():
                self.head = event
            case ServerLoop():
                self.server_loop = True
            case UpstreamError():
                self.error = self.error or event
            case Problem():
                self.problem = self.problem or event

    def end(self) -> End:
        """Return how the stream ended, now that it has."""
        if self.problem is not None:
            return End.MALFORMED
        if self.error is not None:
            return End.FAILED
        if self.server_loop:
            return End.TRIPPED
        reasons = {reason.lower() for reason in self.finishes.values()}
        if self.failure:
            return End.FAILED
        if reasons & CAPPED:
            return End.CAPPED
        if reasons & REFUSED:
            return End.REFUSED
        # Most programs write no end mark: a session may be continued at any time.
        ended = self.done or reasons or self.rounds or self.format == "text"
        return End.DONE if ended else End.CUT


class Watch:
    """Judges a stream as it arrives; pure: no clock, no input or output.

    ``sessions`` makes the judge of a session, once the input is known to be one.
    """

    def __init__(
        self,
        reader: Reader,
        detector: Detector,
        sessions: Callable[[], SessionJudge | None] | None = None,
    ) -> None:
        self._reader, self.detector, self._sessions = reader, detector, sessions
        self.judge: SessionJudge | None = None
        self._overflow_reported = False
        self._calls = 0
        self._state = StreamState()

    @property
    def state(self) -> StreamState:
        """What the stream has stated about itself so far."""
        self._state.format, self._state.framing = self._reader.name, self._reader.framing
        return self._state

    @property
    def progress(self) -> int:
        """The number of deltas with content that have arrived."""
        return self._reader.progress

    def feed(self, data: bytes) -> Iterator[WatchItem]:
        """Yield each event that ``data`` completes, with the verdicts on it."""
        return self._judge(self._reader.feed(data))

    def close(self) -> Iterator[WatchItem]:
        """Yield what the end of the input completes."""
        yield from self._judge(self._reader.close())
        for output in self.judge.close() if self.judge is not None else ():
            yield SessionReport(output), []

    def _judge(self, events: list[Event]) -> Iterator[WatchItem]:
        if self._sessions is not None and self.state.format != "unknown":
            self.judge = self._sessions() if _is_session(self.state.format) else None
            self._sessions = None
        for place, arrived in enumerate(events):
            event = arrived if isinstance(arrived, Text) else _shortened(arrived)
            if isinstance(event, Text):
                verdicts = self._judge_text(event)
                if verdicts:
                    self._note_usage(events[place + 1 :], verdicts[0])
                yield event, verdicts
            else:
                self._state.note(event)
                if isinstance(event, SessionCall) and not event.spoken:
                    yield from self._judge_words(event)
                self.detector.update(event)
                yield event, [self._served(event)] if isinstance(event, ServerLoop) else []
            if self.judge is not None:
                yield from self._judge_session(self.judge, event)
            if self.detector.overflowed and not self._overflow_reported:
                self._overflow_reported = True
                yield Note("the stream has too many choices or blocks; the rest go unjudged"), []

    def _judge_session(self, judge: SessionJudge, event: Event) -> Iterator[WatchItem]:
        """Yield what follows from an event for its session; a stop is a verdict to cut at."""
        for output in judge.update(event):
            stop = getattr(output, "stop", None)
            cut = None if stop is None else getattr(output, "byte", None)
            stops = [PlacedVerdict(_ended(stop), cut, self.state.input_kind)] if stop else []
            yield SessionReport(output), stops

    def _judge_text(self, event: Text) -> list[PlacedVerdict]:
        if not self._state.has_words:
            self._state.has_words = not event.text.isspace()
        verdicts = self.detector.update(event)
        kind = self.state.input_kind if verdicts else ""
        return [PlacedVerdict(v, event.marks.byte_after(v.offset), kind) for v in verdicts]

    def _judge_words(self, call: SessionCall) -> Iterator[WatchItem]:
        """Judge the words of a call that came whole, as a lane of its own."""
        from loopcli.readers.arguments import Unescaper  # seldom needed

        if self.detector.watches(Channel.TOOL_ARGS):
            self._calls += 1
            lane = Lane(Channel.TOOL_ARGS, 0, self._calls, call.name, call.agent)
            words = Unescaper().feed(call.arguments)
            event = Text(lane, words, EventMarks([words], [call.byte]))
            yield event, self._judge_text(event)

    def _note_usage(self, following: list[Event], verdict: PlacedVerdict) -> None:
        """Note the token counts that had arrived at the verdict: nothing after it is read."""
        usage = next((event for event in following if isinstance(event, Usage)), None)
        if usage is not None and verdict.cut is not None:
            self._state.usage = usage.at(verdict.cut) or self._state.usage

    def _served(self, event: ServerLoop) -> PlacedVerdict:
        """Return the verdict of a server that ended the reply itself; it has no gauge."""
        lane = Lane(choice=event.choice)
        words, chars = self.detector.totals(lane.channel, lane.choice)
        message = f"the server ended the reply as a repetition: {event.sign}"
        verdict = Verdict("server", REPETITION, message, words, chars, 0, 0, 0, lane=lane)
        return PlacedVerdict(verdict, None, self.state.input_kind)


def _is_session(name: str) -> bool:
    """Return whether a format is one of sessions; those of replies are known without a look."""
    if name == "text" or name in REPLY_FORMATS:
        return False
    from loopcli.sessions.table import NAMES

    return name in NAMES


def _ended(stop: SessionVerdict) -> Verdict:
    """Return the verdict of the ladder that ends a session as one of a rule; it judged no words."""
    reading = stop.reading
    return Verdict(
        rule=reading.rule,
        kind=reading.detection.value,
        message=stop.message,
        words=0,
        chars=0,
        offset=0,
        gauge=reading.streak,
        ceiling=stop.ceiling,
        lane=Lane(tool=reading.tool, agent=reading.agent),
    )


def _shortened(event: Event) -> Event:
    """Return an event whose message, which a server may have written, is as long as is shown."""
    match event:
        case UpstreamError(message, _, _, code):
            return event._replace(message=brief(message), code=brief(code))
        case Problem(message) | Note(message) | BrokenRecord(message):
            return event._replace(message=brief(message))
        case ServerLoop(_, sign):
            return event._replace(sign=brief(sign))
    return event
