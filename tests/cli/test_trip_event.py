"""``--trip-event`` ends a stream with an error in the form of its API.

Every reader of this package must take it for an upstream error, whatever the format.
tests/real/test_clients.py shows it to the official clients.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

import pytest

from fixtures.texts import Dice
from fixtures.wires import FORMATS, Reply
from tests.support.processes import PATIENCE, environ

LOOP = "void 0;\n" * 200
SENTENCE = "loopcheck stopped the model's reply: "
STREAMED = [n for n, form in FORMATS.items() if form.suffix not in ("json", "http")]


def written(name: str) -> bytes:
    return FORMATS[name].write(Reply(content=LOOP), partial(Dice(8).cut, widest=40)).encode()


def loopcheck(data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "loopcli", *arguments],
        input=data,
        capture_output=True,
        env=environ(PYTHONPATH=os.environ.get("PYTHONPATH", "")),
        timeout=PATIENCE,
    )


def error_of(name: str) -> str:
    """What ``--trip-event`` adds to a stream in which a rule fires."""
    data = written(name)
    cut = loopcheck(data)
    ended = loopcheck(data, "--trip-event")
    assert (cut.returncode, ended.returncode) == (3, 3), cut.stderr
    assert ended.stdout.startswith(cut.stdout)
    return ended.stdout[len(cut.stdout) :].decode()


@pytest.mark.parametrize("name", STREAMED)
def test_every_reader_takes_it_for_an_upstream_error(name: str) -> None:
    ended = loopcheck(written(name), "--trip-event")
    again = loopcheck(ended.stdout, "--rules", "novelty")
    assert again.returncode == 6, again.stderr
    assert SENTENCE in again.stderr.decode()
    assert again.stdout == ended.stdout


def document(event: str) -> dict[str, object]:
    """The document of an event, without the end mark behind it."""
    lines = event.removesuffix("data: [DONE]\n\n").split("data: ", 1)
    doc: dict[str, object] = json.loads(lines[-1])
    return doc


OPENAI = ["message", "type", "param", "code"]


@pytest.mark.parametrize("name", ["chat", "completions", "llamacpp"])
def test_in_the_form_of_openai(name: str) -> None:
    event = error_of(name)
    assert event.startswith("data: ")
    assert event.endswith("\n\ndata: [DONE]\n\n")
    (error,) = document(event).values()
    assert isinstance(error, dict)
    assert list(error) == OPENAI
    assert error["type"] == error["code"] == "model_response_loop"
    assert error["message"].startswith(SENTENCE)


def test_in_the_form_of_responses() -> None:
    event = error_of("responses")
    assert event.startswith('event: error\ndata: {"type":"error",')
    assert "[DONE]" not in event
    doc = document(event)
    assert doc["code"] == "model_response_loop"
    assert str(doc["message"]).startswith(SENTENCE)
    assert list(doc["error"]) == OPENAI  # type: ignore[call-overload]


def test_in_the_form_of_anthropic() -> None:
    event = error_of("anthropic")
    assert event.startswith('event: error\ndata: {"type":"error","error":{"type":"model_')
    assert event.count("\n") == 3


@pytest.mark.parametrize("name", ["gemini", "gemini-vertex"])
def test_in_the_form_of_google(name: str) -> None:
    event = error_of(name)
    assert event.startswith('data: {"error":{"code":500,"message":"loopcheck stopped')
    assert event.count("\n") == 2


@pytest.mark.parametrize("name", ["ollama", "ollama-generate"])
def test_in_the_form_of_ollama(name: str) -> None:
    event = error_of(name)
    assert event.startswith('{"error":"loopcheck stopped')
    assert event.endswith('"}\n')


def test_a_line_without_an_end_gets_one_first() -> None:
    data = written("ollama").split(b'{"model"')
    whole = b'{"model"' + data[1].rstrip(b"\n")
    line = json.loads(whole)
    line["message"]["content"] = LOOP
    ended = loopcheck(json.dumps(line).encode(), "--input", "ollama", "--trip-event")
    assert ended.returncode == 3
    assert [list(json.loads(each)) for each in ended.stdout.splitlines()][1:] == [["error"]]


@pytest.mark.parametrize("name", ["chat-whole", "gemini-array", "anthropic-whole"])
def test_what_is_one_document_has_no_such_event(name: str) -> None:
    ended = loopcheck(written(name), "--trip-event")
    assert ended.returncode == 3
    assert written(name).startswith(ended.stdout)
    warning = f"warning: --trip-event has no effect on {FORMATS[name].name} over json"
    assert warning in ended.stderr.decode()
