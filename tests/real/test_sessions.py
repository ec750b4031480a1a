"""Recorded sessions: every file is recognised, and holds what the manifests say."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopcli.analyze import session_tasks
from loopcli.analyze.tasks import SessionPlan
from loopcli.events import Problem
from loopcli.recordings.corpus import CorpusSettings, File, Trouble
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.sniff import HEAD_BYTES, sniff
from loopcli.settings.arming import FileSettings, resolve
from loopcli.settings.sessions import SessionSettings

DATA = Path(os.environ.get("LOOPCHECK_DATA") or Path(__file__).parents[3] / "shared" / "data")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no recorded data at {DATA}")


def manifest(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if DATA.is_dir() else []
    )


AGENTS = [DATA / "agents" / entry["file"] for entry in manifest("agents/manifest.jsonl")]
COUNTED = [entry for entry in manifest("agents/manifest.jsonl") if "messages" in entry]
OTHERS = sorted(path for path in (DATA / "transcripts").rglob("*") if path.is_file())


def read(path: Path, size: int = 64 * 1024) -> SessionReader:
    data = path.read_bytes()
    found = sniff(data, final=len(data) < HEAD_BYTES)
    assert found is not None
    assert found.name, f"{path} is not recognised"
    reader = SessionReader(*found)
    events = [e for at in range(0, len(data), size) for e in reader.feed(data[at : at + size])]
    assert not [event for event in events + reader.close() if isinstance(event, Problem)]
    return reader


@pytest.mark.parametrize("path", [*AGENTS, *OTHERS], ids=lambda path: "/".join(path.parts[-2:]))
def test_every_file_is_recognised_and_read(path: Path) -> None:
    assert read(path).broken == 0
    assert read(path, 7).counts == read(path).counts


@pytest.mark.parametrize("entry", COUNTED, ids=lambda entry: str(entry["file"]))
def test_messages_calls_and_results_are_those_of_the_manifest(entry: dict[str, Any]) -> None:
    reader = read(DATA / "agents" / entry["file"])
    assert reader.counts == (entry["messages"], entry["calls"], entry["results"])


# --- What the rules make of them, with the defaults ------------------------------------------

LABELS = {entry["path"]: entry["label"] for entry in manifest("manifest.jsonl")}
# Stops that are wrong, and why.
FALSE_ALARMS = {
    # The same build after each edit, with words of the user between: the document counts
    # rounds of one tool, whatever lies between them.
    "large-session.jsonl": "streaks",
    # A recording of replies only: without results a new look at a page is the same call.
    "browser-agent.persistent-session.responses": "streaks",
    # The recording has one placeholder in the place of each text.
    "poll.requests.jsonl": "tails",
}


def stops(path: Path) -> dict[str, int]:
    """The rules that stop a file's session, and the highest streak of each rule."""
    armed = resolve(FileSettings(), sessions=SessionSettings())
    plan = SessionPlan(armed.session_names, armed.configs, armed.setup, lists=True)
    rows = session_tasks.rows(File(str(path)), plan, CorpusSettings(), troubles=False)
    return {
        row.rule: row.peak if row.verdict else 0 for row in rows if not isinstance(row, Trouble)
    }


@pytest.mark.parametrize("path", [*AGENTS, *OTHERS], ids=lambda path: "/".join(path.parts[-2:]))
def test_loops_are_stopped_and_nothing_else(path: Path) -> None:
    label = LABELS.get(str(path.relative_to(DATA)), "clean")
    stopped = {rule for rule, peak in stops(path).items() if peak}
    # Gemini CLI ends its loops itself, before a stop is due.
    loops = ("tool-loop", "text-loop") if "gemini-cli" not in path.parts else ("text-loop.stream",)
    if path.name.startswith(("server-abort", *loops)):
        assert stopped
    elif "agent-steps-jsonl" in path.parts:
        assert bool(stopped) is (label == "loop")
    elif path.name in FALSE_ALARMS and stopped:
        assert stopped == {FALSE_ALARMS[path.name]}
    elif label == "clean" and "loop" not in path.name:
        assert not stopped
