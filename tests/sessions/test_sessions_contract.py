"""What holds for every format of sessions: the same events however it is cut, and no exception."""

from __future__ import annotations

import json
import random

import pytest
from agent_logs import FORMS, SAMPLE
from agent_sessions import Form
from hypothesis import given, settings
from hypothesis import strategies as st
from session_reading import events_of, heard, read, sniffed, wanted

from loopcli.events import Channel, Done, Text
from loopcli.session_events import RoundEnd, SessionCall, SessionResult
from loopcli.sessions import table
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.sniff import HEAD_BYTES, sniff

each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.name}.{form.suffix}")


def data_of(form: Form) -> bytes:
    return form.write(SAMPLE).encode()


def test_every_format_has_a_fixture() -> None:
    assert {form.name for form in FORMS} == set(table.NAMES)


@each_form
def test_it_is_recognised(form: Form) -> None:
    data = data_of(form)
    found = sniffed(data)
    assert found.name == form.name
    assert found.framing == {"md": "text", "json": "json"}.get(form.suffix.split(".")[-1]) or (
        found.framing in ("ndjson", "json")
    )


@each_form
def test_recognition_never_depends_on_how_much_came_at_once(form: Form) -> None:
    data = data_of(form)
    answers = {sniff(data[:size]) for size in range(1, len(data), 7)}
    assert answers <= {None, sniffed(data)}


@each_form
def test_it_is_read_as_the_session_that_was_written(form: Form) -> None:
    said, want = read(data_of(form)), wanted(SAMPLE, form)
    if form.name in ("inspect", "turns"):
        assert said.pop(0)[0] == "start"
    if form.name in ("claude-code-jsonl", "claude-code-stream-json"):
        # Results come in the order in which the tools were done.
        said, want = sorted(said, key=str), sorted(want, key=str)
    if form.name == "aider":
        said = [(*item[:2], item[2].rstrip()) if len(item) > 2 else item for item in said]
    assert said == want


@each_form
def test_byte_by_byte_and_in_pieces_it_is_the_same(form: Form) -> None:
    data = data_of(form)
    whole = heard(events_of(data))
    assert heard(events_of(data, [1] * len(data))) == whole
    dice = random.Random(form.name)
    for widest in (7, 64, 1000):
        assert heard(events_of(data, [dice.randint(1, widest) for _ in data])) == whole


@each_form
def test_positions_never_depend_on_where_reads_fall(form: Form) -> None:
    """Lines and bytes of the events, too; and the byte is where a record ends."""
    data = data_of(form)

    def places(sizes: list[int]) -> list[tuple[int, int]]:
        kinds = (SessionCall, SessionResult, RoundEnd)
        return [(e.line, e.byte) for e in events_of(data, sizes) if isinstance(e, kinds)]

    whole = places([])
    assert places([3] * len(data)) == whole
    assert all(1 <= line <= data.count(b"\n") + 1 for line, _ in whole)
    for _, byte in whole:
        assert data[byte - 1 : byte] in (b"\n", b"}", b"]")


@each_form
def test_cut_short_it_is_read_up_to_there(form: Form) -> None:
    """Never raises, never reports a fault, and says only what the whole says."""
    data = data_of(form)
    name, framing = sniffed(data)
    for size in range(0, len(data), max(1, len(data) // 60)):
        reader = SessionReader(name, framing)
        events = reader.feed(data[:size]) + reader.close()
        assert reader.broken == 0
        ended = any(isinstance(event, Done) for event in events)
        # Of a stream that a program prints, the end is missing then.
        assert ended is (
            not form.name.endswith(("stream-json", "exec-json", "run-json", "events", "turns"))
        )


@each_form
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_damaged_anywhere_it_never_raises(form: Form, data: st.DataObject) -> None:
    raw = bytearray(data_of(form))
    name, framing = sniffed(bytes(raw))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        what = data.draw(st.sampled_from(["drop", "byte", "copy"]))
        if what == "drop":
            del raw[at : at + data.draw(st.integers(1, 200))]
        elif what == "byte":
            raw[at : at + 1] = data.draw(st.binary(min_size=1, max_size=3))
        else:
            raw[at:at] = raw[at : at + data.draw(st.integers(1, 300))]
        if not raw:
            return
    whole = heard_loosely(SessionReader(name, framing), bytes(raw), len(raw))
    assert heard_loosely(SessionReader(name, framing), bytes(raw), 5) == whole
    sniff(bytes(raw), final=True)


def heard_loosely(reader: SessionReader, raw: bytes, size: int) -> list[str]:
    """The events of an input in pieces of a size, but for where texts were joined."""
    events = []
    for at in range(0, len(raw), size):
        events += reader.feed(raw[at : at + size])
    said = []
    for event in events + reader.close():
        if isinstance(event, Text):
            said += [f"{event.lane} {char}" for char in event.text]
        else:
            said.append(repr(event))
    return said


KEYS = st.sampled_from(
    ["type", "message", "content", "role", "id", "item", "part", "event", "payload", "uuid"]
).flatmap(
    lambda one: st.sampled_from(
        [one, "text", "tool_calls", "function", "arguments", "state", "input", "index", "delta"]
    )
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize("name", table.NAMES)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_members_of_other_types_never_raise(name: str, data: st.DataObject) -> None:
    """Documents of the fixtures with members replaced by anything, and documents of anything."""
    form = data.draw(st.sampled_from([form for form in FORMS if form.name == name]))
    docs = documents(data_of(form))
    doc = data.draw(st.sampled_from(docs))
    for _ in range(data.draw(st.integers(1, 4))):
        doc = replaced(doc, data)
    lines = [json.dumps(part) for part in (*docs, doc, data.draw(JSON), doc)]
    reader = SessionReader(name, "ndjson")
    reader.feed("\n".join(lines).encode("utf-8", "replace"))
    reader.close()


def documents(data: bytes) -> list[object]:
    try:
        return [json.loads(data)]
    except ValueError:
        return [json.loads(line) for line in data.splitlines() if line.startswith(b"{")] or [{}]


def replaced(doc: object, data: st.DataObject) -> object:
    """A copy of a document with one member, somewhere in it, made something else."""
    if isinstance(doc, dict) and doc and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(doc)))
        return {**doc, key: replaced(doc[key], data)}
    if isinstance(doc, list) and doc and data.draw(st.integers(0, 4)):
        at = data.draw(st.integers(0, len(doc) - 1))
        return [*doc[:at], replaced(doc[at], data), *doc[at + 1 :]]
    return data.draw(JSON)


@each_form
def test_every_reply_ends_before_its_results(form: Form) -> None:
    open_agents: set[str] = set()
    for event in events_of(data_of(form)):
        match event:
            case Text():
                open_agents.add(event.lane.agent)
            case SessionCall():
                open_agents.add(event.agent)
            case RoundEnd():
                open_agents.discard(event.agent)
            case SessionResult():
                assert event.agent not in open_agents
    assert not open_agents


@each_form
def test_events_have_all_their_fields(form: Form) -> None:
    for event in events_of(data_of(form)):
        assert len(event) == len(type(event)._fields)


def test_words_of_streamed_arguments_come_as_they_stream() -> None:
    form = next(form for form in FORMS if form.suffix == "partial.jsonl")
    events = events_of(data_of(form))
    words = [e.text for e in events if isinstance(e, Text) and e.lane[0] is Channel.TOOL_ARGS]
    assert "".join(words).startswith("cat logs/build.txt\n")
    assert all(call.spoken for call in events if isinstance(call, SessionCall))


def test_a_first_record_larger_than_the_head_is_recognised_by_its_beginning() -> None:
    record = {"type": "user", "parentUuid": None, "sessionId": "s", "uuid": "u"}
    record["message"] = {"role": "user", "content": "x" * HEAD_BYTES}  # type: ignore[assignment]
    line = (json.dumps(record) + "\n").encode()
    assert sniff(line[:HEAD_BYTES]) == ("claude-code-jsonl", "ndjson")
