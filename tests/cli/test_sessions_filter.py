"""Sessions through the command line: turns in, a report out, a stop, a saved state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SAME: Any = {"calls": [{"name": "ls", "args": {"path": "."}}]}


def lines(*turns: Any) -> str:
    """Turns as JSON Lines."""
    return "".join(json.dumps(turn) + "\n" for turn in turns)


def loopcheck(*args: str, stdin: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the filter on turns."""
    return subprocess.run(
        [sys.executable, "-m", "loopcli", "--input", "turns", *args],
        input=stdin,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")} | environ,
        timeout=120,
        check=False,
    )


def report(path: Path, *args: str, stdin: str) -> list[Any]:
    """The records of a run."""
    loopcheck("--report", str(path), *args, stdin=stdin)
    return [json.loads(line) for line in path.read_text().splitlines()]


def of_type(records: list[Any], kind: str) -> list[Any]:
    """The records of one type."""
    return [record for record in records if record["type"] == kind]


def test_a_clean_session_passes_unchanged() -> None:
    session = lines(*({"text": f"Step {n}."} for n in range(9)))
    done = loopcheck("-q", stdin=session)
    assert (done.returncode, done.stdout, done.stderr) == (0, session, "")


def test_a_stop_cuts_after_the_turn_and_sets_the_status() -> None:
    session = lines(*[SAME] * 9)
    done = loopcheck(stdin=session)
    assert (done.returncode, done.stdout) == (3, lines(*[SAME] * 6))
    *_, last = done.stderr.splitlines()
    assert last.startswith('loopcheck: <stdin>: round 6: stop: Doom loop suspected: the tool "ls"')
    whole = loopcheck("-q", "--dry-run", stdin=session)
    assert (whole.returncode, whole.stdout) == (3, session)


def test_the_report_has_every_turn(tmp_path: Path) -> None:
    head = {"id": "s", "doomLoop": {"ladder": {"steer": 2, "stop": False}}, "tools": []}
    search = {"type": "web_search_call", "id": "1", "action": {"query": "dogs"}}
    turn = {"text": "Plan.", "server": [search], **SAME}
    args = "--dry-run", "-q"
    records = report(tmp_path / "report.jsonl", *args, stdin=lines(head, turn, turn))
    (session,) = of_type(records, "session")
    assert session["session"] == "s"
    assert session["config"]["ladder"] == {
        "observe": 2,
        "steer": 2,
        "escalate": False,
        "block": 3,
        "stop": False,
    }
    assert session["config"]["text"]["maxWindowTokens"] == 400
    assert len(session["warnings"]) == 2
    first, second = of_type(records, "round")
    assert (first["text"], first["calls"][0]["verdict"]) == (None, None)
    assert second["text"]["detector"] == "text-streak"
    assert second["server"][0]["name"] == "server:web_search_call"
    call = second["calls"][0]
    assert (call["name"], call["streak"], call["duplicateInRound"]) == ("ls", 2, False)
    assert call["verdict"]["action"] == "steer"
    verdicts = of_type(records, "verdict")
    assert [verdict["kind"] for verdict in verdicts] == [
        "text-streak",
        "server-tool-fingerprint",
        "tool-fingerprint",
    ]
    assert verdicts[2]["tool_input"] == {"path": "."}
    assert verdicts[2]["message"].startswith("Doom loop suspected: ")
    (end,) = of_type(records, "session-end")
    assert end["rounds"] == 2
    assert end["state"]["tools"]["ls"]["streak"] == 2
    assert end["state"]["text"]["streak"] == 2
    assert of_type(records, "end")[0]["peak"]["streaks"]["value"] == 2


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["--stop", "3"], 3),
        (["--stop", "0"], 0),
        (["--loop-key", "ls=false"], 0),
        (["--loop-key", "ls=path", "--stop", "4"], 3),
        (["--action", "ls=observe"], 0),
        (["--action", "ls=observe", "--action", "ls=stop"], 3),
        (["--rules", "tails"], 0),
        (["--rules", "saturation"], 0),
        (["--preset", "openrouter", "--stop", "5"], 3),
    ],
)
def test_flags(args: list[str], status: int) -> None:
    assert loopcheck("-q", *args, stdin=lines(*[SAME] * 5)).returncode == status


def test_results_that_move_are_no_loop_unless_they_are_ignored() -> None:
    session = lines(*({**SAME, "results": [f"{n} %"]} for n in range(9)))
    assert loopcheck("-q", stdin=session).returncode == 0
    assert loopcheck("-q", "--no-results", stdin=session).returncode == 3
    assert loopcheck("-q", "--preset", "openrouter", stdin=session).returncode == 3
    assert loopcheck("-q", "--preset", "openrouter", "--results", stdin=session).returncode == 0


def test_the_environment_and_usage_errors() -> None:
    session = lines(*[SAME] * 9)
    assert loopcheck("-q", stdin=session, LOOPCHECK_LOOP_KEY="ls=false").returncode == 0
    assert loopcheck("-q", stdin=session, LOOPCHECK_STOP="0").returncode == 0
    wrong = loopcheck("--action", "ls=halt", "--stop", "many", stdin="")
    assert wrong.returncode == 2
    assert "ls=halt" in wrong.stderr


def test_a_session_goes_on_from_a_saved_state(tmp_path: Path) -> None:
    state = str(tmp_path / "state.json")
    for status in (0, 0, 3):
        assert loopcheck("-q", "--state", state, stdin=lines(SAME, SAME)).returncode == status
    # The stop stands, and nothing else is needed for it; a message of the user lifts it.
    other = {"calls": [{"name": "cat"}]}
    assert loopcheck("-q", "--state", state, stdin=lines(other)).returncode == 3
    assert loopcheck("-q", "--state", state, stdin=lines({"user": "Go."}, other)).returncode == 0
    assert loopcheck("-q", "--state", state, stdin=lines({"user": "Go."}, SAME)).returncode == 3


@pytest.mark.parametrize("damage", ["{bad", "[]", '{"rules": 5}', '{"rules": {}, "session": 1}'])
def test_a_damaged_state_is_reported_and_replaced(damage: str, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(damage)
    done = loopcheck("--state", str(state), stdin=lines(SAME))
    assert done.returncode == 0
    (warning,) = done.stderr.splitlines()
    assert "state.json: not a saved session" in warning
    assert "Traceback" not in done.stderr
    assert json.loads(state.read_text())["rules"]


def test_a_state_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    done = loopcheck("--state", str(tmp_path / "no" / "state.json"), stdin=lines(SAME))
    assert done.returncode == 1
    assert "cannot write" in done.stderr
