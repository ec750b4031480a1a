"""aider: ``.aider.chat.history.md``, the chats of a folder one after the other.

Source: the program's own account of the format, and histories that projects
keep. Rules of this file:

- ``# aider chat started at`` begins a session. ``#### `` is what the user
  typed, ``> `` what the program or a tool printed: retries, lint, token counts.
  All else is the model's.
- The program ends such lines with two blanks. A line without them that begins
  alike is the model's: quoted mail, a heading of the fourth level.
- Blank lines are the model's where its words go on after them.
"""

from __future__ import annotations

from typing import Any

from loopcli.events import Channel, Done
from loopcli.sessions.base import RecordDialect
from loopcli.sessions.collector import SessionCollector

START = "# aider chat started at "
_USER, _TOOL = "#### ", "> "
_MAX_BLANKS = 1000


class AiderHistory(RecordDialect):
    """Reads lines of text."""

    name = "aider"

    def __init__(self) -> None:
        self._begun = False
        self._typed: list[str] = []
        self._blanks = 0

    def take(self, doc: Any, out: SessionCollector) -> None:
        """Add what a line says, which is given as text without its end."""
        line = doc if isinstance(doc, str) else ""
        own = line.endswith("  ")
        if own and line.startswith(_USER):
            self._typed.append(line[len(_USER) :].rstrip())
            return
        self._said(out)
        if line.startswith(START):
            out.end()
            self._blanks = 0
            if self._begun:
                out.start(line[len(START) :].strip())
            self._begun = True
        elif own and line.startswith(_TOOL):
            out.end()
            self._blanks = 0
        elif line.strip():
            self._speak(line, out)
        else:
            self._blanks += 1

    def _speak(self, line: str, out: SessionCollector) -> None:
        if not out.is_open():
            self._blanks = 0
            out.messages += 1
            out.begin("", str(out.messages))
        blanks = "\n" * min(self._blanks, _MAX_BLANKS)
        self._blanks = 0
        out.delta(f"{blanks}{line}\n", Channel.CONTENT)

    def _said(self, out: SessionCollector) -> None:
        """Add what the user typed, now that all of it is there."""
        if self._typed:
            text, self._typed = "\n".join(self._typed), []
            out.user(text)

    def close(self, out: SessionCollector) -> None:
        """A history has no end mark: it ends well wherever it ends."""
        self._said(out)
        out.add(Done())
