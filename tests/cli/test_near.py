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
