"""Recorded streams of every format, compared with what a small jq program reads in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from reading import CHANNELS, hear

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA", ROOT.parent / "shared" / "data")) / "streams"
JQ = shutil.which("jq")

pytestmark = pytest.mark.skipif(
    not (JQ and DATA.is_dir()), reason=f"no jq, or no recordings in {DATA}"
)

# Documents one a line, with or without `data:`; or all of the input.
LINES = r'[inputs | rtrimstr("\r") | sub("^data: ?"; "") | fromjson? | objects]'
SPOKEN = 'def spoken: [.. | scalars | tostring + "\\n"] | join("");'
JOINED = 'def joined: map(strings) | join("");'
BY = 'def by(f; g): group_by(f) | map(map(g | strings) | join("") | fromjson | spoken) | join("");'
PRELUDE = SPOKEN + JOINED + BY

CHAT = """
[.[].choices[]?] | {
  content: (group_by(.index) | map(map(.delta.content // .text) | joined) | join("")),
  reasoning: (map(.delta | .reasoning_content // .reasoning) | joined),
  "tool-args": (map(.delta.tool_calls[]?) | by(.index; .function.arguments)),
  reasons: (map(.finish_reason | strings) | unique)
}"""
PROGRAMS = {
    "openai-chat-sse": CHAT,
    "openai-chat-chunks-ndjson": CHAT,
    "anthropic-messages-sse": """
      .[(map(.type == "message_start") | rindex(true)):] | {
        content: (map(.delta.text) | joined),
        reasoning: (map(.delta.thinking) | joined),
        "tool-args": (map(select(.delta.partial_json)) | by(.index; .delta.partial_json)),
        reasons: (map(.delta.stop_reason | strings) | unique)
      }""",
    "openai-responses-sse": """
      def of(t): map(select(.type == "response." + t + ".delta"));
      {
        content: (of("output_text") | map(.delta) | joined),
        reasoning: (of("reasoning_summary_text") | map(.delta) | joined),
        "tool-args": ((of("function_call_arguments") | by(.output_index; .delta))
          + (of("code_interpreter_call_code") | map(.delta) | joined)),
        reasons: [.[] | select(.type | IN("response.completed", "response.failed"))
          | .response.status]
      }""",
    "gemini-sse": """
      [.[].candidates[]?] | {
        content: (map(.content.parts[]? | select(.thought | not) | .text) | joined),
        reasoning: (map(.content.parts[]? | select(.thought) | .text) | joined),
        "tool-args": ((map(.content.parts[]?.functionCall.args // empty | spoken) | joined)
          + (map(.content.parts[]?.functionCall.partialArgs[]?
              | .stringValue + (if .willContinue then "" else "\\n" end)) | joined)),
        reasons: (map(.finishReason | strings) | .[-1:])
      }""",
    "ollama-ndjson": """{
        content: (map(.message.content) | joined),
        reasoning: (map(.message.thinking) | joined),
        "tool-args": "",
        reasons: (map(.done_reason | strings) | unique)
      }""",
    "cohere-sse": """{
        content: (map(.delta.message.content.text?) | joined),
        reasoning: (map(.delta.message.tool_plan?) | map(strings) | join("")),
        "tool-args": (map(select(.type == "tool-call-delta"))
          | by(.index; .delta.message.tool_calls.function.arguments)),
        reasons: (map(.delta.finish_reason? | strings) | unique)
      }""",
}
PROGRAMS["gemini-json-array"] = PROGRAMS["gemini-sse"]

FORMATS = {
    "openai-chat-sse": "chat",
    "openai-chat-chunks-ndjson": "chat",
    "anthropic-messages-sse": "anthropic",
    "openai-responses-sse": "responses",
    "gemini-sse": "gemini",
    "gemini-json-array": "gemini",
    "ollama-ndjson": "ollama",
    "cohere-sse": "cohere",
}
# Folders that hold no streams, and one stream that is of nobody's format.
NO_STREAMS = {"bedrock-eventstream", "har", "vcr-yaml", "nock-json", "http-with-head"}
STRANGE = "streaming-failure-invalid-json.sse"
ENDS = {
    "openai-completion-text.chunks.txt": "capped",
    "streaming-failure-recitation-no-content.sse": "refused",
    "streaming-success-quotes-escaped.sse": "cut",
    "streaming-failure-error-mid-stream.sse": "failed",
    "groq-midstream-event-error.sse": "failed",
    "openai-error.chunks.txt": "failed",
    "rate-limited.sse": "failed",
}
# So many files were covered when this was written; fewer means that something is lost.
FILES_COVERED = 69

FILES = sorted(path for path in DATA.glob("*/*") if path.is_file()) if DATA.is_dir() else []


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def jq(path: Path, program: str) -> Any:
    whole = path.suffix == ".json"
    source = "[inputs[]]" if whole else LINES
    command = [str(JQ), "-n", *([] if whole else ["-R"]), f"{PRELUDE} {source} | {program}"]
    return json.loads(subprocess.run([*command, str(path)], capture_output=True, check=True).stdout)


def run(data: bytes, tmp_path: Path) -> tuple[int, bytes, bytes, dict[str, Any]]:
    report = tmp_path / "report.jsonl"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")}
    command = [sys.executable, "-m", "loopcli", "--watch", "all", "--report", str(report)]
    done = subprocess.run(command, input=data, capture_output=True, env=environment, check=False)
    return (
        done.returncode,
        done.stdout,
        done.stderr,
        json.loads(report.read_text().splitlines()[-1]),
    )


STREAMS = [p for p in FILES if p.parent.name in PROGRAMS and p.name != STRANGE]


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_a_stream_says_what_jq_reads_in_it(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    want = jq(path, PROGRAMS[path.parent.name])
    heard = hear(data)
    assert hear(data, [997] * len(data)) == heard
    for channel in CHANNELS:
        assert "".join(heard.said(channel)) == want[channel], channel
    status, out, err, end = run(data, tmp_path)
    ended = ENDS.get(path.name, "done")
    assert (out, end["end"]) == (data, ended)
    assert (status, bool(err)) == (6 if ended == "failed" else 0, ended in ("failed", "cut"))
    known = "completions" if "completion-text" in path.name else FORMATS[path.parent.name]
    assert end["format"] == known
    assert end["finish_reason"] == (want["reasons"][0] if want["reasons"] else None)
    assert end["chars"] == sum(len(want[channel]) for channel in CHANNELS)


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.parent.name == "http-error-body"], ids=name_of
)
def test_an_error_body_is_the_providers_message(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    status, out, err, end = run(data, tmp_path)
    assert (status, out, end["format"], end["end"]) == (6, data, "error", "failed")
    assert json.loads(data)["error"]["message"] in err.decode()
    head = b"HTTP/2 400 \r\ncontent-type: application/json\r\n\r\n"
    assert run(head + data, tmp_path)[:2] == (6, head + data)


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.parent.name in NO_STREAMS or p.name == STRANGE],
    ids=name_of,
)
def test_what_is_no_stream_is_named(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    status, out, err, end = run(data, tmp_path)
    assert (status, out, end["end"]) == (5, data, "malformed")
    assert b"not a stream" in err or b"unknown format" in err


def test_how_many_were_covered(capsys: pytest.CaptureFixture[str]) -> None:
    """After all others, in the same process: every file belongs to one of them."""
    known = {*PROGRAMS, *NO_STREAMS, "http-error-body"}
    covered = [path for path in FILES if path.parent.name in known]
    with capsys.disabled():
        print(
            f"\n{len(covered)} of {len(FILES)} recorded files covered, {len(STREAMS)} by jq: {DATA}"
        )
    assert len(covered) == len(FILES)
    assert len(covered) >= FILES_COVERED
