"""A gauge over the length of a reply, drawn with block characters."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from loopcli.analyze.trace import Point, Trace
from loopcli.wording import shown

_ROWS = 8
_BLOCKS = " ▁▂▃▄▅▆▇█"
_CEILING = "┄"


def chart(ident: str, trace: Trace, width: int) -> str:
    """Return the chart of one rule, ``width`` columns wide, with a line at its ceiling."""
    lane = trace.lane.channel.value
    lines = [
        f"{ident}: {trace.rule}, {lane}: peak {trace.peak.value} of {trace.ceiling}, "
        f"{trace.words} words, {trace.chars} characters"
    ]
    top = max(trace.ceiling, trace.peak.value, 1)
    margin = len(str(top))
    columns = max(width - margin - 2, 8)
    heights = _heights(trace, top, columns)
    ceiling_row = max(ceil(trace.ceiling / top * _ROWS) - 1, 0)
    for row in reversed(range(_ROWS)):
        labels = {ceiling_row: trace.ceiling, _ROWS - 1: top}
        label = str(labels[row]) if row in labels else ""
        back = _CEILING if row == ceiling_row else " "
        cells = "".join(_cell(height - row * 8, back) for height in heights)
        lines.append(f"{label:>{margin}} ┤{cells}".rstrip())
    lines.append(f"{0:>{margin}} └" + "─" * columns)
    end = f"{trace.words} words"
    lines.append(" " * (margin + 2) + "0" + end.rjust(columns - 1))
    return "\n".join(lines + _legend(trace)) + "\n"


def _cell(height: int, back: str) -> str:
    return _BLOCKS[min(height, 8)] if height > 0 else back


def _heights(trace: Trace, top: int, columns: int) -> list[int]:
    """Return the height of each column in eighths of a row; every gauge above 0 is visible."""
    highest = [0] * columns
    total = max(trace.words, 1)
    for words, gauge in _spread(trace.points, total, columns):
        highest[words] = max(highest[words], gauge)
    return [ceil(gauge / top * _ROWS * 8) for gauge in highest]


def _spread(points: Sequence[Point], total: int, columns: int) -> list[tuple[int, int]]:
    """Return the columns that each point covers: from the point before up to itself."""
    cells, last = [], 0
    for words, gauge in points:
        first = min(last * columns // total, columns - 1)
        end = min(max(words - 1, 0) * columns // total, columns - 1)
        # A gauge is that of its own words; the columns before them belong to other points.
        cells += [(column, gauge) for column in range(min(first, end), end + 1)]
        last = words
    return cells


def _legend(trace: Trace) -> list[str]:
    peak, verdict = trace.peak, trace.verdict
    lines = []
    if peak.value:
        # Not every rule counts the words before a stretch.
        word = "" if peak.word is None else f"word {peak.word}, "
        lines.append(f"peak: began after {word}character {peak.char}")
        lines.append("repeating: " + " ".join(map(shown, peak.repeated)))
    if verdict is not None:
        where = f"word {verdict.words}, character {verdict.chars}"
        lines.append(f"trip: {verdict.kind} at {where}")
    return lines
