"""Which dialect a stream is in: the documents with words decide, not what comes before them."""

from __future__ import annotations

import pytest
from reading import Heard, hear

from fixtures.wires import FORMATS, Reply, compact, events
from loopcli.events import Channel, Note

TEXT = "A sentence that the reader must hear."
WIRES = ("chat", "anthropic", "responses", "gemini-vertex", "llamacpp", "cohere", "vercel")


def wire(name: str, text: str = TEXT) -> bytes:
    return FORMATS[name].write(Reply(text), lambda piece: [piece] if piece else []).encode()


def heard(data: bytes) -> Heard:
    whole = hear(data)
    assert hear(data, [1] * len(data)) == whole
    return whole


def notes(found: Heard) -> list[str]:
    return [note.message for note in found.of(Note)]


BEFORE: list[dict[str, object]] = [
    {"type": "ping"},
    {"event": "ping", "timestamp": 1_735_000_000},
    {},
    {"status": "queued"},
    {"type": "keepalive", "seq": 1},
    # Documents of other dialects, which a gateway may send before the reply.
    {"type": "start"},
    {"type": "data-status", "data": {"step": "routing"}},
    {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
    {"type": "response.queued", "response": {"status": "queued"}},
    {"usageMetadata": {"promptTokenCount": 4}},
]


@pytest.mark.parametrize("before", BEFORE, ids=compact)
@pytest.mark.parametrize("name", WIRES)
def test_what_comes_before_the_words_decides_nothing(name: str, before: dict[str, object]) -> None:
    alone = hear(wire(name))
    found = heard(events([before] * 2).encode() + wire(name))
    assert (found.format, found.lanes) == (alone.format, alone.lanes)
    assert (found.problems, found.errors, notes(found)) == ([], [], [])


@pytest.mark.parametrize("name", WIRES)
def test_what_comes_after_the_words_decides_nothing(name: str) -> None:
    alone = hear(wire(name))
    found = heard(wire(name) + events(BEFORE).encode() + wire("chat"))
    assert found.format == alone.format
    assert found.said("content")[0].startswith(TEXT)


def test_nothing_but_pings_is_no_unknown_format() -> None:
    found = heard(b'event: ping\ndata: {"type": "ping"}\n\n' * 30)
    assert (found.problems, found.lanes) == ([], {})


UNREAD = [
    {"choices": [{"index": 0, "answer": {"text": TEXT}}]},
    {"type": "response.new_tool.delta", "delta": TEXT},
    {"candidates": [{"content": {"segments": [{"text": TEXT}]}}]},
    {"type": "content_block_delta", "delta": {"type": "poem_delta", "text": TEXT}},
]


@pytest.mark.parametrize("document", UNREAD, ids=compact)
def test_words_that_reach_no_channel_are_one_warning(document: dict[str, object]) -> None:
    (note,) = notes(heard(events([document] * 9).encode()))
    assert "nothing could be judged" in note
    assert next(iter(document)) in note


def test_words_of_others_give_no_warning() -> None:
    for document in (
        {"type": "response.created", "response": {"instructions": TEXT, "status": "queued"}},
        {"choices": [], "error": {"message": TEXT}},
    ):
        assert notes(heard(events([document]).encode())) == []


# --- Words that reach a channel of a known dialect -----------------------------------------------


def on_your_data(**message: object) -> dict[str, object]:
    head = {"id": "r", "object": "extensions.chat.completion.chunk", "model": ""}
    return {**head, "choices": [{"index": 0, "messages": [message]}]}


def test_azure_on_your_data() -> None:
    searched = {"role": "tool", "content": "citations " * 40}
    pieces = [on_your_data(delta={"content": piece}, end_turn=False) for piece in ("A ", "b ", "c")]
    stream = [
        on_your_data(delta=searched),
        on_your_data(delta={"role": "assistant"}),
        *pieces,
        on_your_data(delta={"content": ""}, end_turn=True),
    ]
    found = heard(events(stream, done=True).encode())
    assert (found.said("content"), found.format, notes(found)) == (["A b c"], "chat", [])
    whole = {"choices": [{"messages": [searched, {"role": "assistant", "content": TEXT}]}]}
    assert heard(compact(whole).encode()).said("content") == [TEXT]


def test_anthropic_text_completions() -> None:
    def stream(*texts: str) -> bytes:
        documents = [{"type": "completion", "completion": t, "stop_reason": None} for t in texts]
        documents.append({"type": "completion", "completion": "", "stop_reason": "stop_sequence"})
        return events(documents, named=True).encode()

    found = heard(stream(" A", " b", " c"))
    assert (found.said("content"), found.format) == ([" A b c"], "anthropic")
    assert heard(b'data: {"type": "ping"}\n\n' + stream(" A", " b")).said("content") == [" A b"]
    # Without a type, as the first version of the API wrote them.
    old = [{"completion": text, "stop_reason": None, "model": "m"} for text in (" A", " b")]
    assert heard(events(old).encode()).said("content") == [" A b"]


DIFF = "@@\n-one\n+two\n"
COMMANDS = {"type": "exec", "command": ["ls", "-l"], "commands": ["make all"]}


def item(kind: str, **members: object) -> dict[str, object]:
    return {"type": kind, "id": "i", "call_id": "c", "status": "completed", **members}


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (item("apply_patch_call", operation={"type": "update_file", "diff": DIFF}), DIFF),
        (item("shell_call", action=COMMANDS), "make all"),
        (item("local_shell_call", action=COMMANDS), "ls"),
        (item("web_search_call", action={"query": "tides", "sources": ["no"]}), "tides"),
        (item("custom_tool_call", name="grep", input="a*b"), "a*b"),
    ],
)
def test_tools_of_responses_that_come_whole(made: dict[str, object], words: str) -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": made}
    found = heard(events([done, done], named=True).encode())
    ((_, text),) = found.lanes.items()
    assert words in text
    assert "no\n" not in text
    assert {lane.channel for lane in found.lanes} == {Channel.TOOL_ARGS}


@pytest.mark.parametrize(
    "kind",
    [
        *("apply_patch_call_operation_diff", "shell_call_command"),
        *("custom_tool_call_input", "code_interpreter_call_code"),
    ],
)
def test_tools_of_responses_that_stream(kind: str) -> None:
    where = {"item_id": "i", "output_index": 0}
    deltas = [{"type": f"response.{kind}.delta", **where, "delta": d} for d in ("a ", "b\n", "c")]
    made = item("apply_patch_call", operation={"diff": "a b\nc"})
    done = {"type": "response.output_item.done", "output_index": 0, "item": made}
    found = heard(events([*deltas, done], named=True).encode())
    assert list(found.lanes.values()) == ["a b\nc"]
