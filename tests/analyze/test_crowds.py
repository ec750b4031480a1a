"""Where windows are crowded, held to a count of every window."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcli.analyze.screening.crowds import crowds, word_keys
from loopcli.analyze.screening.sight import sight_of

KEYS = st.lists(st.integers(0, 4), max_size=120)
WIDTHS = st.integers(1, 20) | st.sampled_from([400, 10**12])
KNOBS = st.tuples(WIDTHS, st.integers(2, 6), st.integers(1, 3))


def expected(keys: list[int], places: list[int], width: int, over: int, breadth: int) -> set[int]:
    """The places at which the last ``width`` hold enough; a key counts as often as it may."""
    found = set()
    for at in range(places[-1] + 1 if places else 0):
        counts = Counter(
            key for key, place in zip(keys, places, strict=True) if at - width < place <= at
        )
        if sum(count // over for count in counts.values()) >= breadth:
            found.add(at)
    return found


def covered(ranges: list[tuple[int, int]]) -> set[int]:
    return {at for begin, end in ranges for at in range(begin, end)}


@pytest.mark.parametrize("behind", [0, 70_000])
@given(keys=KEYS, knobs=KNOBS, gaps=st.data())
def test_every_crowded_window_is_found(
    keys: list[int], knobs: tuple[int, int, int], gaps: st.DataObject, behind: int
) -> None:
    steps = gaps.draw(st.lists(st.integers(1, 3), min_size=len(keys), max_size=len(keys)))
    places = (np.cumsum(np.array([0, *steps]))[1:] + behind).tolist()
    found = crowds(np.array(keys, np.uint16), np.array(places, np.int64), *knobs)
    near = [place - behind for place in places]
    seen = {at - behind for at in covered(found)}
    assert {at for at in seen if at <= max(near, default=0)} == expected(keys, near, *knobs)
    assert all(begin < end for begin, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))


def test_nothing_is_crowded_where_no_word_is_frequent() -> None:
    keys = np.arange(5000).astype(np.uint16)
    assert crowds(keys, np.arange(5000), 256, 33, 2) == []
    assert crowds(keys[:0], np.arange(0), 256, 33, 2) == []


def test_equal_words_have_equal_keys_and_most_others_do_not() -> None:
    words = [f"{a}{b}{'z' * c}" for a in "xyé" for b in "123" for c in range(5)]
    keys = word_keys(sight_of(" ".join([*words, *words, "unfinished"]))).tolist()
    assert keys[: len(words)] == keys[len(words) :]
    assert len(set(keys)) > len(words) / 2
