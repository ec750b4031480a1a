"""What the tests of `loopcheck analyze` share: the command as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from processes import PATIENCE

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "loopcli", "analyze"]
VOID = "void 0;\n"


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without whatever the user of this machine has set."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LOOPCHECK_")}
    return kept | {"PYTHONPATH": str(ROOT)} | (extra or {})


class Run(NamedTuple):
    """What one run left."""

    status: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


def run(
    args: Sequence[str], cwd: Path, env: dict[str, str] | None = None, stdin: bytes = b""
) -> Run:
    # These tests are about the command; its figures are the saturation rule's.
    named = {"--rules", "--preset"} & set(args) or any("RULES" in name for name in env or ())
    rules = [] if named else ["--rules", "saturation"]
    done = subprocess.run(
        [*COMMAND, *rules, *args],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment(env),
        timeout=PATIENCE,
        check=False,
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())
