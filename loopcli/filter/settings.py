"""The filter's flags, apart from the rules."""

from __future__ import annotations

from typing import NamedTuple


class FilterSettings(NamedTuple):
    """The flags of the filter. Times are in seconds; 0 means no limit.

    ``end_line`` ends an emitted text with a newline: what comes next, a prompt or the
    text of another file, is to begin a line.
    """

    hold: bool = False
    dry_run: bool = False
    emit_text: bool = False
    end_line: bool = False
    trim: bool = False
    trip_event: bool = False
    strict: bool = False
    progress: bool = False
    idle_timeout: float = 0
    timeout: float = 0
    state_file: str = ""
