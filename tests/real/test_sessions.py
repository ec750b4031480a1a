"""Recorded sessions: every file is recognised, and holds what the manifests say."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopcli.events import Problem
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.sniff import HEAD_BYTES, sniff

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
