"""The times of an input, on a clock of the test's own."""

from __future__ import annotations

from loopcli.system.stopwatch import Stopwatch


def test_the_first_of_each_counts() -> None:
    clock = iter([10.0, 10.5, 11.0, 12.25, 14.0001])
    watch = Stopwatch(lambda: next(clock))
    watch.read(delta=False)
    watch.read(delta=True)
    watch.read(delta=True)
    clock = iter([14.0001])
    assert watch.to_json() == {
        "seconds": 4.0,
        "first_byte_seconds": 0.5,
        "first_delta_seconds": 1.0,
    }


def test_what_never_came_is_none() -> None:
    watch = Stopwatch(lambda: 1.0)
    assert watch.to_json() == {
        "seconds": 0.0,
        "first_byte_seconds": None,
        "first_delta_seconds": None,
    }
