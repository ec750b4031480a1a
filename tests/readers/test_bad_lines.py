"""Data lines that are not documents: reported once, skipped, and nothing ends."""

from __future__ import annotations

import orjson
import pytest
from reading import Heard, hear

from fixtures.wires import FORMATS, Reply

HALVES = ("One half of it, ", "and the other.")
# Whole streams of one delta each; the second goes on where the first stops.
WIRES = ("chat", "anthropic", "gemini", "cohere", "llamacpp", "chat-lines", "ollama")


def wire(name: str, text: str) -> bytes:
    return FORMATS[name].write(Reply(text), lambda piece: [piece] if piece else []).encode()


def heard(data: bytes) -> Heard:
    whole = hear(data)
    assert hear(data, [1] * len(data)) == whole
    assert hear(data, [61] * len(data)) == whole
    return whole


BAD = [
    "ping",
    "keepalive",
    "{not json",
    '{"choices": [{"delta": {"content": "to',
    "[1, 2",
    "the model is warming up",
    "<html>",
    "17",
]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", WIRES)
def test_a_bad_line_ends_nothing(name: str, bad: str) -> None:
    lines = FORMATS[name].suffix == "ndjson"
    middle = f"{bad}\n" if lines else f"data: {bad}\n\n"
    first = wire(name, HALVES[0])
    data = first + middle.encode() * 3 + wire(name, HALVES[1])
    found = heard(data)
    # A new message of Anthropic's begins another attempt.
    assert "".join(found.said("content")) == (HALVES[1] if name == "anthropic" else "".join(HALVES))
    # A number is a document, although one that says nothing.
    assert len(found.problems) == (0 if bad == "17" else 1)
    assert found.errors == []
    if found.problems:
        (problem,) = (event for event in found.others if hasattr(event, "line"))
        assert problem.line == first.count(b"\n") + 1


@pytest.mark.parametrize("name", ["chat", "chat-lines"])
def test_a_document_that_is_a_string_is_no_delta(name: str) -> None:
    lines = FORMATS[name].suffix == "ndjson"
    string = b'"x"\n' if lines else b'data: "x"\n\n'
    first, second = (wire(name, half) for half in HALVES)
    heads = first.splitlines(keepends=True)
    cut = len(b"".join(heads[: 1 if lines else 2]))
    for at in (cut, len(first)):
        data = first[:at] + string * 3 + first[at:] + second
        assert "".join(heard(data).said("content")) == "".join(HALVES)


@pytest.mark.parametrize("role", [{}, [], 1, None, True])
def test_a_role_of_any_type_is_read(role: object) -> None:
    document = orjson.dumps({"role": role, "state": "warming up", "name": "one two three"})
    assert len(heard(b"data: " + document + b"\n\n").problems) == 1


def test_a_run_of_plain_text_is_one_problem() -> None:
    for words in ("The survey sho", "Two words", "one", "今日は"):
        data = "".join(f"event: output\nid: {n}\ndata: {words}\n\n" for n in range(20))
        found = heard(data.encode())
        assert (len(found.problems), found.errors, found.format) == (1, [], "unknown")


def test_an_error_in_prose_is_the_servers() -> None:
    for words in ("Number of choices must be greater than 0.", "request timed out, try again"):
        found = heard(f"data: {words}\n\n".encode())
        assert (found.problems, found.errors) == ([], [words])


@pytest.mark.parametrize("prefix", ["data: data: ", "data:data:", "data: data: data: "])
@pytest.mark.parametrize("name", ["chat", "anthropic", "gemini-vertex", "responses"])
def test_a_prefix_twice_is_read(name: str, prefix: str) -> None:
    data = wire(name, HALVES[0])
    found = heard(data.replace(b"data: ", prefix.encode()))
    assert found.lanes == hear(data).lanes
    assert (found.problems, found.format) == ([], FORMATS[name].name)
