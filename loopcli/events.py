"""What readers yield: the things a recorded or live reply consists of.

A reader turns bytes into these events; rules and drivers see nothing else of
the wire. Offsets count from 0: a character offset is the number of characters
before it, a byte offset the number of bytes of the input before it.

They are named tuples because a data class takes several times as long to
define, and a filter's start-up is a cost that every pipeline pays.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple, Protocol

from loopcli.session_events import SessionEvent


class Channel(StrEnum):
    """Where in a reply the model wrote something."""

    CONTENT = "content"
    REASONING = "reasoning"
    TOOL_ARGS = "tool-args"


class Lane(NamedTuple):
    """One stretch of text that is judged by itself: never diluted by another.

    ``choice`` tells the candidates of one request apart (``n`` > 1), ``block``
    the blocks or tool calls of one candidate, ``tool`` names the tool whose
    arguments the lane holds. ``agent`` is the subagent of a session that wrote
    it, empty for the main agent and for a single reply.
    """

    channel: Channel = Channel.CONTENT
    choice: int = 0
    block: int = 0
    tool: str = ""
    agent: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether this is the text that a reader wants: the first choice, of the main agent."""
        return self.channel is Channel.CONTENT and not (self.choice or self.agent)


class Marks(Protocol):
    """Knows at which byte of the input a character of a text event arrived."""

    def byte_after(self, chars: int) -> int:
        """Return where the input may be cut so that ``chars`` characters are in it."""


class EventMarks:
    """Marks of a text that several wire events brought: cuts fall between events."""

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: Sequence[str], ends: Sequence[int]) -> None:
        self._parts = parts
        self._ends = ends

    def byte_after(self, chars: int) -> int:
        """Return the end of the wire event that brought character number ``chars``."""
        totals = list(accumulate(map(len, self._parts)))
        return self._ends[bisect_left(totals, chars)]


class SharedWords:
    """The words of one text, which the first rule that splits it leaves for the others.

    ``words.Splitter`` fills it and reads it: the ``words`` that ``text`` completes
    behind the unfinished word ``pending``, and the unfinished word ``rest`` at its
    end. It lasts as long as the event that carries it.
    """

    __slots__ = ("pending", "rest", "text", "words")

    def __init__(self) -> None:
        self.text = self.pending = self.rest = ""
        self.words: list[str] = []


class Text(NamedTuple):
    """Consecutive deltas of one lane that arrived in one read, joined.

    Whoever shows one event to several rules may add ``shared``, so that the text
    is split into words once.
    """

    lane: Lane
    text: str
    marks: Marks
    shared: SharedWords | None = None


class ToolStart(NamedTuple):
    """The model began a tool call. ``block`` is its place among the reply's calls."""

    choice: int
    block: int
    name: str
    id: str


class ToolCall(NamedTuple):
    """A tool call, assembled from its fragments, once the reply is over.

    ``arguments`` is the JSON text as sent (``{}`` when the model sent none);
    ``complete`` is false when it was longer than the reader keeps.
    """

    choice: int
    block: int
    name: str
    id: str
    arguments: str
    complete: bool = True


class Meta(NamedTuple):
    """What the stream says of itself: the first id and the names it gave."""

    generation_id: str = ""
    model: str = ""
    provider: str = ""


class Usage(NamedTuple):
    """Token counts as the provider sent them; the last block of a stream wins.

    A provider may send counts with each delta. They do not divide the text: of one read
    only the last counts are an event, which follows the text. ``arrived`` holds all of
    them, with the byte at which the wire event of each one ended.
    """

    counts: Mapping[str, object]
    arrived: Sequence[tuple[int, Mapping[str, object]]] = ()

    def at(self, byte: int) -> "Usage | None":
        """Return the last counts that had arrived at a byte, or ``None`` if none had."""
        counts = [counts for end, counts in self.arrived if end <= byte]
        return Usage(counts[-1]) if counts else None


class Finish(NamedTuple):
    """One choice ended, with the provider's own word for the reason."""

    choice: int
    reason: str


class Done(NamedTuple):
    """The stream's own end mark (``data: [DONE]`` and its kin)."""


class Restart(NamedTuple):
    """The reply begins anew: what came before belongs to an attempt that was given up."""


class ServerLoop(NamedTuple):
    """The server itself found a repetition in this choice and ended the reply for it.

    ``sign`` is how it said so, in its own words.
    """

    choice: int
    sign: str


class HttpHead(NamedTuple):
    """The head of an HTTP response, as ``curl -i`` prints it before the body.

    ``byte`` is where the body begins. The others are the values of headers as they
    were sent, empty if there is none: when to ask again, and the server's time.
    """

    status: int
    retry_after: str = ""
    byte: int = 0
    retry_after_ms: str = ""
    date: str = ""


class UpstreamError(NamedTuple):
    """The provider reported an error inside the stream. ``byte`` is where its event ended."""

    message: str
    line: int
    byte: int
    code: str = ""


class Problem(NamedTuple):
    """The input is not what it claims to be; other events may follow."""

    message: str
    line: int
    byte: int


class BrokenRecord(NamedTuple):
    """A record of a session that could not be read; it was skipped, and reading goes on."""

    message: str
    line: int
    byte: int


class Note(NamedTuple):
    """Something worth a warning that changes neither verdict nor status."""

    message: str


Event = (
    Text
    | ToolStart
    | ToolCall
    | Meta
    | Usage
    | Finish
    | Done
    | Restart
    | ServerLoop
    | HttpHead
    | UpstreamError
    | Problem
    | BrokenRecord
    | Note
    | SessionEvent
)
