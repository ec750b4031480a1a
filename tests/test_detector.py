"""Several rules over the lanes of one reply."""

from __future__ import annotations

import tracemalloc
from random import Random

import pytest
from helpers import text_event
from hypothesis import given
from hypothesis import strategies as st

from loopcli import words
from loopcli.detector import Detector
from loopcli.events import Channel, Lane
from loopcli.rules.table import configs
from loopcli.settings.arming import FileSettings, Settings, resolve

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


# Low ceilings: a short text trips each rule, and the length limit.
LOW = {
    "period_letters": ("letters", "60"),
    "period_signs": ("signs", "60"),
    "max_response_chars": ("chars", "400"),
    "min_saturated_run": ("run", "20"),
    "window_words": ("window", "16"),
    "repeat_threshold": ("threshold", "2"),
    "novelty_words": ("words", "40"),
}


def outcome(text: str, sizes: list[int], *, asked: bool) -> tuple[object, ...]:
    """What a detector states of a text in pieces: the verdicts by their place, and the peaks."""
    rules = Settings(("saturation", "period", "novelty"), configs(LOW), None).rules()
    detector, verdicts, at = Detector(rules), [], 0
    for size in [*sizes, len(text)]:
        piece = text[at : at + size]
        for verdict in detector.update(text_event(piece)) if piece else ():
            assert 0 < verdict.offset <= len(piece)
            verdicts.append((at + verdict.offset, verdict._replace(offset=0)))
        at += size
        if asked:
            detector.gauges()
        if verdicts:
            break
    peaks = {name: gauge.peak for name, gauge in detector.gauges().items()}
    return verdicts, peaks, detector.totals()


PARTS = [
    "a word ",
    "void 0;\n",
    "other words, ",
    "0 1 2 ",
    "- " * 9,
    "one more line of it\n",
    "=" * 30,
]


@given(
    st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 9)), max_size=12),
    st.lists(st.integers(1, 40), max_size=60),
    st.booleans(),
)
def test_deltas_that_wait_change_no_verdict(
    parts: list[tuple[str, int]], sizes: list[int], asked: bool
) -> None:
    text = "".join(part * times for part, times in parts)
    assert outcome(text, sizes, asked=asked) == outcome(text, [], asked=False)


def test_small_deltas_are_judged_together(splits: list[int]) -> None:
    detector = Detector(resolve(FileSettings()).rules())
    for start in range(0, 20_000, 5):
        detector.update(text_event(VARIED[start : start + 5]))
    assert detector.totals()[1] == 20_000
    assert len(splits) < 400
