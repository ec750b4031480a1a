"""What every command refuses of the names that its options are given."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import environ

from loopcli import cli


@pytest.mark.parametrize("name", ["", "-"])
@pytest.mark.parametrize(
    ("args", "status"), [(["--report"], 2), (["run", "--journal"], 125)], ids=["filter", "run"]
)
def test_a_report_and_a_journal_are_files_with_a_name(
    args: list[str], status: int, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["true"] if args[0] == "run" else []
    assert cli.main([*args, name, *more]) == status
    assert args[-1] in capsys.readouterr().err


@pytest.mark.parametrize(
    "args", [["--config", ""], ["run", "--config", "", "true"], ["config", ""]]
)
def test_an_empty_name_is_no_configuration(args: list[str]) -> None:
    assert cli.main(args) == (125 if args[0] == "run" else 2)


def test_no_memory_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli.cli, "main", exhausted)
    assert cli.main([]) == 1
    assert capsys.readouterr().err == "loopcheck: out of memory\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "agents.json").write_text('{"id": "a"}')
    (tmp_path / "book").write_text('{"type": "turn_outcome"}\n')
    return tmp_path


PRINTING = [["rules"], ["config", "agents.json"], ["journal", "book"]]
PRINTING += [["journal", "--sum", "summary.workCost", "book"]]


@pytest.mark.parametrize("args", PRINTING, ids=" ".join)
@pytest.mark.parametrize(
    ("where", "status", "told"),
    [
        (">&-", 1, "loopcheck: <stdout>: Bad file descriptor\n"),
        ("> /dev/full", 1, "loopcheck: <stdout>: No space left on device\n"),
        ("| true; exit ${PIPESTATUS[0]}", 128 + signal.SIGPIPE, ""),
    ],
)
def test_what_cannot_be_printed_is_not_lost_silently(
    args: list[str], where: str, status: int, told: str, files: Path
) -> None:
    # Whoever is to have gone has gone by then.
    command = f"{{ sleep 0.3; exec {sys.executable} -m loopcli {' '.join(args)}; }} {where}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=files, env=environ(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", told)
