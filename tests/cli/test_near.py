"""A mistyped name is answered with the closest one; a name that resembles none is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes import loopcheck


@pytest.mark.parametrize("name", ["nope", "x"])
@pytest.mark.parametrize("option", ["--rules", "--watch", None])
def test_a_name_that_resembles_none(option: str | None, name: str) -> None:
    done = loopcheck(*filter(None, [option, name]))
    assert done.returncode == 2
    assert name in done.stderr
    assert "did you mean" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "closest"),
    [
        (["--rules", "perod"], "period"),
        (["--rules", "period,satuation"], "saturation"),
        (["--watch", "contnt"], "content"),
        (["--watch", "tool_args"], "tool-args"),
        (["analyse"], "analyze"),
        (["runn"], "run"),
        (["jurnal"], "journal"),
    ],
)
def test_a_mistyped_name(arguments: list[str], closest: str) -> None:
    done = loopcheck(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith(f"; did you mean `{closest}`?")
    assert "Traceback" not in done.stderr


def test_a_mistyped_setting(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[period]\nperiod-leters = 300\n")
    done = loopcheck("--config", path)
    assert done.returncode == 2
    assert "; did you mean `period-letters`?" in done.stderr


@pytest.mark.parametrize("command", [["-"], ["analyze", "-"], ["run", "true"]], ids=" ".join)
def test_a_mistyped_variable(command: list[str]) -> None:
    done = loopcheck(
        *command,
        stdin="a note",
        LOOPCHECK_WINDOW_WORD="9",
        LOOPCHECK_RETRIES="1",  # of another command
    )
    lines = [line for line in done.stderr.splitlines() if "LOOPCHECK" in line]
    assert lines == [
        "loopcheck: warning: LOOPCHECK_WINDOW_WORD sets no option; it is ignored; "
        "did you mean `LOOPCHECK_WINDOW_WORDS`?"
    ]


def test_a_variable_that_resembles_none() -> None:
    done = loopcheck(stdin="a note", LOOPCHECK_QQQQ="9")
    assert done.returncode == 0
    assert done.stderr == "loopcheck: warning: LOOPCHECK_QQQQ sets no option; it is ignored\n"
    assert loopcheck("-q", stdin="a note", LOOPCHECK_QQQQ="9").stderr == ""


def test_a_variable_for_what_the_environment_cannot_set() -> None:
    assert loopcheck(stdin="a note", LOOPCHECK_VERSION="9", LOOPCHECK_HELP="1").stderr == ""


@pytest.mark.parametrize("name", ["analyze", "journal", "run"])
def test_help_is_that_of_the_command(name: str) -> None:
    assert loopcheck("help", name).stdout == loopcheck(name, "--help").stdout


def test_help_of_loopcheck() -> None:
    assert loopcheck("help").stdout == loopcheck("--help").stdout


def test_help_of_a_mistyped_command() -> None:
    done = loopcheck("help", "jurnal")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        "loopcheck: no such command `jurnal`; did you mean `journal`?"
    )
