"""loopcheck as a process, away from the settings of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def environ(**more: str) -> dict[str, str]:
    """An environment without settings of loopcheck and without proxies."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LOOPCHECK") and not name.lower().endswith("_proxy")
    }
    return kept | {"PYTHONUTF8": "1"} | more


def loopcheck(
    *arguments: str | Path, stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "loopcli", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        env=environ(**more),
        timeout=60,
    )
