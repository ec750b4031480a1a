"""The filter's messages for people, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopcli.actions import Action
from loopcli.detector import Gauge
from loopcli.output.base import Summary
from loopcli.output.console import RED, YELLOW, Console
from loopcli.output.trip_line import trip_line
from loopcli.status import Status
from loopcli.watch import PlacedVerdict
from loopcli.wording import counted, shown

if TYPE_CHECKING:
    from loopcli.session_verdicts import SessionOutput

_STDIN, _STDOUT = "<stdin>", "<stdout>"


class TextRenderer:
    """Prints verdicts, problems and warnings; with ``verbose`` also the settings and totals."""

    def __init__(
        self,
        console: Console,
        *,
        verbose: bool = False,
        dry_run: bool = False,
        advice: bool = False,
    ) -> None:
        """``dry_run`` says that nothing is stopped, ``advice`` asks for the knob to raise."""
        self._console = console
        self._source = _STDIN
        # A verdict leaves out the name of standard input: it is the input of most runs.
        self._file = ""
        self._verbose = verbose
        self._dry_run = dry_run
        self._advice = advice
        self._document = False
        self._armed_named = False

    def begin(self, info: dict[str, Any]) -> None:
        """Note the file that is read; name the armed rules, if ``verbose`` and not yet done.

        Where the saturation rule judges alone, its document's own sentences are asked for.
        """
        self._document = list(info["rules"]) == ["saturation"]
        self._file = info.get("file", "")
        self._source = self._file or _STDIN
        if self._verbose and info["armed"] and not self._armed_named:
            self._console.line(info["armed"])
            self._armed_named = True

    def verdict(self, ruling: PlacedVerdict, bytes_in: int) -> None:
        """Report what tripped, what repeated, and where the repetition began."""
        verdict = ruling.verdict
        lane = verdict.lane
        where = "" if lane.channel == "content" else f"{lane.channel}: "
        if lane.tool:
            where = f"{lane.channel} of {shown(lane.tool)}: "
        if lane.choice:
            where = f"choice {lane.choice}: {where}"
        if not self._document:
            line = trip_line(verdict, ruling.input_kind, dry_run=self._dry_run, advice=self._advice)
            self._console.line(where + line, source=self._file, color=RED)
            return
        line = where + verdict.message
        if verdict.repeated:
            words = " ".join(map(shown, verdict.repeated))
            line += f"; repeating {words} since character {verdict.onset_char}"
        self._console.line(line, source=self._source, color=RED)

    def session(self, output: SessionOutput, bytes_in: int) -> None:
        """Report the verdicts of a round; one that only takes note is for ``verbose``."""
        for verdict in getattr(output, "verdicts", ()):
            if verdict.effective is Action.OBSERVE and not self._verbose:
                continue
            agent = f"agent {shown(verdict.reading.agent)}: " if verdict.reading.agent else ""
            color = RED if verdict.effective is Action.STOP else YELLOW
            line = f"{agent}round {verdict.round}: {verdict.effective}: {verdict.message}"
            self._console.line(line, source=self._source, color=color)

    def problem(self, message: str, *, line: int | None = None, kind: str = "malformed") -> None:
        """Report an error, and its line if it has one."""
        position = f"line {line}: " if line else ""
        source = _STDOUT if kind == "output" else self._source
        self._console.line(position + message, source=source, color=RED)

    def warning(self, message: str, *, of_input: bool = True) -> None:
        """Report a warning."""
        self._console.warning(message, source=self._source if of_input else "")

    def tick(self, words: int, chars: int, gauges: dict[str, Gauge]) -> None:
        """Print nothing: a line for each read would be noise."""

    def end(self, summary: Summary) -> None:
        """Print the totals, if ``verbose``."""
        if self._verbose and summary.status is not Status.TROUBLE:
            peaks = ", ".join(
                f"peak {peak.value} of {peak.ceiling} ({name})"
                for name, peak in summary.peaks.items()
            )
            kind = f" ({summary.state.input_kind})" if summary.state.input_kind else ""
            totals = f"{summary.end}{kind}: {counted(summary.words, 'word')}, "
            totals += counted(summary.chars, "character")
            self._console.line(totals + (f", {peaks}" if peaks else ""), source=self._source)
