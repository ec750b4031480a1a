"""Several rules over the lanes of one reply."""

from __future__ import annotations

import tracemalloc
from random import Random

import pytest
from helpers import text_event

from loopcli import words
from loopcli.detector import Detector
from loopcli.events import Channel, Lane
from loopcli.settings.arming import FileSettings, resolve

VARIED = " ".join(f"word{number}" for number in range(5000))


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the texts that have been split into words."""
    lengths: list[int] = []
    split = words._split
    monkeypatch.setattr(words, "_split", lambda text: lengths.append(len(text)) or split(text))
    return lengths


@pytest.mark.parametrize("rules", ["saturation", "saturation,period", "saturation,period,novelty"])
def test_a_text_is_split_once_however_many_rules_watch_it(splits: list[int], rules: str) -> None:
    detector = Detector(resolve(FileSettings(), rules=rules).rules())
    for start in range(0, 40_000, 4000):
        detector.update(text_event(VARIED[start : start + 4000]))
    assert len(splits) == 10


def test_two_detectors_share_nothing(splits: list[int]) -> None:
    event = text_event(VARIED[:4000])
    for _ in range(2):
        Detector(resolve(FileSettings(), rules="saturation,period").rules()).update(event)
    assert len(splits) == 2


@pytest.mark.parametrize("letters", ["abcdefgh", "日月火水木金土", "🌑🌒🌓🌔🌕🌖🌗"])
def test_the_memory_of_very_many_lanes_is_bounded(letters: str) -> None:
    random = Random(1)
    text = " ".join("".join(random.choices(letters, k=6)) for _ in range(2500))
    detector = Detector(resolve(FileSettings()).rules())
    tracemalloc.start()
    for choice in range(1200):
        detector.update(text_event(text, Lane(Channel.CONTENT, choice)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert detector.overflowed
    assert most < 100 * 1024 * 1024
