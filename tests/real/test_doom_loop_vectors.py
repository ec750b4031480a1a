"""The reference engine's answers for random transcripts, if they are there.

They are looked for in the folder `vectors` beside the data (LOOPCHECK_DATA, or
`../shared/data` beside this repository). Each line of `doomloop.jsonl` is one
transcript with what the engine made of it:

- `id`; `doomLoop`, the options (missing: the defaults), `tools`: declarations of
  `{name, loopKey}`;
- `turns`: each with an optional `text`, `calls` of `{name, args}` or
  `{name, raw}`, and `server` output items;
- `expect.config`: the options in force; `expect.configWarnings`: how many of them
  cannot work;
- `expect.turns`: for each turn the `text` verdict or null, and for each call and
  each server item `fingerprint`, `streak`, `duplicateInRound` and `verdict`.
  A call of an exempt tool has `exempt`, one that cannot be hashed has neither;
- `expect.state`: the counts at the end, as the engine saves them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from session_scripts import Script, session_call

from loopcli.session_events import CallKind, SessionCall
from loopcli.session_verdicts import (
    EXEMPT,
    SERVER,
    JudgedItem,
    JudgedRound,
    SessionConfig,
    SessionTotals,
    SessionVerdict,
    Uncounted,
)

DATA = Path(os.environ.get("LOOPCHECK_DATA") or Path(__file__).parents[3] / "shared" / "data")
VECTORS = DATA.parent / "vectors" / "doomloop.jsonl"

pytestmark = pytest.mark.skipif(not VECTORS.is_file(), reason=f"there is no {VECTORS}")


def transcripts() -> list[dict[str, Any]]:
    """Every transcript of the file."""
    if not VECTORS.is_file():
        return []
    return [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


def call_of(call: dict[str, Any]) -> SessionCall:
    """A call of a transcript as an event."""
    return session_call(call["name"], call["raw"] if "raw" in call else json.dumps(call["args"]))


def item_of(item: dict[str, Any]) -> SessionCall:
    """An output item of a server as an event."""
    return session_call(item["type"], item, item["id"], CallKind.SERVER)


def as_expected(verdict: SessionVerdict | None) -> dict[str, Any] | None:
    """A verdict with the fields that the transcripts have."""
    if verdict is None:
        return None
    fields = verdict.document()
    return {name: fields[name] for name in fields if name not in ("message", "toolInput")}


def judged_call(item: JudgedItem) -> dict[str, Any]:
    """A call, or a server's item, with the fields that the transcripts have."""
    reading, verdict = item
    name = {} if reading.tool.startswith(SERVER) else {"name": reading.tool}
    if isinstance(reading, Uncounted):
        exempt = {"exempt": True} if reading.reason == EXEMPT else {}
        return {**name, **exempt, "verdict": None}
    return {
        **name,
        "fingerprint": reading.fingerprint,
        "streak": reading.streak,
        "duplicateInRound": reading.duplicate,
        "verdict": as_expected(verdict),
    }


def turn_of(judged: JudgedRound) -> dict[str, Any]:
    """A round with the fields that the transcripts have."""
    items = [
        item
        for item in judged.items
        if isinstance(item.reading, Uncounted) or not item.reading.detection.is_text
    ]
    server = [item for item in items if item.reading.tool.startswith(SERVER)]
    return {
        "text": as_expected(judged.text),
        "server": [judged_call(item) for item in server],
        "calls": [judged_call(item) for item in items if item not in server],
    }


@pytest.mark.parametrize("transcript", transcripts(), ids=lambda transcript: transcript["id"])
def test_the_engine_and_the_rules_agree(transcript: dict[str, Any]) -> None:
    """Every turn goes through a saved state, so this holds of resumed sessions, too."""
    tools = {tool["name"]: tool.get("loopKey") for tool in transcript.get("tools", [])}
    script = Script(options=transcript.get("doomLoop") or {}, tools=tools)
    expect = transcript["expect"]
    for turn, wanted in zip(transcript["turns"], expect["turns"], strict=True):
        calls = [*map(item_of, turn.get("server", [])), *map(call_of, turn.get("calls", []))]
        got = turn_of(script.turn(*calls, text=turn.get("text", "")))
        assert got == {name: wanted[name] for name in got}
    config, totals = script.outputs[0], script.judge.close()[-1]
    assert isinstance(config, SessionConfig)
    assert config.options == expect["config"]
    assert len(config.warnings) == expect["configWarnings"]
    assert isinstance(totals, SessionTotals)
    assert totals.agents[""] == expect["state"]


def lines_of(transcript: dict[str, Any], *, whole: bool) -> str:
    """A transcript in the form of `--input turns`: a line, or a head and a line for each turn."""
    head = {name: transcript[name] for name in ("id", "doomLoop", "tools") if name in transcript}
    turns = transcript["turns"]
    return "".join(
        json.dumps(line) + "\n" for line in ([head | {"turns": turns}] if whole else [head, *turns])
    )


def fields(record: dict[str, Any], *without: str) -> dict[str, Any]:
    """A record without some of its members."""
    return {name: value for name, value in record.items() if name not in without}


@pytest.mark.parametrize("whole", [True, False])
def test_the_engine_and_the_command_line_agree(whole: bool, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    data = "".join(lines_of(transcript, whole=whole) for transcript in transcripts())
    command = [sys.executable, "-m", "loopcli", "-q", "--input", "turns", "--dry-run"]
    command += ["--preset", "openrouter", "--report", str(report)]
    done = subprocess.run(command, input=data.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stdout.decode() == data) == (3, True)
    records = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    for transcript in transcripts():
        expect = transcript["expect"]
        at = next(n for n, record in enumerate(records) if record["type"] == "session")
        end = next(n for n, record in enumerate(records) if record["type"] == "session-end")
        session, totals = records[at], records[end]
        assert session["session"] == totals["session"] == transcript["id"]
        assert session["config"] == expect["config"]
        assert len(session["warnings"]) == expect["configWarnings"]
        rounds = [record for record in records[at:end] if record["type"] == "round"]
        assert [
            {
                "text": record["text"],
                "server": [fields(item, "name") for item in record["server"]],
                "calls": [fields(call, "uncounted") for call in record["calls"]],
            }
            for record in rounds
        ] == [fields(turn, "warnings") for turn in expect["turns"]]
        assert totals["state"] == expect["state"]
        del records[: end + 1]
