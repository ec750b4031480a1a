"""JSON Lines of no known dialect: copied whole, reported once, and never judged as text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from reading import Heard, hear

from fixtures.wires import FORMATS, Reply, compact, lines
from loopcli.events import Lane

WORDS = [f"word{number} " for number in range(700)]


def token(number: int) -> dict[str, object]:
    return {"request_id": "r-1", "token": WORDS[number]}


def nested(number: int) -> dict[str, object]:
    return {"seq": number, "body": {"parts": [{"say": WORDS[number]}], "final": False}}


def typed(number: int) -> dict[str, object]:
    if number == 0:
        return {"kind": "open", "session": "s", "tools": ["a", "b"]}
    return {"kind": "piece", "number": number, "body": WORDS[number]}


def timed(number: int) -> dict[str, object]:
    return {"t": number / 4, "o": WORDS[number], "level": "info"}


def heard(data: bytes) -> Heard:
    whole = hear(data)
    assert hear(data, [1] * min(len(data), 3000)) == whole
    assert hear(data, [97] * len(data)) == whole
    return whole


@pytest.mark.parametrize("document", [token, nested, typed, timed])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n\n"])
def test_lines_of_one_kind_are_an_unknown_format(
    document: Callable[[int], dict[str, object]], ends: str
) -> None:
    data = lines(document(number) for number in range(len(WORDS))).replace("\n", ends).encode()
    found = heard(data)
    assert (found.format, found.framing, found.lanes) == ("unknown", "ndjson", {})
    (problem,) = found.problems
    assert problem.startswith("an unknown format: its documents have the members ")
    assert ", ".join(list(document(0))[:5]) in problem


def test_two_lines_are_enough() -> None:
    assert heard(lines([token(0), token(1)]).encode()).format == "unknown"
    assert heard(lines([token(0), token(1)]).rstrip().encode()).format == "unknown"
    assert heard(lines([token(0)]).encode()).format == "text"


@pytest.mark.parametrize(
    "text",
    [
        lines([token(1)] * 300),  # a loop, whoever wrote it
        lines([token(1)]) + "and some words.\n" * 300,
        lines([token(1)]) + "{" + "and some words.\n" * 300,
        compact(token(0)) + " " + compact(token(1)),
        lines([{"a": 1}, {"b": 2}]),
        lines([{"a": 1}, {"a": 2}]),
        '{"name":\n"a", "b": 1}\n' + lines([{"name": "b", "b": 2}]),
        '{"name": "a", "b": 1}\n[1, 2]\n',
    ],
)
def test_other_lines_are_text(text: str) -> None:
    found = heard(text.encode())
    assert (found.format, found.lanes, found.problems) == ("text", {Lane(): text}, [])


@pytest.mark.parametrize("name", ["chat-lines", "ollama", "cohere-1", "anthropic-lines"])
def test_a_known_dialect_after_an_unknown_line_is_read(name: str) -> None:
    form = FORMATS[name]
    data = form.write(Reply("Hello there."), lambda text: [text] if text else []).encode()
    found = heard(compact({"request": "r", "queued": 3}).encode() + b"\n" + data)
    assert (found.format, found.said("content"), found.problems) == (
        form.name,
        ["Hello there."],
        [],
    )


def test_the_filter_copies_them_whole_and_says_so_once() -> None:
    data = lines(token(number % 40) for number in range(4000)).encode()
    command = [sys.executable, "-m", "loopcli"]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert (done.returncode, done.stdout == data) == (5, True)
    (message,) = done.stderr.decode().splitlines()
    assert "unknown format" in message
    assert "request_id, token" in message
