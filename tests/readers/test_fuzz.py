"""Damaged input: no reader fails on it, and where the reads fall changes nothing.

``LOOPCHECK_FUZZ`` is the number of inputs, for a longer search. A failure names the
seed: ``LOOPCHECK_FUZZ_SEED`` begins there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mutations import cuts, mutated
from reading import Heard

from loopcli.detector import Detector
from loopcli.events import Event
from loopcli.rules.table import configs
from loopcli.sessions.live import reader
from loopcli.settings.arming import Settings
from loopcli.watch import SessionReport, Watch, WatchItem

ROOT = Path(__file__).parents[2]
RUNS = int(os.environ.get("LOOPCHECK_FUZZ", "1500"))
SEED = int(os.environ.get("LOOPCHECK_FUZZ_SEED", "0"))
# Low ceilings, so that whatever is written twice has a verdict whose place can be compared.
LOW = configs(
    {
        "period_letters": ("letters", "60"),
        "period_signs": ("signs", "60"),
        "max_response_chars": ("chars", "700"),
        "min_saturated_run": ("run", "20"),
        "window_words": ("window", "16"),
        "repeat_threshold": ("threshold", "2"),
    }
)


@cache
def streams() -> list[bytes]:
    """The beginnings of the streams and sessions that we generate."""
    folders = (ROOT / "fixtures" / "streams", ROOT / "fixtures" / "corpus")
    paths = sorted(path for folder in folders for path in folder.iterdir())
    return [path.read_bytes()[:12_000] for path in paths]


def outcome(data: bytes, sizes: Iterable[int]) -> dict[str, Any]:
    """All that can be seen of an input: its events, its verdicts, how it ended, the peaks."""
    reading = reader("auto")
    watch = Watch(reading, Detector(Settings(("saturation", "period"), LOW, None).rules()))
    events: list[Event] = []
    for item, verdicts in _items(watch, data, sizes):
        if verdicts:  # a filter would end here
            cut, verdict = verdicts[0].cut, verdicts[0].verdict._replace(offset=0)
            peaks = {name: gauge.peak for name, gauge in watch.detector.gauges().items()}
            return {"verdict": (cut, verdict), "peaks": peaks}
        if not isinstance(item, SessionReport):
            events.append(item)
    heard = vars(Heard(reading, events))
    heard["others"] = sorted(map(repr, heard["others"]))
    return heard | {"end": watch.state.end(), "gauges": watch.detector.gauges()}


def _items(watch: Watch, data: bytes, sizes: Iterable[int]) -> Iterator[WatchItem]:
    at = 0
    for size in sizes:
        yield from watch.feed(data[at : at + size])
        at += size
    yield from watch.feed(data[at:])
    yield from watch.close()


@pytest.mark.parametrize("part", range(4))
def test_damaged_streams(part: int) -> None:
    for run in range(SEED + part, SEED + RUNS, 4):
        random = Random(run)
        data = mutated(random.choice(streams()), random, streams())
        try:
            whole = outcome(data, ())
            again = outcome(data, cuts(data, random))
        except Exception as error:
            raise AssertionError(f"seed {run}: {error!r}") from error
        for name in whole.keys() | again.keys():
            assert again.get(name) == whole.get(name), f"seed {run}: {name}"
