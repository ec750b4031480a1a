"""Recorded streams of real servers: all of them pass, none is called malformed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "streams" / "openai-chat-sse"
FILES = sorted(path for path in FOLDER.glob("*") if path.is_file()) if FOLDER.is_dir() else []

pytestmark = pytest.mark.skipif(not FILES, reason=f"no recordings in {FOLDER}")
# An error object, an error event, or an error field: looked for without any parser of ours.
UPSTREAM_ERROR = re.compile(rb'"error": ?[{"]|^event: ?error\s*$|^error:', re.MULTILINE)


def run(
    data: bytes, tmp_path: Path
) -> tuple[subprocess.CompletedProcess[bytes], dict[str, object]]:
    report = tmp_path / "report.jsonl"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")}
    result = subprocess.run(
        [sys.executable, "-m", "loopcli", "--report", str(report)],
        input=data,
        capture_output=True,
        env=environment,
        check=False,
    )
    return result, json.loads(report.read_text("utf-8").splitlines()[-1])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recording_passes_unchanged(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    result, end = run(data, tmp_path)
    assert result.stdout == data
    failed = UPSTREAM_ERROR.search(data) is not None
    assert (result.returncode, result.stderr.decode()) == (
        (6, result.stderr.decode()) if failed else (0, "")
    )
    assert (end["format"], end["end"] == "failed") == ("chat", failed)
    assert end["generation_id"]


def test_how_many_were_covered(capsys: pytest.CaptureFixture[str]) -> None:
    failed = sum(UPSTREAM_ERROR.search(path.read_bytes()) is not None for path in FILES)
    with capsys.disabled():
        print(f"\n{len(FILES)} recorded streams, {failed} of them with an upstream error: {FOLDER}")
    assert len(FILES) >= 10
    assert failed >= 1
