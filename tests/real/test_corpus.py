"""Recorded corpora: how many replies each file holds, counted by eye, and that no more are found.

The data is not part of the project: `LOOPCHECK_DATA` says where it is, or it stands beside the
tree; without it these tests are skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loopcli.events import Channel
from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Transcript, Trouble
from loopcli.status import Status

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA") or ROOT.parent / "shared" / "data")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no recorded data")

CHANNELS = Channel.CONTENT, Channel.REASONING, Channel.TOOL_ARGS
HAR = "streams/har/instrumentation-"
# The file (a pattern where its name is long): how many replies, and how many
# characters of content, reasoning and tool arguments are in them altogether.
RECORDED = {
    f"{HAR}anthropic__*.har": (1, 696, 0, 0),
    f"{HAR}cohere__*.har": (1, 351, 0, 0),
    f"{HAR}openai__*.har": (1, 123, 0, 0),
    f"{HAR}together__*.har": (1, 242, 0, 0),
    "streams/http-with-head/TestClient_GenerateChatStream.httprr": (1, 33, 0, 0),
    "streams/nock-json/headless-json.json": (1, 57, 0, 0),
    "streams/vcr-yaml/alephalpha-loop.yaml": (1, 2994, 0, 0),
    "streams/vcr-yaml/request-side-repetition.yaml": (1, 6, 0, 0),
    "streams/vcr-yaml/ruby-vcr-mistral.yml": (1, 7, 0, 0),
    "streams/vcr-yaml/ruby-vcr-request-side-repetition.yml": (2, 4, 0, 0),
    "streams/vcr-yaml/test_anthropic_test_chat_sync_api_stream.yaml": (32, 96, 0, 0),
    "streams/vcr-yaml/test_bedrock_model_stream.yaml": (1, 375, 0, 0),
    "streams/vcr-yaml/test_prompt.yaml": (1, 5, 275, 0),
    "streams/vcr-yaml/xai-tool-result-image-bytes.yaml": (1, 90, 112, 8),
    "transcripts/openai-messages-json/arena-hard__clean__403.json": (1, 4755, 0, 0),
    "transcripts/openai-messages-json/arena-hard__loop__427.json": (1, 8055, 0, 0),
    "transcripts/openai-messages-json/arena-hard__loop__456.json": (1, 10018, 0, 0),
}
FOLDERS = sorted({str(Path(path).parent) for path in RECORDED})
# Sessions of agents: the replies in each, and their characters as above.
SESSIONS = {
    "transcripts/claude-code-stream-json/*": (4, 648, 0, 302),
    "transcripts/codex-rollout-jsonl/*": (1, 0, 0, 0),
    "transcripts/openhands/*": (2, 126, 347, 664),
    "transcripts/pi-session-jsonl/*": (439, 51482, 138, 149530),
    "transcripts/swe-agent-traj/replay__*functi*": (11, 2383, 0, 718),
    "transcripts/swe-agent-traj/replay__*xml_sy*": (12, 2634, 0, 642),
}


def read(path: Path) -> tuple[list[Transcript], list[Trouble], dict[str, str]]:
    """A file's transcripts, its troubles, and the text of each channel."""
    transcripts, troubles = [], []
    text = dict.fromkeys(map(str, Channel), "")
    for item in corpus.read(File(str(path), named=False), CorpusSettings()):
        if isinstance(item, Trouble):
            troubles.append(item)
            continue
        transcripts.append(item)
        for lane, pieces in item.lanes:
            text[lane.channel] += "".join(pieces)
    return transcripts, troubles, text


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: Path(path).name[:40])
def test_each_recording_gives_the_replies_in_it(path: str) -> None:
    (file,) = DATA.glob(path)
    transcripts, troubles, text = read(file)
    sizes = [len(text[channel]) for channel in CHANNELS]
    print(f"{path}: {len(transcripts)} replies, {sizes} characters, {len(troubles)} troubles")
    assert (len(transcripts), *sizes) == RECORDED[path]
    # One of the cassettes holds one request for a model that does not exist.
    wanted = [(Status.UPSTREAM, "interaction 25, line 1")] if len(transcripts) == 32 else []
    assert [(trouble.status, trouble.position) for trouble in troubles] == wanted


def test_every_recording_is_covered() -> None:
    there = {
        str(path.relative_to(DATA)) for folder in FOLDERS for path in (DATA / folder).iterdir()
    }
    print(f"{len(there)} recordings, {sum(count for count, *_ in RECORDED.values())} replies")
    assert there == {str(next(DATA.glob(path)).relative_to(DATA)) for path in RECORDED}
    assert sum(count for count, *_ in RECORDED.values()) == 49


@pytest.mark.parametrize(
    ("path", "request_", "reply"),
    [
        ("streams/vcr-yaml/request-side-repetition.yaml", "You are a helpful", "Hello!"),
        ("streams/vcr-yaml/ruby-vcr-request-side-repetition.yml", '"input"', "OKOK"),
        ("streams/vcr-yaml/xai-tool-result-image-bytes.yaml", "80,1,64,5", None),
    ],
)
def test_requests_and_tool_results_are_never_judged(
    path: str, request_: str, reply: str | None
) -> None:
    assert (DATA / path).read_text("utf-8").count(request_) >= 2
    _, _, text = read(DATA / path)
    assert request_ not in str(text)
    assert reply in (None, text["content"])


def test_the_loop_in_a_cassette_is_read_to_its_end() -> None:
    """52 whole units, and the one that the cap cut."""
    _, _, text = read(DATA / "streams/vcr-yaml/alephalpha-loop.yaml")
    assert text["content"].count("the best joke is") == 53


@pytest.mark.parametrize("path", SESSIONS)
def test_each_reply_of_an_agent_is_one_transcript(path: str) -> None:
    (file,) = DATA.glob(path)
    transcripts, troubles, text = read(file)
    assert troubles == []
    assert (len(transcripts), *(len(text[channel]) for channel in CHANNELS)) == SESSIONS[path]


def test_a_log_without_a_reply_is_reported() -> None:
    (file,) = (DATA / "transcripts" / "inspect-log-json").iterdir()
    transcripts, (trouble,), _ = read(file)
    assert transcripts == []
    assert (trouble.message, trouble.status) == ("contains no reply of a model", Status.CLEAN)


def test_plain_replies_are_read_whole() -> None:
    """Each file of replies is one transcript of as many characters as its manifest says."""
    rows = [json.loads(line) for line in (DATA / "manifest.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if "chars" in row]
    for row in rows:
        (transcript,), troubles, _ = read(DATA / row["path"])
        _, _, text = read(DATA / row["path"])
        assert (len(text["content"]), troubles) == (row["chars"], []), row["path"]
        assert transcript.label == row["label"]
    print(f"{len(rows)} plain replies")
    assert len(rows) == 39


def test_a_file_of_replies_in_json_lines() -> None:
    transcripts, troubles, text = read(DATA / "replies" / "clean-sample.jsonl")
    lines = (DATA / "replies" / "clean-sample.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert (len(transcripts), troubles) == (600, [])
    assert text["content"] == "".join(row["text"] for row in rows)
    assert {item.label for item in transcripts} == {"clean"}


def test_every_raw_stream_gives_what_the_filter_reads() -> None:
    """One reply a choice and attempt, and no raw stream is taken for a text."""
    folders = [
        path for path in (DATA / "streams").iterdir() if f"streams/{path.name}" not in FOLDERS
    ]
    replies = 0
    for path in sorted(file for folder in folders for file in folder.iterdir()):
        transcripts, troubles, text = read(path)
        assert transcripts or troubles, path
        assert not text["content"].startswith(("{", "data:", "event:")), path
        replies += len(transcripts)
    print(f"{replies} replies in raw streams")
    assert replies == RAW_STREAM_REPLIES


RAW_STREAM_REPLIES = 50
