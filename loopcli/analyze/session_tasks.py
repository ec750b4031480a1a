"""The tasks of a survey over agents' sessions: judge them, or sweep a rule's knobs over them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.session_replay import SessionReplay
from loopcli.analyze.sweep.grid import RuleGrid
from loopcli.analyze.sweep.session_runs import SessionRuns
from loopcli.analyze.tasks import Item, Plan, Seen, SessionPlan, Task, TaskResult
from loopcli.recordings import session_files
from loopcli.recordings.corpus import CorpusSettings, File, Trouble
from loopcli.recordings.opening import name_of
from loopcli.rules.streaks.config import NAME


def rows(
    file: File, plan: SessionPlan, settings: CorpusSettings, troubles: bool
) -> Iterator[ReplayRow | Trouble]:
    """Yield the rows of the sessions in a file; with ``troubles``, what could not be read, too."""
    label = partial(session_files.label_of, file, settings.labels)
    judged = SessionReplay(name_of(file.path), plan.names, plan.judge, label)
    for event in session_files.events(file, lists=plan.lists):
        if not isinstance(event, Trouble):
            judged.update(event)
        elif troubles:
            yield event
    yield from judged.rows()


class SessionSweeper:
    """Sweeps a grid of a rule for sessions."""

    def __init__(self, plan: Plan) -> None:
        assert plan.sessions is not None
        self._plan, self._sessions = plan, plan.sessions

    def __call__(self, task: Task) -> TaskResult:
        """Return the sessions that were swept, the troubles between them, and the figures."""
        swept = runs(self._plan)
        items: list[Item] = []
        for file in task:
            label = partial(session_files.label_of, file, self._plan.settings.labels)
            run = swept.open(self._sessions.setup, label)
            for event in session_files.events(file, lists=self._sessions.lists):
                if isinstance(event, Trouble):
                    items.append(event)
                else:
                    run.update(event)
            run.close()
            name = name_of(file.path)
            items += [Seen(f"{name}@{at}", label) for at, label in enumerate(run.labels, 1)]
        return TaskResult(items, swept)


def runs(plan: Plan) -> SessionRuns:
    """Return what collects the figures of a grid over sessions."""
    assert plan.sessions is not None
    assert isinstance(plan.grid, RuleGrid)
    return SessionRuns(plan.grid, plan.sessions.configs[NAME])
