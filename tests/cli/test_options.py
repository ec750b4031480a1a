"""What every command refuses of the names that its options are given."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE, closed_pipe, environ, loopcheck

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
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
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
        ("", -signal.SIGPIPE, ""),
    ],
)
def test_what_cannot_be_printed_is_not_lost_silently(
    args: list[str], where: str, status: int, told: str, files: Path
) -> None:
    command = f"exec {sys.executable} -m loopcli {' '.join(args)} {where}"
    with open(closed_pipe(), "wb") as pipe:
        done = subprocess.run(
            ["bash", "-c", command],
            env=environ(),
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
        )
    assert (done.returncode, done.stderr) == (status, told)


# The filter's, wrong or contradictory, and one that every other command takes, too.
ODD = {"HOLD": "maybe", "COLOR": "pink", "TRIP_EVENT": "1", "WINDOW_WORDS": "256"}


@pytest.mark.parametrize("args", [*PRINTING, ["run", "-q", "true"], ["--", "rules"]], ids=" ".join)
def test_what_the_environment_says_to_the_filter_is_nothing_to_others(
    args: list[str], files: Path
) -> None:
    done = loopcheck(*args, **{f"LOOPCHECK_{name}": value for name, value in ODD.items()})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("args", "variable", "value"),
    [
        ([], "LOOPCHECK_HOLD", "maybe"),
        ([], "LOOPCHECK_JSON", "maybe"),
        ([], "LOOPCHECK_REPORT", "-"),
        (["run", "true"], "LOOPCHECK_TIMEOUT", "soon"),
        (["run", "true"], "LOOPCHECK_RETRY_ON", "7,,8"),
        (["journal", "book"], "LOOPCHECK_BY", "moon"),
    ],
)
def test_an_error_names_the_variable_that_it_is_about(
    args: list[str], variable: str, value: str
) -> None:
    done = loopcheck(*args, **{variable: value})
    assert done.returncode == (125 if "run" in args else 2)
    assert done.stderr.startswith(f"loopcheck: Invalid value for {variable}: ")


def test_what_belongs_to_the_filter_is_still_refused_before_a_command() -> None:
    done = loopcheck("--hold", "rules")
    assert done.returncode == 2
    assert "--hold belongs to the filter; write it after `rules`" in done.stderr


def test_journal_and_config_are_set_by_the_environment_too(files: Path) -> None:
    book, agents = files / "book", files / "two.json"
    agents.write_text('[{"id": "a"}, {"id": "b"}]')
    sums = {"LOOPCHECK_SUM": "summary.errors.turns", "LOOPCHECK_BY": "file", "LOOPCHECK_JSON": "1"}
    done = loopcheck("journal", book, **sums)
    assert done.stdout == (
        f'{{"type":"sum","field":"summary.errors.turns","file":"{book}","sum":1}}\n'
    )
    del sums["LOOPCHECK_SUM"]  # of no use then, but no mistake
    assert loopcheck("journal", book, **sums).stdout == loopcheck("journal", "--json", book).stdout
    assert loopcheck("config", agents, LOOPCHECK_AGENT="b").stdout.startswith("agent `b`: off")
