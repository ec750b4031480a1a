"""Sessions on standard input: passed through as they are, their words judged as they come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_logs import FORMS, SAMPLE
from agent_sessions import Form, Session, Turn
from processes import loopcheck

from loopcli.detector import Detector
from loopcli.events import Note
from loopcli.monitor import arm
from loopcli.sessions import table
from loopcli.sessions.live import NAMES, reader
from loopcli.sessions.sniff import sniff
from loopcli.watch import Watch

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOOP = "I will look at the list of files once more. " * 40
PROGRAMS = [form for form in FORMS if table.FORMATS[form.name].program and form.suffix != "md"]
PRINTED = ("stream-json", "exec-json", "run-json")
STREAMS = [form for form in PROGRAMS if form.name.endswith(PRINTED)]


def name_of(form: Form) -> str:
    return f"{form.name}.{form.suffix}"


each_program = pytest.mark.parametrize("form", PROGRAMS, ids=name_of)
each_stream = pytest.mark.parametrize("form", STREAMS, ids=name_of)


def looping(form: Form) -> bytes:
    """A session whose second reply loops."""
    turns = (SAMPLE.turns[0], Turn(LOOP), SAMPLE.turns[-1])
    return form.write(Session(SAMPLE.user, turns)).encode()


def tripped(form: Form, size: int = 64) -> tuple[str, int, int, int]:
    """The format, and where the text rules of the command fire: characters, byte, bytes read."""
    data, watch = looping(form), Watch(reader("auto"), Detector(arm()))
    for at in range(0, len(data), size):
        for _, verdicts in watch.feed(data[at : at + size]):
            for placed in verdicts:
                assert placed.cut is not None
                return watch.state.format, placed.verdict.chars, placed.cut, at + size
    raise AssertionError("no rule fired")


@each_stream
def test_a_stream_is_recognised_passed_through_and_named(form: Form) -> None:
    data = form.write(SAMPLE)
    result = loopcheck("--report", "/dev/stderr", stdin=data)
    end = json.loads(result.stderr.splitlines()[-1])
    assert (result.returncode, result.stdout) == (0, data)
    assert (end["format"], end["end"]) == (form.name, "done")


@each_program
def test_the_words_of_a_reply_are_judged_by_themselves(form: Form) -> None:
    if not form.text or form.suffix == "sse":
        pytest.skip("no words of the model, or not recognised on standard input")
    name, chars, cut, read = tripped(form)
    # The same character in every format: no reply is diluted by the others.
    assert (name, chars) == (form.name, 684)
    assert cut <= read
    assert looping(form)[:cut].endswith((b"\n", b"}", b"]"))


def test_where_a_program_streams_the_loop_is_caught_while_it_streams() -> None:
    for form in STREAMS:
        data = looping(form)
        *_, read = tripped(form)
        reply = data.index(b"once more.", data.index(b"once more.") + 1)
        streamed = form.suffix == "partial.jsonl" or form.name.startswith("gemini")
        rest = data[read:].count(b"once more.")
        assert (rest > 20) is streamed, (form.name, reply)


def test_a_reply_that_is_asked_for_again_is_no_loop() -> None:
    """Each attempt repeats the text so far, unmarked: together they would be four copies."""
    text = " ".join(f"Step {number} of the plan is done." for number in range(40))
    records = [{"type": "init", "timestamp": "2030-01-01T00:00:00.000Z", "session_id": "s"}]
    for attempt, begin in enumerate((0, 4, 10, 20)):
        for at in range(0, len(text) if attempt == 3 else 1000, 50):
            stamp = f"2030-01-01T00:00:{begin:02}.{at // 50:03}Z"
            record = {"type": "message", "role": "assistant", "timestamp": stamp}
            records.append({**record, "content": text[at : at + 50]})
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    watch = Watch(reader("auto"), Detector(arm()))
    verdicts = [v for _, placed in (*watch.feed(data), *watch.close()) for v in placed]
    assert verdicts == []
    # Without the pauses it is what it looks like.
    quick = data.replace(b"00:00:04", b"00:00:00").replace(b"00:00:10", b"00:00:00")
    quick = quick.replace(b"00:00:20", b"00:00:00")
    watch = Watch(reader("auto"), Detector(arm()))
    assert any(placed for _, placed in watch.feed(quick))


def test_a_looping_argument_is_judged_where_tool_arguments_are_watched() -> None:
    call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": LOOP}}
    record = {"type": "assistant", "session_id": "s", "message": {"id": "m", "content": [call]}}
    data = json.dumps(record).encode() + b"\n"
    for channels, fires in (({"content"}, False), ({"tool-args"}, True)):
        watch = Watch(reader("auto"), Detector(arm("period", watch=channels)))
        assert any(placed for _, placed in watch.feed(data)) is fires


def test_lanes_are_closed_with_their_reply_and_their_peaks_are_kept() -> None:
    form = STREAMS[0]
    turns = tuple(Turn(f"Reply number {number}.") for number in range(3000))
    turns = (Turn("I will look once more. " * 20), *turns)
    watch = Watch(reader("auto"), Detector(arm()))
    events = [*watch.feed(form.write(Session("x", turns)).encode()), *watch.close()]
    assert not [event for event, _ in events if isinstance(event, Note)]
    assert watch.detector.totals()[0] == 100 + 2 * 3000  # the last word of a text never ends
    assert watch.detector.gauges()["period"].peak.value > 300
    assert list(watch.detector) == []


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("streams/*")), ids=lambda path: path.name)
def test_no_stream_of_an_api_is_taken_for_a_session(path: Path) -> None:
    found = sniff(path.read_bytes()[: 64 * 1024], final=True)
    assert found is not None
    assert not (found.name and table.FORMATS[found.name].program)


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}',
        '[{"role": "assistant", "content": "y"}]',
        '{"type": "object", "properties": {"message": {"type": "string"}}}',
        '{"type": "user", "name": "Ada"}',
        '{"steps": [{"type": "text", "text": "x"}]}',
    ],
)
def test_json_that_a_model_was_asked_to_write_stays_text(text: str) -> None:
    watch = Watch(reader("auto"), Detector(arm()))
    list(watch.feed(text.encode()))
    list(watch.close())
    assert watch.state.format == "text"


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_forced_it_is_the_same(form: Form) -> None:
    data = form.write(SAMPLE).encode()
    forced = reader(form.name)
    events = forced.feed(data[:1]) + forced.feed(data[1:]) + forced.close()
    assert forced.name == form.name
    assert len(events) > 3
    assert forced.progress == len(events)


def test_every_format_can_be_named() -> None:
    assert set(table.NAMES) < set(NAMES)
    assert len(NAMES) == len(set(NAMES))
