"""Assembles tool calls from their fragments, for every dialect.

The words of a call's arguments are added as they arrive, in a lane of their own.
The call itself is an event when the reply is over. Rules of this file:

- Some servers give all calls of a reply one index. A call with another id begins
  where the one before it is complete: it gets a place, and a lane, of its own.
- One call again and again is a loop of which no call is long. Calls behind
  ``_EQUAL`` equal ones share one lane, where they are judged as they were
  written, names and all.
"""

from __future__ import annotations

from loopcli.events import Channel, Lane, ToolCall, ToolStart
from loopcli.lenient_json import dump_text, string
from loopcli.readers.arguments import Unescaper
from loopcli.readers.collector import Collector

# Arguments are kept for the event of the call. A longer call is a loop, and no
# real reply has more calls.
_MAX_ARGUMENTS = 1024 * 1024
_MAX_KEPT = 16 * 1024 * 1024
_MAX_CALLS = 1024
# Equal calls in a row before the next ones share a lane. Twenty in one reply have been
# asked for; with what the period rule wants of a copy, a loop is stopped soon after.
_EQUAL = 24


class Call:
    """One tool call. ``used`` is true once any arguments have come."""

    __slots__ = (
        "arguments",
        "choice",
        "id",
        "kept",
        "lane",
        "name",
        "place",
        "shared",
        "size",
        "unescaper",
    )

    def __init__(self, choice: int, place: int) -> None:
        self.choice = choice
        self.place = place
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.size = 0
        self.kept = 0
        self.lane: Lane | None = None
        self.shared = False  # judged in one lane with the equal calls before it
        self.unescaper = Unescaper()

    @property
    def used(self) -> bool:
        """Whether any arguments have come."""
        return self.size > 0

    @property
    def text(self) -> tuple[str, str] | None:
        """What was called with what; ``None`` if not all of it was kept."""
        return (self.name, "".join(self.arguments)) if self.kept == self.size else None


class _Run:
    """Equal calls in a row, of one choice."""

    __slots__ = ("lane", "last", "length", "text")

    def __init__(self) -> None:
        self.last: Call | None = None
        self.text: tuple[str, str] | None = None
        self.length = 0
        self.lane: Lane | None = None

    def add(self, call: Call, lane: Lane) -> None:
        """Begin a call in a lane, or in the run's if enough equal ones came before it."""
        last, self.last = self.last, call
        if last is None:
            return
        if (text := last.text) is None or text != self.text:
            self.text, self.length, self.lane = text, 0, None
        self.length += 1
        if self.length >= _EQUAL and text is not None and lane.tool in ("", text[0]):
            call.shared = True
            call.lane = self.lane = self.lane or lane


class Calls:
    """The calls of one reply, by choice and by their place in it."""

    def __init__(self) -> None:
        self._calls: dict[tuple[int, int], Call] = {}
        self._kept = 0
        # Where the latest call is whose place was that of a complete one.
        self._moved: dict[tuple[int, int], int] = {}
        self._runs: dict[int, _Run] = {}

    def places(self, choice: int) -> list[int]:
        """Return the places of a choice's calls, in the order they were opened."""
        return [place for owner, place in self._calls if owner == choice]

    def get(self, choice: int, place: int) -> Call | None:
        """Return the latest call that has been opened at a place."""
        return self._calls.get((choice, self._moved.get((choice, place), place)))

    def make_room(self, choice: int, place: int, ident: str, *, begins: bool) -> None:
        """Give a call a place of its own if another, complete one has the place it names.

        Another call has another id; where there is none, its arguments begin anew.
        """
        call = self.get(choice, place)
        if call is None or not call.unescaper.complete or len(self._calls) >= _MAX_CALLS:
            return
        if ident != call.id if ident and call.id else begins:
            self._moved[choice, place] = max(self.places(choice)) + 1

    def open(
        self, out: Collector, choice: int, place: int, name: str, ident: str, end: int
    ) -> Call | None:
        """Return a call, new or known; ``None`` if there are too many. Add what is new of it."""
        place = self._moved.get((choice, place), place)
        call = self._calls.get((choice, place))
        if call is None:
            if len(self._calls) >= _MAX_CALLS:
                return None
            call = self._calls[choice, place] = Call(choice, place)
            lane = Lane(Channel.TOOL_ARGS, choice, place, name)
            self._runs.setdefault(choice, _Run()).add(call, lane)
            if call.shared and call.lane is not None:
                out.add_text(call.lane, f"\n{name} ", end)
        before = call.name, call.id
        call.name, call.id = name or call.name, ident or call.id
        if before != (call.name, call.id):
            out.progress += 1
            out.add_event(ToolStart(choice, place, call.name, call.id))
        return call

    def add_fragment(
        self,
        out: Collector,
        choice: int,
        place: int,
        fragment: str,
        end: int,
        *,
        free: bool = False,
    ) -> None:
        """Add a fragment of a call's arguments; ``free`` if they are a text and not JSON."""
        call = self.get(choice, place) or self.open(out, choice, place, "", "", end)
        if call is not None:
            self.extend(out, call, fragment, end, free=free)

    def extend(
        self, out: Collector, call: Call, fragment: str, end: int, *, free: bool = False
    ) -> None:
        """Add a fragment to a call that has been opened."""
        if not fragment:
            return
        size = len(fragment)
        call.size += size
        if call.size <= _MAX_ARGUMENTS and self._kept + size <= _MAX_KEPT:
            self._kept += size
            call.kept += size
            call.arguments.append(fragment)
        words = "" if free else call.unescaper.feed(fragment)
        _add_words(out, call, fragment if free or call.shared else words, end)

    def add_words(self, out: Collector, choice: int, place: int, words: str, end: int) -> None:
        """Add words of a call's arguments that are unescaped already."""
        call = self.get(choice, place)
        if call is not None:
            _add_words(out, call, words, end)

    def add_whole(
        self, out: Collector, choice: int, place: int, arguments: object, end: int
    ) -> None:
        """Add arguments that came whole: as an object, or as its JSON text."""
        text = string(arguments)
        if arguments and not text:
            text = dump_text(arguments)
        self.add_fragment(out, choice, place, text, end)

    def keep(self, choice: int, place: int, arguments: object) -> None:
        """Remember arguments whose words have been added already."""
        call = self.get(choice, place)
        text = dump_text(arguments)
        if call is not None and len(text) <= _MAX_ARGUMENTS:
            call.arguments, call.size, call.kept = [text], len(text), len(text)

    def close(self, out: Collector) -> None:
        """Add the assembled calls, in the order of their places."""
        for (choice, place), call in sorted(self._calls.items(), key=lambda item: item[0]):
            arguments = "".join(call.arguments).strip() or "{}"
            complete = call.kept == call.size
            out.add_event(ToolCall(choice, place, call.name, call.id, arguments, complete))
        self.restart()

    def restart(self) -> None:
        """Discard the calls of an attempt that was given up."""
        self._calls.clear()
        self._moved.clear()
        self._runs.clear()
        self._kept = 0


def _add_words(out: Collector, call: Call, words: str, end: int) -> None:
    if call.lane is None:
        # Fixed here: a name that comes later must not change the lane.
        call.lane = Lane(Channel.TOOL_ARGS, call.choice, call.place, call.name)
    if words:
        out.add_text(call.lane, words, end)
    else:
        out.progress += 1  # syntax counts as progress, too
