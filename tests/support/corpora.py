"""What the tests of corpora share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Trouble

ROOT = Path(__file__).parents[2]


def texts(path: Path | str) -> tuple[list[str], list[Trouble]]:
    """All text of each transcript, and the troubles."""
    replies, troubles = [], []
    for item in corpus.read(File(str(path)), CorpusSettings()):
        if isinstance(item, Trouble):
            troubles.append(item)
        else:
            replies.append("".join("".join(pieces) for _, pieces in item.lanes))
    return replies, troubles


def python(program: str, *args: str, data: bytes = b"") -> str:
    """What a program of Python prints; it runs in a process of its own."""
    command = [sys.executable, "-c", program, *args]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, input=data, env=env, check=True, capture_output=True
    ).stdout.decode()
