"""Framing: bytes into lines, lines into documents; every trap that real servers set."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopcli.events import Event, Problem
from loopcli.readers.base import DONE, Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects.provider import ProviderDialect
from loopcli.readers.framings.lines import LineSplitter
from loopcli.readers.framings.sse import SseReader

BOM = b"\xef\xbb\xbf"
LINE_END = re.compile(rb"\r\n|\n|\r")


def pieces(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """Cut at the given sizes; what is left over is the last piece."""
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


CUTS = st.lists(st.integers(0, 30), max_size=60)


# --- Lines ---------------------------------------------------------------------------------------


def lines_of(data: bytes, sizes: Iterable[int] = ()) -> list[tuple[bytes, int, int]]:
    splitter, found = LineSplitter(), []
    for piece in pieces(data, sizes):
        found += splitter.feed(piece)
    return [tuple(line) for line in found + splitter.close()]


def by_pattern(data: bytes) -> list[tuple[bytes, int, int]]:
    """The lines as a pattern over the whole input finds them."""
    found, at = [], 0
    for match in LINE_END.finditer(data):
        found.append((data[at : match.start()], match.end(), len(found) + 1))
        at = match.end()
    return found + ([(data[at:], len(data), len(found) + 1)] if at < len(data) else [])


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"", []),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"a\rb\r", [b"a", b"b"]),
        (b"a\n\rb", [b"a", b"", b"b"]),
        (b"a\r\r\nb", [b"a", b"", b"b"]),
        (b"a\r\n\r\nb", [b"a", b"", b"b"]),
        ("a\u2028b\x0bc\x0cd\x1ce\x85f".encode(), ["a\u2028b\x0bc\x0cd\x1ce\x85f".encode()]),
    ],
)
def test_lines_end_at_lf_crlf_and_cr_only(data: bytes, want: list[bytes]) -> None:
    assert [content for content, _, _ in lines_of(data)] == want
    assert lines_of(data, [1] * len(data)) == lines_of(data) == by_pattern(data)


def test_a_carriage_return_at_the_end_of_a_read_waits() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"a\r") == []
    assert splitter.partial_size == 2
    assert [tuple(line) for line in splitter.feed(b"\nb")] == [(b"a", 3, 1)]
    assert splitter.partial_size == 1


@settings(max_examples=200)
@given(data=st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n"])).map(b"".join), sizes=CUTS)
def test_lines_do_not_depend_on_reads(data: bytes, sizes: list[int]) -> None:
    assert lines_of(data, sizes) == by_pattern(data)


# --- Documents -----------------------------------------------------------------------------------


class Recorder(ProviderDialect):
    """A dialect that understands nothing and notes every frame."""

    name = "recorder"

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        self.frames += frames

    def close(self, out: Collector) -> None:
        pass


def frames_of(data: bytes, sizes: Iterable[int] = ()) -> list[tuple[Any, int, int, str]]:
    """Every document as (document, byte after its event, line it began on, event name)."""
    recorder = Recorder()
    reader = SseReader(recorder)
    for piece in pieces(data, sizes):
        assert reader.feed(piece) == []
    assert reader.close() == []
    return [frame[:4] for frame in recorder.frames]


def docs(data: bytes, sizes: Iterable[int] = ()) -> list[Any]:
    """The documents alone; what is not JSON is an Ellipsis."""
    found = frames_of(data, sizes)
    assert frames_of(data, [1] * len(data)) == found
    return [... if doc is None else "DONE" if doc is DONE else doc for doc, *_ in found]


A, B, DONE_LINE = b'data: {"a":1}', b'data: {"b":2}', b"data: [DONE]"
BOTH = [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_of_every_kind(end: bytes) -> None:
    data = end.join([A, b"", B, b"", DONE_LINE, b"", b""])
    assert docs(data) == [*BOTH, "DONE"]
    ends = [len(end.join(lines)) for lines in ([A, b"", b""], [A, b"", B, b"", b""])]
    assert [frame[1] for frame in frames_of(data)] == [*ends, len(data)]
    assert [frame[2] for frame in frames_of(data)] == [1, 3, 5]


def test_mixed_line_ends() -> None:
    assert docs(A + b"\r\n\n" + B + b"\n\r\n" + DONE_LINE + b"\r\r") == [*BOTH, "DONE"]


def test_a_crlf_split_between_two_reads_is_no_blank_line() -> None:
    """Taken for two line ends it would end the event between its two data lines."""
    data = b'data: {"a":\r\ndata: 1}\r\n\r\n'
    for at in range(len(data)):
        assert [frame[0] for frame in frames_of(data, [at])] == [{"a": 1}]


def test_separators_inside_json_do_not_end_a_line() -> None:
    text = "first\u2028second\u2029third\x85fourth"
    assert docs(b'data: {"t":"' + text.encode() + b'"}\n\n') == [{"t": text}]


def test_a_byte_order_mark_is_skipped_once() -> None:
    assert docs(BOM + A + b"\n\n") == [{"a": 1}]
    assert frames_of(BOM + A + b"\n\n")[0][1:3] == (len(BOM + A) + 2, 1)
    assert docs(BOM + BOM + A + b"\n\n") == []  # the second belongs to the field's name
    assert docs(A + b"\n\n" + BOM + B + b"\n\n") == [{"a": 1}]


@pytest.mark.parametrize(
    "line",
    [
        b'data:{"a":1}',
        b'data: {"a":1}',
        b'data:   {"a":1}',
        b'data: {"a":1}   ',
        b'data: {"a":1   }',
        b'data:\t{"a":1}\t',
    ],
)
def test_blanks_around_a_document(line: bytes) -> None:
    assert docs(line + b"\n\n") == [{"a": 1}]
    assert docs(line + b"\r\n\r\n") == [{"a": 1}]


@pytest.mark.parametrize(
    "mark", [b"data: [DONE]", b"data:[DONE]", b"data: [DONE] ", b"data:  [DONE]"]
)
def test_the_end_mark_with_blanks_around_it(mark: bytes) -> None:
    assert docs(mark + b"\n\n") == ["DONE"]
    assert docs(mark) == ["DONE"]


def test_a_string_that_says_done_is_no_end_mark() -> None:
    assert docs(b'data: "[DONE]"\n\n') == ["[DONE]"]


def test_comments_and_other_fields_are_noise() -> None:
    noise = b": OPENROUTER PROCESSING\n\n\n:\nevent: message\nid: 7\nretry: 3000\nnonsense\n\n"
    assert docs(noise) == []
    assert docs(noise + A + b"\n\n" + noise + B + b"\n\n" + noise) == BOTH
    assert docs(b" " + A + b"\nData: {}\ndatax: {}\n\n") == []  # only the exact name counts


def test_a_comment_inside_an_event_does_not_end_it() -> None:
    assert docs(b'data: {"a":\n: ping\nid: 3\ndata: 1}\n\n') == [{"a": 1}]


def test_comments_that_came_back_as_data_are_noise() -> None:
    assert docs(b"data: : OPENROUTER PROCESSING\n\n" + A + b"\n\ndata: :\n\n") == [{"a": 1}]


def test_empty_data_is_noise() -> None:
    assert docs(b"data:\n\ndata: \n\ndata\n\n" + A + b"\n\n") == [{"a": 1}]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_null_is_the_same_noise_at_every_line_end(end: bytes) -> None:
    assert docs(b"data: null" + end * 2 + A + end * 2) == [{"a": 1}]


def test_several_data_lines_are_one_document() -> None:
    lines = json.dumps({"a": [1, {"b": "c"}]}, indent=2).split("\n")
    data = "".join(f"data: {line}\n" for line in lines).encode() + b"\n" + B + b"\n\n"
    assert docs(data) == [{"a": [1, {"b": "c"}]}, {"b": 2}]
    first, second = frames_of(data)
    assert first[1:3] == (data.index(b"\n\n") + 2, 1)
    assert second[1:3] == (len(data), len(lines) + 2)


def test_several_data_lines_that_are_documents_one_by_one() -> None:
    assert docs(A + b"\n" + B + b"\n\n") == BOTH
    assert docs(A + b"\n" + B + b"\n" + DONE_LINE + b"\n\n") == [*BOTH, "DONE"]


def test_no_blank_line_after_any_event() -> None:
    """Some servers end each event with one line end; nothing is to wait for the input's end."""
    recorder = Recorder()
    reader = SseReader(recorder)
    reader.feed(A + b"\n" + B + b"\n")
    assert [frame[0] for frame in recorder.frames] == [{"a": 1}]
    reader.feed(DONE_LINE + b"\n")
    assert [frame[0] for frame in recorder.frames] == BOTH
    assert [frame[1] for frame in recorder.frames] == [len(A) + 1, len(A + B) + 2]
    assert docs(A + b"\n" + B + b"\n" + DONE_LINE + b"\n") == [*BOTH, "DONE"]


@pytest.mark.parametrize("blanks", range(1, 7))
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_any_number_of_blank_lines_between_events(blanks: int, end: bytes) -> None:
    """Read in one piece, up to a blank line, and byte by byte: the offsets stay true."""
    first = A + end * (1 + blanks)
    data = first + B + end * 2
    want = [(len(A + end * 2), 1), (len(data), 2 + blanks)]
    for sizes in ([], [len(first)], [1] * len(data)):
        assert [frame[1:3] for frame in frames_of(data, sizes)] == want


def test_a_last_line_without_a_line_end_is_heard() -> None:
    for data in (A, A + b"\n", A + b"\r", A + b"\r\n"):
        assert frames_of(data) == frames_of(data, [1] * 99) == [({"a": 1}, len(data), 1, "")]


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("length", range(6, 13))
def test_a_last_document_that_was_cut_is_no_document(length: int, end: bytes) -> None:
    """The input's end cut through it: the stream is cut, which is not malformed."""
    assert docs(A + b"\n\n" + B[:length] + end) == [{"a": 1}]


def test_a_last_end_mark_that_was_cut_is_none() -> None:
    for length in range(6, len(DONE_LINE)):
        assert docs(A + b"\n\n" + DONE_LINE[:length]) == [{"a": 1}]


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_a_last_document_that_was_cut_between_its_lines(kept: int) -> None:
    lines = [b"data: {", b'data:   "a": 1,', b'data:   "b": 2', b"data: }"]
    assert docs(B + b"\n\n" + b"\n".join(lines[:kept]) + b"\n") == [{"b": 2}]


def test_what_is_not_json_is_told_with_its_line() -> None:
    data = A + b"\n\n: ping\n\ndata: {not json\n\n" + B + b"\n\n"
    assert docs(data) == [{"a": 1}, ..., {"b": 2}]
    doc, end, line, _ = frames_of(data)[1]
    assert (doc, end, line) == (None, data.index(b"not json\n\n") + 10, 5)
    assert docs(b"data: Number of choices must be greater than 0.\n\n") == [...]
    assert docs(b'data: {"a":"\xff"}\n\n') == [...]


def test_json_that_only_the_standard_library_reads() -> None:
    assert docs(b'data: {"a":"\\ud83d"}\n\n') == [{"a": "\ud83d"}]
    assert math.isnan(docs(b'data: {"a":NaN}\n\n')[0]["a"])


def test_json_of_any_depth_costs_no_more_than_a_problem() -> None:
    (frame,) = frames_of(b"data: " + b"[" * 300_000 + b"]" * 300_000 + b"\n\n")
    assert frame[0] is None


def test_an_event_name_belongs_to_its_event_only() -> None:
    data = b"event: error\n" + A + b"\n\n" + B + b"\n\nevent: ping\n\n" + B + b"\n\n"
    names = [frame[3] for frame in frames_of(data)]
    assert names == ["error", "", ""]
    assert [frame[3] for frame in frames_of(data, [1] * len(data))] == names


def test_an_error_field_is_a_document_named_error() -> None:
    """llama.cpp behind GPUStack tells a failure in mid-stream like this."""
    data = A + b'\n\nerror: {"error":{"message":"no slot"}}\n\n'
    assert docs(data) == [{"a": 1}, {"error": {"message": "no slot"}}]
    assert [frame[3] for frame in frames_of(data)] == ["", "error"]


# --- Bounds --------------------------------------------------------------------------------------


def problems(events: Iterable[Event]) -> list[Problem]:
    return [event for event in events if isinstance(event, Problem)]


def test_megabytes_without_a_line_end_are_a_problem() -> None:
    recorder = Recorder()
    reader = SseReader(recorder)
    told = [bool(problems(reader.feed(b"x" * 2**20))) for _ in range(16)]
    # One byte more than 8 MiB is too much; it is told once, and nothing follows it.
    assert told == [False] * 8 + [True] + [False] * 7
    assert reader.feed(b"\n\n" + A + b"\n\n") == reader.close() == []
    assert recorder.frames == []


def test_the_cap_is_an_argument_and_the_problem_says_which() -> None:
    reader = SseReader(Recorder(), max_frame=100_000)
    assert reader.feed(A + b"\n\n" + b"x" * 100_000) == []
    (problem,) = reader.feed(b"x")
    assert isinstance(problem, Problem)
    assert "no line break" in problem.message
    assert "100000" in problem.message
    assert problem.line == 3


def test_data_lines_without_an_end_are_capped_too() -> None:
    reader = SseReader(Recorder(), max_frame=1000)
    events = [event for _ in range(100) for event in reader.feed(b"data: [\ndata: 1,\n" * 10)]
    assert len(problems(events)) == 1


def test_frames_just_below_the_cap_pass() -> None:
    document = b'data: "' + b"x" * (8 * 2**20 - 100) + b'"'
    recorder = Recorder()
    reader = SseReader(recorder)
    for piece in pieces(document + b"\n\n", [2**18] * 40):
        assert reader.feed(piece) == []
    assert [len(frame[0]) for frame in recorder.frames] == [8 * 2**20 - 100]


# --- Any stream, any cuts ------------------------------------------------------------------------


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Documents, one-line or pretty, with noise and blank lines and line ends of every kind."""
    end = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"])
    value = st.recursive(
        st.one_of(st.integers(0, 99), st.text(max_size=6), st.none()),
        lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=4,
    )
    out = draw(st.sampled_from([b"", BOM]))
    for kind in draw(st.lists(st.sampled_from("dddpnbe"), max_size=12)):
        document = {"v": draw(value)}
        lines: list[bytes] = []
        if kind == "d":
            space = draw(st.sampled_from([b"", b" ", b"  "]))
            text = json.dumps(document, ensure_ascii=draw(st.booleans()))
            lines = [b"data:" + space + text.encode("utf-8", "surrogatepass") + space, b""]
        elif kind == "p":
            lines = [
                f"data: {line}".encode() for line in json.dumps(document, indent=1).split("\n")
            ]
            lines = ([b"event: named"] if draw(st.booleans()) else []) + [*lines, b""]
        elif kind == "n":
            noise = [
                [b": ping"],
                [b"id: 1"],
                [b"retry: 5"],
                [b": ping", b""],
                [b"data: : PING", b""],
            ]
            lines = draw(st.sampled_from(noise))
        elif kind == "b":
            lines = [b""] * draw(st.integers(1, 4))
        else:
            lines = [b"data: [DONE]", b""]
        for line in lines:
            out += line + draw(end)
            if line == b"" and out.endswith(b"\r\n") and not out.endswith(b"\n\r\n"):
                out += b"\n"  # a CR before this LF made one line end of what were to be two
    return out


def by_lines(data: bytes) -> list[tuple[Any, int, int, str]]:
    """The grammar as written down, over the whole input: an event ends at a blank line."""
    found: list[tuple[Any, int, int, str]] = []
    skipped = len(BOM) * data.startswith(BOM)
    values: list[tuple[bytes, int]] = []
    name = ""
    for content, end, number in [*by_pattern(data[skipped:]), (b"", len(data) - skipped, 0)]:
        field, _, value = content.partition(b":")
        if field == b"data":
            values.append((value, number))
        elif field == b"event":
            name = value.decode().strip()
        elif not content:
            joined = b"\n".join(value for value, _ in values).strip()
            if joined and not joined.startswith(b":"):
                doc = DONE if joined == b"[DONE]" else json.loads(joined)
                found.append((doc, skipped + end, values[0][1], name))
            values, name = [], ""
    return found


@settings(max_examples=200)
@given(data=streams(), sizes=CUTS)
@example(data=A + b"\n\n\n" + B + b"\n\n", sizes=[len(A) + 3])
def test_any_stream_cut_anywhere_gives_the_same_documents(data: bytes, sizes: list[int]) -> None:
    assert frames_of(data, sizes) == by_lines(data)


TOKENS = [b"data:", b"data: ", b"{", b"}", b'{"a":1}', b"[DONE]", b"\n", b"\r", b"\r\n", b"\n\n"]
TOKENS += [b":", b"event: x", b"error: ", b"null", BOM, b"\x00", b"\xff", b"1", b'"', b" "]
NOISE = st.lists(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=3)), max_size=40)


@settings(max_examples=300)
@given(data=NOISE.map(b"".join), sizes=CUTS)
@example(data=b"data: null\n\n", sizes=[11])
def test_any_bytes_cut_anywhere_give_the_same_and_never_raise(
    data: bytes, sizes: list[int]
) -> None:
    whole = frames_of(data)
    assert frames_of(data, sizes) == whole == frames_of(data, [1] * len(data))
    assert all(0 < end <= len(data) and line > 0 for _, end, line, _ in whole)
