"""``analyze --sweep`` and ``--suggest``: a grid of knobs over a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from loopcli.commands.request import Request, Teller
from loopcli.errors import ConfigError
from loopcli.output import records, tuning
from loopcli.output.table import table
from loopcli.rules import table as rule_table
from loopcli.status import Status
from loopcli.survey import Survey
from loopcli.sweep.grid import Grid, Knobs
from loopcli.sweep.suggest import ITEMS, Suggestion, suggest

if TYPE_CHECKING:
    from loopcli.sweep.tally import Row, Tally


def run(request: Request) -> int:
    """Sweep the corpus and print the grid, or the front; return the exit status."""
    if "saturation" not in request.names:
        raise ConfigError("--sweep and --suggest are for the saturation rule, which is not armed")
    grid = _grid(request)
    teller = Teller()
    survey = teller.survey(request, request.plan._replace(grid=grid))
    tally = survey.tally
    if tally is None:
        return teller.end(survey, b"", [Status.TROUBLE])
    if request.suggest:
        return _suggest(request, tally, teller, survey)
    return teller.end(survey, _swept(request, list(tally.rows()), _labelled(tally)))


def _now(request: Request) -> Knobs:
    """Return the knobs in use."""
    return Knobs(*(getattr(request.config, knob.name) for knob in rule_table.SATURATION.knobs))


def _grid(request: Request) -> Grid:
    """Return the grid asked for; a suggestion has one of its own."""
    if find_spec("numpy") is None:
        raise ConfigError("--sweep and --suggest need numpy: pip install 'loopcheck[sweep]'")
    return Grid.from_items(request.sweep or ITEMS, _now(request))


def _swept(request: Request, rows: Sequence[Row], labelled: bool) -> bytes:
    shown = list(map(tuning.sweep_record, rows if request.top is None else _best(rows)))
    shown = shown[: request.top or None]
    if request.format == "json":
        return records.json_document({"combinations": shown})
    if request.format == "jsonl":
        return records.json_lines("combination", shown)
    if request.format == "csv":
        return records.csv(shown, tuning.SWEEP_FIELDS)
    columns = tuning.sweep_columns(labels=labelled)
    text = table(shown, columns, markdown=request.format == "markdown")
    return f"{text}\n\n{len(rows)} combinations\n".encode()


def _best(rows: Sequence[Row]) -> list[Row]:
    """Return combinations by what they catch, then by what they do not."""

    def cost(row: Row) -> tuple[float, ...]:
        delay = row.score.delay
        return -row.caught, row.clean_trips, float("inf") if delay is None else delay

    return sorted(rows, key=cost)


def _labelled(tally: Tally) -> bool:
    from loopcli.sweep.tally import Label

    return tally.count(Label.CLEAN) + tally.count(Label.LOOP) > 0


def _suggest(request: Request, tally: Tally, teller: Teller, survey: Survey) -> int:
    from loopcli.sweep.tally import Label

    if not _labelled(tally):
        teller.line("--suggest: no transcript is labelled, so nothing speaks for any knobs")
        return teller.end(survey, b"", [Status.TROUBLE])
    loops = tally.count(Label.LOOP)
    found = suggest(tally.rows(), loops, request.headroom, _now(request))
    statuses = []
    if not found:
        teller.line(f"--suggest: no combination leaves a headroom of {request.headroom:g}")
        statuses.append(Status.TROUBLE)
    counts = f"{loops} loops, {tally.count(Label.CLEAN)} clean replies"
    return teller.end(survey, _front(request, found, counts), statuses)


def _front(request: Request, found: Sequence[Suggestion], counts: str) -> bytes:
    best = found[0].row.knobs if found else None
    front = list(map(tuning.front_record, found[: request.shown]))
    if request.format == "json":
        alike = [[row.knobs._asdict() for row in each.alike] for each in found[: request.shown]]
        document = {
            "front": [
                record | {"combinations": same} for record, same in zip(front, alike, strict=True)
            ],
            "suggested": None if best is None else best._asdict(),
        }
        return records.json_document(document)
    if request.format == "jsonl":
        return records.json_lines("suggestion", front)
    if request.format == "csv":
        return records.csv(front, tuning.FRONT_FIELDS)
    markdown = request.format == "markdown"
    text = f"{counts}; headroom {request.headroom:g}; fewest missed loops first\n\n"
    text += table(front, tuning.front_columns(), markdown=markdown) + "\n"
    if best is not None:
        fence = ("```\n", "```\n") if markdown else ("", "")
        block = f"{tuning.flags(best)}\n\n{tuning.config(best)}"
        text += f"\nThe first of them:\n\n{fence[0]}{block}{fence[1]}"
    return text.encode()
