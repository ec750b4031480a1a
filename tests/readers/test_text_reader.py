"""Plain text: what is decoded, and at which byte each character may be cut."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopcli.events import Event, Lane, Text
from loopcli.readers.framings.text import TextReader

BOM = b"\xef\xbb\xbf"


def read(data: bytes, sizes: Iterable[int] = ()) -> list[Event]:
    """Read in pieces of the given sizes; what is left over is the last piece."""
    reader, events, at = TextReader(), [], 0
    for size in sizes:
        events += reader.feed(data[at : at + size])
        at += size
    return events + reader.feed(data[at:]) + reader.close()


def marked(events: Iterable[Event]) -> list[tuple[str, int]]:
    """Every character with the byte after it."""
    found = []
    for event in events:
        assert isinstance(event, Text)
        assert event.lane == Lane()
        assert event.text
        found += [(c, event.marks.byte_after(i)) for i, c in enumerate(event.text, 1)]
    return found


def by_the_codec(data: bytes) -> list[tuple[str, int]]:
    """The same by means of decoding prefixes: slow, and it knows nothing of reads.

    A character stands in every longer prefix once it is certain; a bad sequence becomes certain
    with the byte that cannot continue it, and ends before that byte.
    """
    base = len(BOM) if data.startswith(BOM) else 0
    data = data[base:]
    whole, found, at = data.decode("utf-8", "replace"), [], 0
    for char in whole:
        # What this character took: the shortest piece after which the rest decodes to the rest.
        rest = whole[len(found) + 1 :]
        at = next(
            end
            for end in range(at + 1, len(data) + 1)
            if data[at:end].decode("utf-8", "replace") == char
            and data[end:].decode("utf-8", "replace") == rest
        )
        found.append((char, base + at))
    return found


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"ab", [("a", 1), ("b", 2)]),
        ("é日🧱".encode(), [("é", 2), ("日", 5), ("🧱", 9)]),
        (b"a\xffb", [("a", 1), ("\ufffd", 2), ("b", 3)]),
        (b"\xe2\x82A", [("\ufffd", 2), ("A", 3)]),
        (b"\xf0\x9f\x98\xff", [("\ufffd", 3), ("\ufffd", 4)]),
        (b"\xe2\x82\xf0\x9f\xa7\xb1", [("\ufffd", 2), ("🧱", 6)]),
        (b"\xc0\xaf", [("\ufffd", 1), ("\ufffd", 2)]),
        (b"\xed\xa0\x80", [("\ufffd", 1), ("\ufffd", 2), ("\ufffd", 3)]),
        (b"x\xf0\x9f", [("x", 1), ("\ufffd", 3)]),
    ],
)
def test_every_character_ends_at_its_byte(data: bytes, want: list[tuple[str, int]]) -> None:
    assert by_the_codec(data) == want
    assert marked(read(data)) == want
    assert marked(read(data, [1] * len(data))) == want


def test_a_byte_order_mark_is_no_character_but_counts_as_bytes() -> None:
    for sizes in ([], [1] * 20, [2], [3]):
        assert marked(read(BOM + b"ab", sizes)) == [("a", 4), ("b", 5)]
        assert read(BOM, sizes) == []
    assert marked(read(BOM + BOM + b"a")) == [("\ufeff", 6), ("a", 7)]
    assert marked(read(b"a" + BOM)) == [("a", 1), ("\ufeff", 4)]


def test_half_a_byte_order_mark_is_a_bad_sequence() -> None:
    assert marked(read(BOM[:2])) == [("\ufffd", 2)]
    assert marked(read(BOM[:1] + b"a", [1])) == [("\ufffd", 1), ("a", 2)]


def test_nothing_is_nothing() -> None:
    assert read(b"") == []
    assert read(b"", [0, 0]) == []


def test_a_character_is_given_as_soon_as_it_is_complete() -> None:
    reader = TextReader()
    assert reader.feed("🧱".encode()[:3]) == []
    assert marked(reader.feed("🧱".encode()[3:])) == [("🧱", 4)]


def test_text_resets_the_idle_clock_and_silence_does_not() -> None:
    reader = TextReader()
    reader.feed(b"a")
    before = reader.progress
    reader.feed(b"")
    assert reader.progress == before > 0
    reader.feed(b"b")
    assert reader.progress > before


ODD = st.lists(
    st.one_of(
        st.binary(max_size=4),
        st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace")),
        st.sampled_from(
            [BOM, b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0", b"\xff", b"\xc3", b"\x80"]
        ),
    ),
    max_size=10,
).map(b"".join)


@settings(max_examples=250)
@given(data=ODD, sizes=st.lists(st.integers(0, 9), max_size=30))
@example(data=b"\xef\xbb\xbf\xef\xbb", sizes=[1, 1, 1, 1])
@example(data=b"\xf0\x9f\xf0\x9f\xa7\xb1\xe2", sizes=[1, 1, 1, 1, 1, 1])
def test_any_bytes_cut_anywhere(data: bytes, sizes: list[int]) -> None:
    assert marked(read(data, sizes)) == by_the_codec(data)
