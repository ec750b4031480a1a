"""The short way of the dialects against the long one: they must agree on every document."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import Heard, hear

from loopcli.readers.dialects.provider import ProviderDialect
from loopcli.readers.dialects.template import Template, load_document
from tests.support.delta_streams import WIRES, Wire

TEXT = 'A "short" text with ünïcode, \\ and\nlines; ' * 40
# Values that a document may hold in any place.
STRANGE = [None, "", "x", "error", "stop", 0, 1, -1, 1.0, True, [], {}, ["y"], {"text": "z"}]
KEYS = ["error", "type", "object", "usage", "role", "finish_reason", "finishReason", "tool_calls"]
KEYS += ["id", "model", "provider", "index", "content", "reasoning", "text", "thought", "message"]
KEYS += ["response", "thinking", "stop", "name", "arguments", "promptFeedback", "done", "input"]

each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def parts(event: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    """An event as lead, document and the rest."""
    begin, end = event.rindex(b"\n{") + 1 if b"\n{" in event else 0, len(event.rstrip())
    begin = event.rindex(b"data:") + 5 if b"data:" in event else begin
    return event[:begin], orjson.loads(event[begin:end]), event[end:]


def places(value: Any) -> Iterable[tuple[Any, Any]]:
    """Every member and item below a value, as its container and its key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


@st.composite
def streams(draw: st.DrawFn, wire: Wire) -> bytes:
    """A stream of the format in which some documents have been changed a little."""
    out = []
    for event in wire.events(TEXT, draw(st.integers(3, 24))):
        if event == wire.opening or draw(st.integers(0, 3)):
            out.append(event)
            continue
        lead, doc, rest = parts(event)
        for _ in range(draw(st.integers(1, 2))):
            container, key = draw(st.sampled_from(list(places(doc)) or [(doc, "x")]))
            change = draw(st.sampled_from(["put", "drop", "add"]))
            if change == "put":
                container[key] = copy.deepcopy(draw(st.sampled_from(STRANGE)))
            elif change == "drop" and isinstance(container, dict):
                container.pop(key, None)
            elif isinstance(container, dict):
                container[draw(st.sampled_from(KEYS))] = copy.deepcopy(
                    draw(st.sampled_from(STRANGE))
                )
        out.append(lead + orjson.dumps(doc) + rest)
    return b"".join(out)


def long_way(data: bytes) -> Heard:
    """What the stream gives if every document is parsed whole and read the long way."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ProviderDialect.__subclasses__():
            patch.setattr(kind, "lone_delta", ProviderDialect.lone_delta)
        patch.setattr(Template, "loads", lambda _, raw: load_document(raw))
        return hear(data)


@each_wire
def test_most_documents_take_the_short_way(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(wire.events(TEXT, 200))
    whole = hear(data, [1000] * (len(data) // 1000))
    taken: list[object] = []
    hear(data[:1000])  # imports the dialect
    for kind in ProviderDialect.__subclasses__():
        read = kind.read
        monkeypatch.setattr(
            kind, "read", lambda *args, read=read: (taken.append(args), read(*args))[1]
        )
    assert hear(data, [1000] * (len(data) // 1000)) == whole
    assert len(taken) <= 20


@each_wire
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_short_way_gives_what_the_long_one_gives(wire: Wire, data: st.DataObject) -> None:
    stream, size = data.draw(streams(wire)), data.draw(st.integers(1, 400))
    expected = long_way(stream)
    assert hear(stream) == expected
    assert hear(stream, [size] * 100) == expected
    assert hear(stream, [len(event) + 1 for event in stream.split(b"\n")]) == expected


@pytest.mark.parametrize("line", [b'data: "more"', b'data:"more"', b'event: x\ndata: "more"'])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_that_is_only_a_string_is_no_text(line: bytes, end: bytes) -> None:
    chunk = b'{"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}'
    chunks = [b"data: " + chunk + end + end] * 4
    stream = b"".join([*chunks, line.replace(b"\n", end) + end + end, *chunks])
    for sizes in ([], [1] * len(stream), list(map(len, chunks))):
        assert hear(stream, sizes).said("content") == ["a" * 8]
