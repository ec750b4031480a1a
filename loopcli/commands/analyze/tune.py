"""``analyze --sweep`` and ``--suggest``: a grid of knobs over a corpus."""

from __future__ import annotations

from collections.abc import Sequence

from loopcli.analyze.survey import Survey
from loopcli.analyze.sweep.grid import GRIDS, Grid, RuleGrid, parse_sweep
from loopcli.analyze.sweep.rows import Rows, SweepRow
from loopcli.analyze.sweep.suggest import Suggestion, suggest
from loopcli.analyze.tasks import numpy_works
from loopcli.commands.analyze.request import Messages, Request
from loopcli.errors import ConfigError
from loopcli.output import records, tuning
from loopcli.output.table import table, unshown
from loopcli.rules.base import RuleConfig
from loopcli.rules.table import RULES
from loopcli.status import Status
from loopcli.verdicts import Label
from loopcli.wording import counted


def run(request: Request) -> int:
    """Sweep the corpus and print the grid, or the front; return the exit status."""
    channels = request.plan.armed[request.names.index(request.swept)].channels
    plan = request.plan._replace(grid=_grid(request), channels=channels)
    teller = Messages()
    survey = teller.survey(request, plan)
    kept = survey.tally
    assert kept is not None
    if request.suggest:
        return _suggest(request, kept, teller, survey)
    return teller.end(survey, _swept(request, list(kept.rows()), _labelled(kept)))


def _now(request: Request) -> RuleConfig:
    """Return the knobs in use."""
    return request.configs[request.swept]


def _items(request: Request) -> Sequence[str]:
    """Return the values to try; a suggestion has some of its own."""
    return request.sweep or RULES[request.swept].sweep.suggested


def _grid(request: Request) -> Grid | RuleGrid:
    """Return the grid that the engine for the rule works on."""
    grid = GRIDS[type(RULES[request.swept].sweep.engine)]
    if grid.needs_numpy and not numpy_works():
        raise ConfigError("--sweep and --suggest need numpy: pip install 'loopcheck[sweep]'")
    return grid.from_items(request.swept, _items(request), _now(request))


def _swept(request: Request, rows: Sequence[SweepRow], labelled: bool) -> bytes:
    cut = _cut(request, rows, "combination")
    # Which are the best matters where not all are shown, or somebody asks.
    picked = _best(rows) if cut or request.top else rows
    shown = list(map(tuning.sweep_record, picked[: request.shown]))
    if request.format == "json":
        return records.json_document({"combinations": shown})
    if request.format == "jsonl":
        return records.json_lines("combination", shown)
    if request.format == "csv":
        return records.csv(shown, tuning.sweep_fields(_now(request)))
    columns = tuning.sweep_columns(request.swept, _tried(request), labels=labelled)
    text = table(shown, columns, markdown=request.format == "markdown")
    return f"{text}\n\n{cut}{counted(len(rows), 'combination')}\n".encode()


def _cut(request: Request, rows: Sequence[object], thing: str) -> str:
    """Return the line that says how many of ``rows`` are not shown, if there are any."""
    return "" if request.shown is None else unshown(len(rows) - request.shown, thing, "after these")


def _tried(request: Request) -> list[str]:
    """Return the knobs of which values were tried."""
    return [parse_sweep(item)[0] for item in _items(request)]


def _best(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """Return combinations by what they catch, then by what they do not."""

    def cost(row: SweepRow) -> tuple[float, ...]:
        delay = row.score.delay
        return -row.caught, row.clean_trips, float("inf") if delay is None else delay

    return sorted(rows, key=cost)


def _labelled(tally: Rows) -> bool:
    return tally.count(Label.CLEAN) + tally.count(Label.LOOP) > 0


def _suggest(request: Request, tally: Rows, teller: Messages, survey: Survey) -> int:
    if not _labelled(tally):
        teller.line("--suggest: no transcript is labelled, so nothing speaks for any knobs")
        return teller.end(survey, b"", [Status.TROUBLE])
    loops = tally.count(Label.LOOP)
    found = suggest(tally.rows(), loops, request.headroom, _now(request))
    statuses = []
    if not found:
        teller.line(f"--suggest: no combination leaves a headroom of {request.headroom:g}")
        statuses.append(Status.TROUBLE)
    clean = tally.count(Label.CLEAN)
    counts = f"{counted(loops, 'loop')}, {clean} clean {'reply' if clean == 1 else 'replies'}"
    return teller.end(survey, _front(request, found, counts), statuses)


def _front(request: Request, found: Sequence[Suggestion], counts: str) -> bytes:
    best = found[0].row.knobs if found else None
    rules = request.names
    front = [tuning.front_record(each, rules) for each in found[: request.shown]]
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
        return records.csv(front, tuning.front_fields(_now(request)))
    markdown = request.format == "markdown"
    columns = tuning.front_columns(request.swept, _tried(request))
    text = f"{counts}; headroom {request.headroom:g}; fewest missed loops first\n\n"
    text += table(front, columns, markdown=markdown) + "\n"
    cut = _cut(request, found, "suggestion")
    text += f"\n{cut}" if cut else ""
    if best is not None:
        fence = ("```\n", "```\n") if markdown else ("", "")
        block = f"{tuning.flags(best, rules)}\n\n{tuning.config(request.swept, best, rules)}"
        text += f"\nThe first of them:\n\n{fence[0]}{block}{fence[1]}"
    return text.encode()
