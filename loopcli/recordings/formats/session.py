"""Agents' sessions: each reply of the model in them is a reply of its own.

Rules of this file:

- The readers of ``sessions`` turn the bytes into events; what the model wrote
  between two ends of a round of one agent is a reply. Its calls' arguments are
  lanes, as they are in a stream.
- An attempt that the program gave up for another is a reply, too.
- A failure of the API is part of a session's history, not a defect of its file.
- Memory holds the replies that are not complete: one for each agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcli.events import BrokenRecord, Channel, Event, Lane, Problem, Text
from loopcli.readers.arguments import Unescaper
from loopcli.recordings.base import Defect, Item, Reply
from loopcli.session_events import RoundEnd, RoundRestart, SessionCall
from loopcli.sessions import table
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.sniff import Sniffed, sniff

# What a model can write in one reply is far below.
MAX_REPLY_CHARS = 64 * 1024 * 1024
# How a file begins that may be a session.
STARTS = (b"{", b"[", b"data:", table.AIDER_START)
NO_SESSION = Sniffed()


def recognise(head: bytes, *, whole: bool) -> Sniffed:
    """Return the format of a session that an agent wrote, if a file begins like one.

    ``whole`` says that ``head`` is all of it. A list of messages is read as a
    conversation, like those that evaluations keep.
    """
    sniffed = sniff(head, final=whole) or NO_SESSION
    return sniffed if sniffed.name and table.FORMATS[sniffed.name].program else NO_SESSION


def read(pieces: Iterable[bytes], sniffed: Sniffed) -> Iterator[Item]:
    """Yield the replies of a session, as they end, and its defects."""
    reader, replies = SessionReader(*sniffed), _Replies()
    for piece in pieces:
        yield from replies.take(reader.feed(piece))
    yield from replies.take(reader.close())


class _Replies:
    """The replies that are not complete, by agent."""

    def __init__(self) -> None:
        self._lanes: dict[str, dict[Lane, list[str]]] = {}
        self._calls: dict[str, list[SessionCall]] = {}
        self._chars = 0

    def take(self, events: Iterable[Event]) -> Iterator[Item]:
        for event in events:
            match event:
                case Text():
                    self._chars += len(event.text)
                    if self._chars <= MAX_REPLY_CHARS:
                        lanes = self._lanes.setdefault(event.lane.agent, {})
                        lanes.setdefault(event.lane, []).append(event.text)
                case SessionCall():
                    self._chars += len(event.arguments)
                    if not event.spoken and self._chars <= MAX_REPLY_CHARS:
                        self._calls.setdefault(event.agent, []).append(event)
                case RoundEnd() | RoundRestart():
                    yield from self._reply(event.agent)
                case BrokenRecord(message, line) | Problem(message, line):
                    yield Defect(message, f"line {line}")

    def _reply(self, agent: str) -> Iterator[Reply]:
        lanes, calls = self._lanes.pop(agent, {}), self._calls.pop(agent, [])
        if not self._lanes and not self._calls:
            self._chars = 0
        if lanes or calls:
            arguments = map(_arguments, range(len(calls)), calls)
            yield Reply([*lanes.items(), *arguments], in_session=True)


def _arguments(number: int, call: SessionCall) -> tuple[Lane, Iterable[str]]:
    """Return the lane of a call's arguments; their words are taken out when they are wanted."""
    lane = Lane(Channel.TOOL_ARGS, 0, number, call.name, call.agent)
    return lane, (Unescaper().feed(text) for text in (call.arguments,))
