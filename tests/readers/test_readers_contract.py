"""What holds for every format: where reads fall changes nothing, and every channel is heard."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import hear

from fixtures.texts import Dice
from fixtures.wires import FORMATS, Reply, compact, spoken
from loopcli.detector import Detector
from loopcli.events import Channel, Finish, Lane, Text
from loopcli.readers.detection.auto import READERS, reader
from loopcli.rules.table import configs
from loopcli.settings.arming import Settings
from loopcli.watch import Watch

FIXTURES = Path(__file__).parents[2] / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
SAID = [path for path, want in EXPECTED.items() if "said" in want]
STREAMS = [path for path in EXPECTED if path.startswith("streams/")]
LOOP = "void 0;\n" * 2500
CASES = [(name, channel) for name, form in FORMATS.items() for channel in form.channels]


def data_of(path: str) -> bytes:
    return (FIXTURES / path).read_bytes()


def looping(name: str, channel: str, widest: int, **rest: str) -> bytes:
    """A reply of a format with the loop in one channel."""
    loop = compact({"path": "a", "text": LOOP}) if channel == "tool-args" else LOOP
    field = "arguments" if channel == "tool-args" else channel
    reply = Reply(**{**rest, field: loop})
    return FORMATS[name].write(reply, partial(Dice(widest).cut, widest=widest)).encode()


def watched(channels: str = "all", name: str = "auto") -> Watch:
    chosen = frozenset(Channel) if channels == "all" else frozenset({Channel(channels)})
    armed = Settings(("saturation",), configs({}), chosen).rules()
    return Watch(reader(name), Detector(armed))


def rulings(watch: Watch, data: bytes, size: int) -> list[Any]:
    found = []
    for at in range(0, len(data), size):
        for _, fresh in watch.feed(data[at : at + size]):
            found += fresh
    return found + [ruling for _, fresh in watch.close() for ruling in fresh]


def test_every_dialect_has_a_fixture() -> None:
    names = {form.name for form in FORMATS.values()}
    assert names == set(READERS) - {"auto", "sse", "ndjson", "json", "text"}
    assert len(SAID) == len(FORMATS)


# --- Every fixture -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAID)
def test_every_channel_is_heard(path: str) -> None:
    want, heard = EXPECTED[path], hear(data_of(path))
    assert heard.format == want["format"]
    assert {channel: heard.said(channel) for channel in want["said"]} == {
        channel: [text] for channel, text in want["said"].items()
    }
    assert {lane.channel for lane in heard.lanes} == set(want["said"])
    assert (heard.errors, heard.problems) == ([], [])


@pytest.mark.parametrize("path", SAID)
def test_tool_calls_are_assembled(path: str) -> None:
    calls = hear(data_of(path)).calls
    if "tool-args" in EXPECTED[path]["said"]:
        ((name, arguments),) = calls
        assert name == "write_file"
        assert spoken(arguments) == EXPECTED[path]["said"]["tool-args"]
    else:
        assert calls == []


@pytest.mark.parametrize("path", STREAMS)
def test_byte_by_byte_and_in_pieces(path: str) -> None:
    data, dice = data_of(path), Dice(len(path))
    whole = hear(data)
    assert hear(data, [1] * len(data)) == whole
    for widest in (7, 64, 1000, 5000):
        assert hear(data, [1 + dice.below(widest) for _ in data]) == whole


@pytest.mark.parametrize("path", SAID)
def test_forced_it_is_the_same(path: str) -> None:
    data = data_of(path)
    assert hear(data, name=EXPECTED[path]["format"]) == hear(data)


@pytest.mark.parametrize("path", SAID)
def test_every_character_ends_where_the_input_may_be_cut(path: str) -> None:
    """After the event or the line that brought it; never inside one."""
    data = data_of(path)
    heard = hear(data)
    for ends in heard.ends.values():
        assert ends == sorted(ends)
        for end in set(ends):
            whole = data[:end].endswith(b"\n") or data[end - 1 : end] in (b"}", b"]")
            assert whole, data[max(0, end - 40) : end]


@pytest.mark.parametrize("path", SAID)
def test_cut_off_anywhere_nothing_is_malformed(path: str) -> None:
    data = data_of(path)
    whole = hear(data)
    for at in range(0, len(data), max(1, len(data) // 150)):
        heard = hear(data[:at])
        assert [p for p in heard.problems if "unknown format" not in p] == []
        if heard.framing != "text":
            for lane, text in heard.lanes.items():
                assert whole.lanes[lane].startswith(text)


# --- A loop in every channel ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "channel"), CASES)
@pytest.mark.parametrize(("widest", "size"), [(23, 1 << 20), (5, 100), (400, 4096)])
def test_a_loop_trips_in_its_channel_at_the_same_word(
    name: str, channel: str, widest: int, size: int
) -> None:
    data = looping(name, channel, widest)
    (ruling,) = rulings(watched(), data, size)
    verdict = ruling.verdict
    before = "a\n" if channel == "tool-args" else ""  # the first argument
    words, chars = len(before.split()), len(before)
    assert (verdict.words, verdict.chars) == (3065 + words, 12_261 + chars)
    assert verdict.lane.channel == channel
    assert verdict.lane.tool == ("write_file" if channel == "tool-args" else "")
    assert 0 < ruling.cut <= len(data)
    assert rulings(watched("content"), data, size) == ([ruling] if channel == "content" else [])


@pytest.mark.parametrize("name", [name for name, channel in CASES if channel == "tool-args"])
def test_a_loop_in_a_lone_argument_has_the_documents_figures(name: str) -> None:
    reply = Reply(arguments=compact({"text": LOOP}))
    data = FORMATS[name].write(reply, partial(Dice(3).cut, widest=9)).encode()
    (ruling,) = rulings(watched(), data, 512)
    assert (ruling.verdict.words, ruling.verdict.chars) == (3065, 12_261)


@pytest.mark.parametrize("name", [name for name, channel in CASES if channel == "reasoning"])
def test_other_channels_do_not_dilute_it(name: str) -> None:
    prose = " ".join(f"word{number}" for number in range(9000))
    data = looping(name, "reasoning", 30, content=prose)
    (ruling,) = rulings(watched(), data, 3000)
    assert (ruling.verdict.words, ruling.verdict.lane.channel) == (3065, "reasoning")


# --- Anything at all -----------------------------------------------------------------------------

SIZES = st.lists(st.integers(0, 300), max_size=60)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A fixture with bytes changed, dropped, doubled, and two of them spliced."""
    data = bytearray(data_of(draw(st.sampled_from(STREAMS)))[: draw(st.integers(0, 6000))])
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        size = draw(st.integers(0, 40))
        action = draw(st.sampled_from(["drop", "double", "put", "splice"]))
        if action == "drop":
            del data[at : at + size]
        elif action == "double":
            data[at:at] = data[at : at + size]
        elif action == "put":
            data[at:at] = draw(st.sampled_from(PIECES))
        else:
            other = data_of(draw(st.sampled_from(STREAMS)))
            start = draw(st.integers(0, len(other)))
            data[at:at] = other[start : start + 400]
    return bytes(data)


PIECES = [
    *(
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b",",
        b":",
        b"data: ",
        b"\x00",
    ),
    *(b"\xff", b"\xef\xbb\xbf", b"null", b"NaN", b"1e999", b"[DONE]", b"error: {", b"\\ud83d"),
    *(
        b'"choices":[',
        b'"error":{"message":"m"}',
        b"HTTP/1.1 500 No\r\n\r\n",
        b"99999999999999999999",
    ),
]


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60)
@given(data=st.one_of(st.binary(max_size=300), mutated()), sizes=SIZES)
def test_any_bytes_cut_anywhere(name: str, data: bytes, sizes: list[int]) -> None:
    """No exception, and nothing that depends on the reads."""
    whole = hear(data, name=name)
    assert hear(data, sizes, name=name) == whole
    assert len(whole.problems) <= 1
    texts = sum(map(len, whole.lanes.values()))
    assert texts <= 2 * len(data) + 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


DOCUMENTS = [
    json.loads(line.removeprefix("data: "))
    for path in SAID
    for line in data_of(path).decode().splitlines()
    if line.startswith(("data: {", '{"'))
]


@st.composite
def disfigured(draw: st.DrawFn) -> bytes:
    """Documents of a format in which any member may be anything."""
    lines = []
    for document in draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=6)):
        document = json.loads(json.dumps(document))
        for _ in range(draw(st.integers(0, 3))):
            here = document
            for _ in range(draw(st.integers(0, 5))):
                inner = list(here.values()) if isinstance(here, dict) else here
                inner = [item for item in inner if isinstance(item, dict | list) and item]
                if not inner:
                    break
                here = draw(st.sampled_from(inner))
            if isinstance(here, dict) and here:
                here[draw(st.sampled_from(sorted(here)))] = draw(JSON)
            elif isinstance(here, list) and here:
                here[draw(st.integers(0, len(here) - 1))] = draw(JSON)
        lines.append("data: " + json.dumps(document) + "\n\n")
    return "".join(lines).encode()


@pytest.mark.parametrize("name", [name for name in READERS if name != "text"])
@settings(max_examples=60)
@given(data=disfigured(), sizes=SIZES)
def test_members_of_the_wrong_kind(name: str, data: bytes, sizes: list[int]) -> None:
    whole = hear(data, name=name)
    assert hear(data, sizes, name=name) == whole


def test_choices_without_end() -> None:
    reading = reader("auto")
    kept = set()
    for number in range(20_000):
        choice = {"index": number, "delta": {"content": "a", "tool_calls": [{"index": number}]}}
        for event in reading.feed(b"data: " + compact({"choices": [choice]}).encode() + b"\n\n"):
            if isinstance(event, Text):
                kept.add(event.lane)
    assert len(kept) == 4096
    assert len(reading.close()) <= 1024 + 1


def test_the_last_reason_of_a_choice_is_its_reason() -> None:
    heard = hear(data_of("streams/gemini.sse"))
    assert heard.of(Finish) == [Finish(0, "STOP")]
    assert set(heard.lanes) == {
        Lane(Channel.CONTENT),
        Lane(Channel.REASONING),
        Lane(Channel.TOOL_ARGS, 0, 0, "write_file"),
    }
