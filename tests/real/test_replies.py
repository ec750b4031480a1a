"""The labelled replies: figures that a slow oracle took, and what sweeps make of them.

The data is not part of the project: `LOOPCHECK_DATA` says where it is, or it stands beside the
tree; without it these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA") or ROOT.parent / "shared" / "data")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no recorded data")
SUITE = ["replies/loop", "replies/clean"]


def analyzed(*args: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "loopcli", "analyze", "--format", "jsonl", *args, *SUITE]
    env = {k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")}
    env |= {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=DATA, env=env, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def manifest() -> dict[str, dict[str, Any]]:
    lines = (DATA / "manifest.jsonl").read_text("utf-8").splitlines()
    entries = map(json.loads, lines)
    return {entry["path"]: entry for entry in entries if "saturated_peak" in entry}


def test_every_reply_has_the_figures_of_the_manifest() -> None:
    wanted = {
        f"{path}#1": (entry["label"], entry["words"], entry["chars"], entry["saturated_peak"])
        for path, entry in manifest().items()
    }
    assert len(wanted) == 39
    rows = analyzed("--rules", "saturation")
    names = ("label", "words", "chars", "peak")
    assert {row["id"]: tuple(row[name] for name in names) for row in rows} == wanted


def test_a_sweep_agrees_with_runs_of_its_knobs() -> None:
    windows, runs = (64, 256), (100, 443, 444)
    swept = analyzed(
        *("--sweep", f"window-words={windows[0]},{windows[1]}"),
        *("--sweep", "min-saturated-run=" + ",".join(map(str, runs))),
        *("--sweep", "repeat-threshold=8,32"),
    )
    assert len(swept) == 12
    for cell in swept:
        knobs = ("window_words", "repeat_threshold", "min_saturated_run")
        flags = [f"--{name.replace('_', '-')}={cell[name]}" for name in knobs]
        rows = analyzed("--rules", "saturation", *flags)
        clean = [row for row in rows if row["label"] == "clean"]
        loops = [row for row in rows if row["label"] == "loop"]
        assert cell["clean_peak"] == max(row["peak"] for row in clean)
        assert cell["clean_trips"] == sum(row["verdict"] is not None for row in clean)
        assert cell["loop_trips"] == sum(row["verdict"] is not None for row in loops)


def test_a_suggestion_has_its_headroom() -> None:
    front = analyzed("--suggest")
    assert front
    for point in front:
        assert point["clean_peak"] * 2 <= point["min_saturated_run"]
    assert [point["missed"] for point in front] == sorted(point["missed"] for point in front)
