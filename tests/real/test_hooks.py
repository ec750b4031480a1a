"""Recorded hooks of real agents: the third equal call of each is refused, in its own form."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loopcli.guard.hook import answer
from loopcli.guard.store import CallStore
from loopcli.rules.calls.config import CallsConfig

DATA = Path(os.environ.get("LOOPCHECK_DATA") or Path(__file__).parents[3] / "shared" / "data")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no recorded data at {DATA}")

FORMS = {
    "claude-code": "hookSpecificOutput",
    "codex": "hookSpecificOutput",
    "gemini-cli": "decision",
}


@pytest.mark.parametrize("program", FORMS)
def test_the_third_recorded_call_is_refused(program: str, tmp_path: Path) -> None:
    file = DATA / "agents" / program / "hook.hook.jsonl"
    questions = [line for line in file.read_bytes().splitlines() if line.strip()]
    store = CallStore(str(tmp_path / "db"))
    answers = [answer(question, store, CallsConfig()) for question in questions]
    calls = [json.loads(question)["tool_input"] for question in questions]
    assert all(call == calls[0] for call in calls)
    assert [bool(one.reason) for one in answers] == [number >= 2 for number in range(len(calls))]
    assert [one.output for one in answers[:2]] == [b"", b""]
    assert FORMS[program] in json.loads(answers[2].output)
