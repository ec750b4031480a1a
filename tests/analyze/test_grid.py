"""The text of a sweep, what it stands for and how it is refused."""

from __future__ import annotations

import pytest

from loopcli.analyze.sweep.grid import (
    MAX_COMBINATIONS,
    Grid,
    GridError,
    parse_sweep,
)
from loopcli.rules.saturation.config import SaturationConfig

DEFAULTS = SaturationConfig(256, 32, 2, 3000, 250_000)


def of(items: list[str]) -> Grid:
    return Grid.from_items("saturation", items, DEFAULTS)


@pytest.mark.parametrize(
    ("item", "values"),
    [
        ("repeat-threshold=8:256:8", tuple(range(8, 257, 8))),
        ("repeat-threshold=8:15:4", (8, 12)),
        ("repeat-threshold=8:8:1", (8,)),
        ("repeat-threshold=64,16:32:8,20, 24", (16, 20, 24, 32, 64)),
        ("repeat-threshold=4294967295", (4_294_967_295,)),
    ],
)
def test_values(item: str, values: tuple[int, ...]) -> None:
    assert parse_sweep(item) == ("repeat_threshold", values)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("repeat-threshold", "write it as knob=values"),
        ("threshold=8", "no knob is called `threshold`"),
        ("repeat-threshold=", "`` is neither a number nor a range"),
        ("repeat-threshold=8,,9", "`` is neither a number nor a range"),
        ("repeat-threshold=8:16", "`8:16` is neither a number nor a range"),
        ("repeat-threshold=8:16:4:2", "neither a number nor a range"),
        ("repeat-threshold=-8", "`-8` is neither a number nor a range"),
        ("repeat-threshold=1_0", "`1_0` is neither a number nor a range"),
        ("repeat-threshold=\u0663", "neither a number nor a range"),
        ("repeat-threshold=1.5", "neither a number nor a range"),
        ("repeat-threshold=8:16:0", "the step of `8:16:0` is 0"),
        ("repeat-threshold=16:8:4", "`16:8:4` ends below its start"),
        ("repeat-threshold=0:8:4", "`0:8:4` is outside 1 to 4294967295"),
        ("repeat-threshold=4294967296", "`4294967296` is outside"),
        ("window-words=0", "`0` is outside 1 to"),
        ("min-offenders=0", "`0` is outside 1 to"),
        ("window-words=1:9999999999:1", "has more than 1000000 values"),
        ("window-words=" + "9" * 5000, "is too large"),
    ],
)
def test_refusals_name_the_item(item: str, reason: str) -> None:
    with pytest.raises(GridError) as caught:
        parse_sweep(item)
    assert f"sweep `{item}`: " in str(caught.value)
    assert reason in str(caught.value)


def test_a_grid_keeps_the_defaults_of_what_is_not_swept() -> None:
    grid = Grid.from_items(
        "saturation", ["window-words=128,256", "min-saturated-run=0,3000"], DEFAULTS
    )
    assert grid == Grid((128, 256), (32,), (2,), (0, 3000), (250_000,))
    assert (len(grid), grid.cells, grid.rules) == (4, 2, 4)
    assert list(grid)[1] == SaturationConfig(128, 32, 2, 3000, 250_000)


def test_the_grid_of_the_performance_target() -> None:
    items = ["window-words=128,256,512", "repeat-threshold=8:256:8", "min-offenders=1:4:1"]
    grid = Grid.from_items(
        "saturation", [*items, "min-saturated-run=0,750,1500,3000,6000"], DEFAULTS
    )
    assert len(grid) == 1920


def test_refused_grids() -> None:
    with pytest.raises(GridError, match="window-words is swept twice"):
        of(["window-words=1", "window-words=2"])
    with pytest.raises(GridError, match=f"more than {MAX_COMBINATIONS}"):
        Grid.from_items(
            "saturation", ["window-words=1:2000:1", "min-saturated-run=1:2000:1"], DEFAULTS
        )
    with pytest.raises(GridError, match="repeat-threshold: values must lie"):
        Grid((1,), (0,), (1,), (0,), (0,))
    for values in [(), (2, 1), (1, 1)]:
        with pytest.raises(GridError, match="window-words: values must ascend"):
            Grid(values, (1,), (1,), (0,), (0,))
