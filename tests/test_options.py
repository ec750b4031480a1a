"""What every command refuses of the names that its options are given."""

from __future__ import annotations

import pytest

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
