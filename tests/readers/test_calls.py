"""Tool calls that share an index, and equal calls: what each is judged as."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from reading import hear

from loopcli.detector import Detector
from loopcli.events import ToolCall
from loopcli.readers.detection.auto import reader
from loopcli.settings.arming import FileSettings, resolve
from loopcli.watch import Watch

Call = tuple[str, Any]
SEARCH: Call = ("search", {"query": "weather in Ulm", "limit": 5})
OTHERS: list[Call] = [("search", {"query": f"weather in {town}"}) for town in "abcdefghij" * 6]


def sse(*documents: object) -> bytes:
    """Documents as a stream of events."""
    return b"".join(b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents)


def chat(*fragments: dict[str, Any]) -> dict[str, Any]:
    """A chunk with fragments of calls."""
    choice = {"index": 0, "delta": {"tool_calls": list(fragments)}, "finish_reason": None}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def _fragments(at: int, call: Call, index: int, ident: str | None) -> Iterator[dict[str, Any]]:
    name, arguments = call
    text = json.dumps(arguments)
    head = {"index": index} | ({"id": ident} if ident else {})
    cut = at % (len(text) + 1)
    yield head | {"type": "function", "function": {"name": name, "arguments": text[:cut]}}
    yield {"index": index, "function": {"arguments": text[cut:]}}


def own_index(calls: list[Call]) -> bytes:
    return sse(
        *(chat(f) for at, c in enumerate(calls) for f in _fragments(at, c, at, f"call_{at}"))
    )


def shared_index(calls: list[Call]) -> bytes:
    return sse(*(chat(f) for at, c in enumerate(calls) for f in _fragments(at, c, 0, f"call_{at}")))


def shared_without_ids(calls: list[Call]) -> bytes:
    """The arguments come whole, so that a call is known by their beginning."""
    whole = [
        {"index": 0, "function": {"name": name, "arguments": json.dumps(args)}}
        for name, args in calls
    ]
    return sse(*map(chat, whole))


def shared_in_one_chunk(calls: list[Call]) -> bytes:
    whole = [
        {
            "index": 0,
            "id": f"call_{at}",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for at, (name, args) in enumerate(calls)
    ]
    return sse(chat(*whole))


def anthropic(calls: list[Call]) -> bytes:
    documents: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    ]
    for at, (name, arguments) in enumerate(calls):
        block = {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": {}}
        documents.append({"type": "content_block_start", "index": at, "content_block": block})
        if arguments:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            documents.append({"type": "content_block_delta", "index": at, "delta": delta})
        documents.append({"type": "content_block_stop", "index": at})
    documents.append({"type": "message_stop"})
    return sse(*documents)


def ollama(calls: list[Call]) -> bytes:
    lines = [
        {
            "model": "m",
            "created_at": "2025-01-01T00:00:00Z",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": name, "arguments": arguments}}],
            },
            "done": False,
        }
        for name, arguments in calls
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def gemini(calls: list[Call]) -> bytes:
    return sse(
        *(
            {
                "candidates": [
                    {"content": {"parts": [{"functionCall": {"name": name, "args": arguments}}]}}
                ],
                "modelVersion": "m",
            }
            for name, arguments in calls
        )
    )


SHARED = [shared_index, shared_without_ids, shared_in_one_chunk]
EVERYWHERE = [own_index, *SHARED, anthropic, ollama, gemini]
Write = Callable[[list[Call]], bytes]
each_way = pytest.mark.parametrize("write", EVERYWHERE, ids=lambda write: write.__name__)


def stopped_at(data: bytes, size: int | None = None) -> int | None:
    """The byte at which a stream is cut under the default rules."""
    watch = Watch(reader("auto"), Detector(resolve(FileSettings()).rules()))
    size = size or len(data)
    for at in range(0, len(data), size):
        for _, verdicts in watch.feed(data[at : at + size]):
            for verdict in verdicts:
                return verdict.cut
    return None


def calls_of(data: bytes) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in hear(data).of(ToolCall)]


@each_way
@pytest.mark.parametrize("calls", [[SEARCH] * 20, OTHERS, [*OTHERS, *[SEARCH] * 20]], ids=len)
def test_equal_calls_up_to_twenty_and_different_ones_pass(write: Write, calls: list[Call]) -> None:
    assert stopped_at(write(calls)) is None


@each_way
def test_a_call_again_and_again_is_a_loop(write: Write) -> None:
    data = write([*OTHERS, *[SEARCH] * 120])
    cut = stopped_at(data)
    assert cut is not None
    for size in (1, 7, 4096):
        assert stopped_at(data, size) == cut


@each_way
@pytest.mark.parametrize("arguments", [{}, {"on": True}], ids=str)
def test_a_call_with_hardly_any_arguments(write: Write, arguments: dict[str, Any]) -> None:
    calls = [("check_the_state_of_the_job", arguments)]
    assert stopped_at(write(calls * 24)) is None
    assert stopped_at(write(calls * 300)) is not None


@pytest.mark.parametrize("write", SHARED, ids=lambda write: write.__name__)
def test_calls_that_share_an_index_are_calls_of_their_own(write: Write) -> None:
    calls = [SEARCH, *OTHERS[:5], SEARCH]
    assert calls_of(write(calls)) == calls_of(own_index(calls))
    assert len(calls_of(write(calls))) == 7


def test_a_server_that_changes_the_id_within_a_call() -> None:
    text = json.dumps(SEARCH[1])
    fragments = [
        {"index": 0, "id": f"chatcmpl-tool-{at}", "function": {"name": "search", "arguments": char}}
        for at, char in enumerate(text)
    ]
    assert calls_of(sse(*map(chat, fragments))) == [("search", text)]


def test_a_last_fragment_that_only_repeats_the_name() -> None:
    text = json.dumps(SEARCH[1])
    parts = [{"name": "search", "arguments": text}, {"name": "search", "arguments": ""}]
    stream = sse(*(chat({"index": 0, "function": part}) for part in parts))
    assert calls_of(stream) == [("search", text)]


def test_a_run_that_ends_is_forgotten() -> None:
    calls = [SEARCH] * 30 + OTHERS + [SEARCH] * 20
    assert stopped_at(own_index(calls)) is None
