"""The table of formats: every file has a row, and a row is all that a new format needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from analyzing import ROOT, environment

from loopcli.output import formats
from loopcli.output.formats import table
from loopcli.output.formats.base import OutputFormat

FOLDER = Path(formats.__file__).parent


def test_every_file_has_a_row() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "base", "table"}
    assert sorted(files) == sorted(table._MODULES.values())
    assert {type(table.load(name)) for name in table.NAMES} == {OutputFormat}


def test_a_format_states_all_that_it_prints() -> None:
    with pytest.raises(TypeError, match="front"):
        OutputFormat(report=lambda _: b"", sweep=lambda _: b"", limit=None)  # type: ignore[call-arg]


NEW = """
import sys
from types import ModuleType
from loopcli.output.formats import base, table

toy = ModuleType("loopcli.output.formats.toy")
toy.FORMAT = base.OutputFormat(
    report=lambda report: f"{len(report.shown)} of {len(report.rows)} rows\\n".encode(),
    sweep=lambda sweep: f"{len(sweep.shown)} of {sweep.total} combinations\\n".encode(),
    front=lambda front: f"{len(front.shown)} of {len(front.points)} points\\n".encode(),
    limit=3,
)
sys.modules[toy.__name__] = toy
table._MODULES["toy"] = "toy"
table.NAMES = tuple(table._MODULES)

from loopcli.cli import main
sys.exit(main(["analyze", "--rules", "saturation", "--format", "toy", *sys.argv[1:]]))
"""


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ([], "3 of {rows} rows"),
        (["--top", "0"], "{rows} of {rows} rows"),
        (["--sweep", "min-saturated-run=100:500:100"], "3 of 5 combinations"),
        (["--suggest", "--headroom", "0", "--sweep", "min-saturated-run=3000"], "1 of 1 points"),
    ],
)
def test_a_new_format_serves_every_job(args: list[str], line: str) -> None:
    command = [sys.executable, "-c", NEW, *args, "fixtures/replies"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    replies = sum(path.is_file() for path in (ROOT / "fixtures" / "replies").rglob("*"))
    assert done.stdout == line.format(rows=replies) + "\n"
