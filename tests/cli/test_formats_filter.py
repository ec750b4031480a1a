"""The filter on every format: statuses, messages, and where the output ends."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from fixtures.texts import Dice
from fixtures.wires import FORMATS, Reply, compact

LOOP = "void 0;\n" * 2500
SENTENCE = "2 words repeated across 3000 consecutive words"


def loopcheck(data: bytes, *args: str) -> tuple[int, bytes, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")}
    command = [sys.executable, "-m", "loopcli", *args]
    done = subprocess.run(command, input=data, capture_output=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def written(name: str, **said: str) -> bytes:
    return FORMATS[name].write(Reply(**said), partial(Dice(8).cut, widest=40)).encode()


def records(stderr: str, kind: str) -> list[dict[str, Any]]:
    return [r for r in map(json.loads, stderr.splitlines()) if r["type"] == kind]


@pytest.mark.parametrize("name", ["anthropic", "responses", "ollama", "cohere", "gemini-array"])
def test_a_loop_in_the_content_of_other_formats(name: str) -> None:
    data = written(name, content=LOOP)
    status, out, err = loopcheck(data, "--rules", "saturation")
    assert status == 3
    assert f"{SENTENCE}, 3065 words into the reply" in err
    assert data.startswith(out)
    end = {"ndjson": b"}\n", "json": b"}"}.get(FORMATS[name].suffix, b"\n\n")
    assert out.endswith(end)
    assert len(out) < len(data)


def test_the_message_names_channel_tool_and_choice() -> None:
    arguments = compact({"text": LOOP})
    for name in ("chat", "anthropic", "ollama", "gemini", "vercel"):
        status, _, err = loopcheck(
            written(name, arguments=arguments), "--preset", "gg", "--watch", "all"
        )
        assert status == 3
        assert f'tool-args of "write_file": {SENTENCE}' in err
    data = written("anthropic", reasoning=LOOP)
    status, _, err = loopcheck(data, "--preset", "gg", "--watch", "reasoning")
    assert (status, f"reasoning: {SENTENCE}" in err) == (3, True)
    lines = [
        {"choices": [{"index": 1, "delta": {"reasoning": LOOP[at : at + 90]}}]}
        for at in range(0, len(LOOP), 90)
    ]
    data = "".join(compact(line) + "\n" for line in lines).encode()
    status, _, err = loopcheck(data, "--watch", "content,reasoning", "--json")
    (verdict,) = records(err, "verdict")
    assert (verdict["channel"], verdict["choice"], verdict["block"]) == ("reasoning", 1, 0)
    assert "choice 1: reasoning: " in loopcheck(data, "--watch", "all")[2]


def test_the_saturation_rule_watches_no_other_channel_unless_asked() -> None:
    for channel in ("reasoning", "arguments"):
        said = {channel: compact({"a": LOOP}) if channel == "arguments" else LOOP}
        data = written("chat", **said)
        assert loopcheck(data, "--preset", "gg") == (0, data, "")
        status, out, err = loopcheck(data)
        assert (status, data.startswith(out)) == (3, True)
        assert '"void 0;\\n" × 81 since' in err


@pytest.mark.parametrize("watch", ["", "thoughts", "content,thoughts", ","])
def test_a_channel_that_is_none(watch: str) -> None:
    status, out, err = loopcheck(b"", "--watch", watch)
    assert (status, out) == (2, b"")
    assert "--watch" in err
    assert "content, reasoning, tool-args, all" in err


def test_a_servers_verdict_is_a_loop_and_cuts_nothing() -> None:
    choice = {"index": 0, "delta": {"content": "?!"}, "finish_reason": None}
    last = {**choice, "delta": {}, "finish_reason": "repetition"}
    data = b"".join(
        b"data: " + compact({"id": "a", "model": "m", "choices": [c]}).encode() + b"\n\n"
        for c in (choice, last)
    )
    data += b"data: [DONE]\n\n"
    status, out, err = loopcheck(data)
    assert (status, out) == (3, data)
    assert "the server ended the reply as a repetition: finish_reason repetition" in err
    status, out, err = loopcheck(data, "--json")
    (verdict,), (end,) = records(err, "verdict"), records(err, "end")
    assert (verdict["rule"], verdict["kind"], verdict["cut_byte"]) == ("server", "repetition", None)
    assert (end["status"], end["end"], end["finish_reason"]) == (3, "tripped", "repetition")
    line = {"model": "m", "message": {"role": "assistant", "content": "G"}, "done": False}
    abort = {"error": "prediction aborted, token repeat limit reached"}
    data = (compact(line) + "\n" + compact(abort) + "\n").encode()
    status, out, err = loopcheck(data)
    assert (status, out, "token repeat limit" in err) == (3, data, True)


def test_a_bad_http_status_is_status_6() -> None:
    data = b'HTTP/2 429 \r\nretry-after: 2\r\n\r\n{"error":{"message":"slow down"}}\n'
    status, out, err = loopcheck(data)
    assert (status, out, "upstream error 429: slow down" in err) == (6, data, True)


def test_an_error_in_prose_is_told_and_passed_on() -> None:
    data = b"data: Number of choices must be greater than 0.\n\n"
    status, out, err = loopcheck(data)
    assert (status, out) == (6, data)
    assert "upstream error: Number of choices must be greater than 0." in err


def test_a_reason_that_is_a_failure_is_status_6() -> None:
    data = b'data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}\n\n'
    status, out, err = loopcheck(data)
    assert (status, out) == (6, data)
    assert "the reply ended as MALFORMED_FUNCTION_CALL" in err


def test_compressed_input_is_copied_and_named() -> None:
    data = gzip.compress(written("chat", content="Hello"))
    status, out, err = loopcheck(data)
    assert (status, out) == (5, data)
    assert "--compressed" in err


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("chat-curl-i", "vercel-lines")])
def test_emit_text_gives_the_content(name: str) -> None:
    data = written(name, content="Hello there, 🧱.\n")
    assert loopcheck(data, "--emit", "text") == (0, "Hello there, 🧱.\n".encode(), "")


@pytest.mark.parametrize("name", ["anthropic", "ollama"])
def test_a_cut_stream_is_told(name: str) -> None:
    data = written(name, content="Hello there.\n")
    status, out, err = loopcheck(data[: len(data) // 2])
    assert (status, out) == (0, data[: len(data) // 2])
    assert "the stream was cut" in err
    assert loopcheck(data[: len(data) // 2], "--strict")[0] == 5
