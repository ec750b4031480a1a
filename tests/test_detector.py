"""Several rules over the lanes of one reply."""

from __future__ import annotations

import pytest
from helpers import text_event

from loopcli import words
from loopcli.detector import Detector
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
