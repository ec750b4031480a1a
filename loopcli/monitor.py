"""The front door for programs: one object that judges one reply.

Two monitors, for the two ways in which a program meets a reply:

- ``TextMonitor`` takes the text deltas that a client library yields;
- ``StreamMonitor`` takes the bytes of a response body, in any format that the
  ``loopcheck`` command reads.

Both return the verdict as soon as a rule fires, and keep it. A monitor is for one
reply: make a new one for each attempt. Nothing here reads a clock or does input or
output, so a monitor works the same in threads, in ``asyncio`` and in tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

from loopcli.detector import Detector
from loopcli.errors import ConfigError
from loopcli.events import Channel, Lane
from loopcli.readers.calls import Calls
from loopcli.readers.collector import Collector
from loopcli.rules import table
from loopcli.rules.base import Armed
from loopcli.sessions.live import NAMES, reader
from loopcli.settings.arming import FileSettings, chosen_channels, chosen_rules, resolve
from loopcli.verdicts import Verdict
from loopcli.watch import End, StreamState, Watch, WatchItem

__all__ = ["StreamMonitor", "TextMonitor", "arm"]


def arm(
    *rules: str,
    preset: str | None = None,
    watch: Iterable[str] | None = None,
    past_trip: bool = False,
    **knobs: int,
) -> list[Armed]:
    """Return rules that are ready to judge; without arguments those of the command.

    ``rules`` are names, ``watch`` the channels that every one of them judges, and
    ``knobs`` figures of the rules, all as ``loopcheck rules`` lists them. With
    ``past_trip`` a rule that fires goes on measuring, as a replay wants it. Raises
    ``ConfigError``, which has a sentence for each defect; a setting that changes
    nothing is a Python warning.

    >>> len(arm()), len(arm("period", period_letters=400))
    (2, 1)
    """
    names = {knob.name for _, knob in table.knobs()}
    unknown = [name for name in knobs if name not in names]
    if unknown:
        raise ConfigError(*(f"unknown knob `{name}`" for name in unknown))
    settings = resolve(
        FileSettings(
            names=chosen_rules("rules", ",".join(rules)) if rules else None,
            channels=None if watch is None else chosen_channels("watch", ",".join(watch)),
            knobs={name: (name, str(value)) for name, value in knobs.items()},
        ),
        preset=preset,
    )
    for warning in settings.warnings:
        warnings.warn(warning, stacklevel=2)
    return settings.rules(past_trip=past_trip)


class TextMonitor:
    r"""Judges a reply by its text deltas.

    ``verdict`` is ``None`` until a rule fires. ``detector`` gives the gauges and the
    totals.

    >>> monitor = TextMonitor()
    >>> for delta in ["Here is the code:\n", *["void 0;\n"] * 500]:
    ...     if monitor.feed(delta):
    ...         break
    >>> monitor.verdict.message, monitor.verdict.chars, monitor.verdict.onset_char
    ('8 characters repeated 81 times, 665 characters into the reply', 665, 17)
    """

    def __init__(self, rules: Sequence[Armed] | None = None) -> None:
        self.detector = Detector(arm() if rules is None else rules)
        self.verdict: Verdict | None = None
        self._collector = Collector()
        self._calls = Calls()

    def feed(
        self,
        text: str,
        channel: str = Channel.CONTENT,
        *,
        choice: int = 0,
        block: int = 0,
        tool: str = "",
    ) -> Verdict | None:
        """Judge one delta; return the verdict from the moment a rule fires on.

        ``channel`` is ``content``, ``reasoning`` or ``tool-args``. Tool arguments are
        fragments of JSON, as a provider streams them. Each channel is judged on its
        own, and so are each ``choice`` of several, and each ``block`` (the number of a
        tool call, or of a content block); ``tool`` is the name of the tool.
        """
        out = self._collector
        if self.verdict is not None:
            return self.verdict
        if Channel(channel) is Channel.TOOL_ARGS:
            self._calls.open(out, choice, block, tool, "", 0)
            self._calls.add_fragment(out, choice, block, text, 0)
        else:
            out.add_text(Lane(Channel(channel), choice, block), text, 0)
        for event in out.take():
            for verdict in self.detector.update(event):
                self.verdict = self.verdict or verdict
        return self.verdict


class StreamMonitor:
    r"""Judges a reply by the bytes of its response.

    ``verdict`` is ``None`` until a rule fires, or until the stream says that the
    server stopped a repetition itself. ``cut`` is then the number of bytes, from the
    beginning of the stream, that a copy should end after: the first whole event that
    holds the character at which the rule fired. ``cut`` is ``None`` if the server
    stopped. ``state`` is what the stream said about itself so far: errors, finish
    reasons, usage, ids. ``input_format`` is a format of ``--input``; by default it is
    detected.

    >>> monitor = StreamMonitor()
    >>> body = b'data: {"choices": [{"delta": {"content": "No! "}}]}\n\n' * 300
    >>> monitor.feed(body).message
    '4 characters repeated 161 times, 644 characters into the reply'
    >>> monitor.cut == 161 * len(body) // 300, monitor.close().value
    (True, 'tripped')
    """

    def __init__(self, rules: Sequence[Armed] | None = None, *, input_format: str = "auto") -> None:
        if input_format not in NAMES:
            known = ", ".join(NAMES)
            raise ConfigError(f"input_format: unknown format `{input_format}` (there is: {known})")
        self._watch = Watch(reader(input_format), Detector(arm() if rules is None else rules))
        self.verdict: Verdict | None = None
        self.cut: int | None = None

    @property
    def detector(self) -> Detector:
        """The rules at work, with their gauges and totals."""
        return self._watch.detector

    @property
    def state(self) -> StreamState:
        """What the stream said about itself so far."""
        return self._watch.state

    def feed(self, data: bytes) -> Verdict | None:
        """Judge the next bytes; return the verdict from the moment a rule fires on."""
        return self._first(self._watch.feed(data))

    def close(self) -> End:
        """Judge what was held back until the end of the input; return how the reply ended."""
        self._first(self._watch.close())
        return End.TRIPPED if self.verdict is not None else self.state.end()

    def _first(self, judged: Iterable[WatchItem]) -> Verdict | None:
        if self.verdict is None:
            placed = next((one for _, verdicts in judged for one in verdicts), None)
            if placed is not None:
                self.verdict, self.cut = placed.verdict, placed.cut
        return self.verdict
