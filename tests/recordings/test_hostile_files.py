"""Damaged files of every recorded format: one line for each, and the others are read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest
from agent_logs import FORMS
from agent_sessions import Call, Session, Turn
from mutations import mutated
from processes import loopcheck

from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Trouble
from loopcli.recordings.formats import messages
from loopcli.status import Status

FIXTURES = Path(__file__).parents[2] / "fixtures"
RUNS = int(os.environ.get("LOOPCHECK_FUZZ", "1500")) // 3
LOOK = Turn("I look.", calls=(Call("Bash", {"command": "ls"}, "a\nb"),))
SESSION = Session("Go.", (*[LOOK] * 4, Turn("Again.", reasoning="Hm."), Turn("Done.")))


def originals() -> list[tuple[str, bytes]]:
    """Names and contents of the files that we generate."""
    paths = [p for name in ("corpus", "streams") for p in sorted((FIXTURES / name).iterdir())]
    files = [(path.name, path.read_bytes()[:20_000]) for path in paths]
    return files + [(f"{f.name}.{f.suffix}", f.write(SESSION).encode()) for f in FORMS]


@pytest.mark.parametrize("sessions", [False, True])
def test_no_damage_makes_a_format_fail(sessions: bool, tmp_path: Path) -> None:
    files = originals()
    others = [data for _, data in files]
    for run in range(RUNS):
        random = Random(run)
        name, data = random.choice(files)
        path = tmp_path / name
        path.write_bytes(mutated(data, random, others))
        for item in corpus.read(File(str(path)), CorpusSettings(sessions=sessions)):
            if isinstance(item, Trouble):
                assert "bug in loopcheck" not in item.message, f"run {run}: {item.message}"
                continue
            for _, pieces in item.lanes:
                assert "".join(pieces) is not None


def test_a_fault_of_ours_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "messages.json"
    path.write_text('[{"role": "assistant", "content": "Hi."}]')

    def broken(*_: object) -> None:
        raise KeyError("boom")

    monkeypatch.setattr(messages, "reply", broken)
    (trouble,) = corpus.read(File(str(path)))
    assert isinstance(trouble, Trouble)
    assert trouble.message == "this is a bug in loopcheck: KeyError('boom')"
    assert trouble.status is Status.TROUBLE


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_bad_files_among_good_ones(jobs: str, tmp_path: Path) -> None:
    good = b'{"messages": [{"role": "assistant", "content": "All is well."}]}\n'
    bad = {
        "deep.json": b'{"a":' * 5000,
        "roles.json": b'[{"role": ["assistant"], "content": "x"}, {"role": {"a": 1}}]',
        "number.jsonl": b'{"messages": 1e999}\n{"choices": -1}\n',
        "surrogate.json": rb'{"messages": [{"role": "\ud83d", "content": "\udc00"}]}',
        "nan.jsonl": b'{"id": NaN, "text": Infinity}\n',
        "cut.har": b'{"log": {"entries": [{"request": ',
        "cassette.yaml": b"interactions:\n- request: [\n",
        "packed.gz": b"\x1f\x8b\x08\x00garbage",
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_bytes(good)
    done = loopcheck("analyze", "-f", "jsonl", "-j", jobs, str(tmp_path))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    judged = {Path(row["id"]).name for row in rows}
    assert {f"{number}.jsonl#1" for number in range(3)} <= judged
    lines = done.stderr.splitlines()
    assert all(sum(name in line for line in lines) <= 1 for name in bad)
    assert sum(any(name in line for line in lines) for name in bad) >= 6
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    assert done.returncode in (1, 5)
