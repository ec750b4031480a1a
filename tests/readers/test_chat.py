"""OpenAI-style chunks: what counts as the model's words, and what else a stream tells."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import hear, without_reads

from loopcli.events import (
    Channel,
    Done,
    Event,
    Finish,
    Lane,
    Meta,
    Problem,
    Text,
    ToolCall,
    ToolStart,
    UpstreamError,
    Usage,
)
from loopcli.readers.detection.auto import guess, reader

CONTENT, REASONING, TOOL_ARGS = Channel.CONTENT, Channel.REASONING, Channel.TOOL_ARGS


def wire(*documents: Any, end: str = "\n") -> bytes:
    """Documents as events; text stands on the wire as it is."""
    out = ""
    for document in documents:
        if isinstance(document, str):
            out += document.replace("\n", end)
        else:
            out += f"data: {json.dumps(document)}{end}{end}"
    return out.encode("utf-8", "surrogatepass")


def read(data: bytes, sizes: Iterable[int] = (), name: str = "sse") -> list[Event]:
    """Read in pieces of the given sizes; what is left over is the last piece."""
    reading, events, at = reader(name), [], 0
    for size in sizes:
        events += reading.feed(data[at : at + size])
        at += size
    return list(without_reads(events + reading.feed(data[at:]) + reading.close()))


def flat(events: Iterable[Event]) -> list[tuple[Any, ...]]:
    """Events in a form that does not depend on reads: texts character by character, with marks."""
    found: list[tuple[Any, ...]] = []
    for event in events:
        if isinstance(event, Text):
            ends = [event.marks.byte_after(i) for i in range(1, len(event.text) + 1)]
            found += [(event.lane, c, end) for c, end in zip(event.text, ends, strict=True)]
        else:
            found.append((type(event).__name__, *event))
    return found


def chunk(index: int = 0, finish: str | None = None, /, **delta: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "gen-1", "object": "chat.completion.chunk", "choices": [choice]}


def said(*documents: Any) -> dict[Lane, str]:
    """What each lane says, read whole and byte by byte."""
    data = wire(*documents)
    events = read(data)
    assert flat(read(data, [1] * len(data))) == flat(events)
    lanes: dict[Lane, str] = {}
    for event in events:
        if isinstance(event, Text):
            lanes[event.lane] = lanes.get(event.lane, "") + event.text
    return lanes


def told(kind: type[Event], *documents: Any) -> list[Any]:
    """The events of one kind, read whole and byte by byte."""
    data = wire(*documents)
    events = read(data)
    assert flat(read(data, [1] * len(data))) == flat(events)
    return [event for event in events if type(event) is kind]


# --- What the model wrote ------------------------------------------------------------------------


def test_content_of_every_choice_is_a_lane_of_its_own() -> None:
    documents = [chunk(i, content=f"{i}{n} ") for n in range(3) for i in (0, 1)]
    assert said(*documents) == {
        Lane(CONTENT, 0): "00 01 02 ",
        Lane(CONTENT, 1): "10 11 12 ",
    }


@pytest.mark.parametrize(
    "nothing",
    [
        {"choices": []},
        {"choices": None},
        {"object": "chat.completion.chunk"},
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"choices": [{"index": 0}]},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": None}}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"index": 0, "delta": {}, "obfuscation": "aaaaaaaaaaaaaaa"}]},
        {"choices": [{"index": 0, "delta": {"content": 5}}]},
        {"choices": "none"},
        {"choices": [{"index": 0, "message": {"content": "the whole again"}, "delta": {}}]},
        {"choices": [{"index": 0, "logprobs": {"content": [{"token": "x"}]}, "delta": {}}]},
        [],
        'data: "text"\n\n',
        7,
        True,
    ],
)
def test_chunks_that_say_nothing(nothing: Any) -> None:
    assert said(nothing) == {}
    assert said(chunk(content="a"), nothing, chunk(content="b")) == {Lane(): "ab"}


@pytest.mark.parametrize("odd", [None, 5, "x", [], {"index": [1]}, {"index": {}, "delta": {}}])
def test_choices_of_the_wrong_shape_say_nothing(odd: Any) -> None:
    """Before the generation has an id, and after: two paths read them."""
    for documents in ([], [chunk(content="a")]):
        said(*documents, {"choices": [odd]})
        assert told(Problem, *documents, {"choices": [odd]}) == []
    odd_index = {"choices": [{"index": odd, "delta": {"content": "b"}}]}
    assert "".join(said(chunk(content="a"), odd_index).values()) == "ab"


def test_separators_in_content_are_content() -> None:
    text = "first\u2028second\r\nthird\x85fourth\x0b\x1c"
    assert said(chunk(content=text)) == {Lane(): text}


def test_a_surrogate_pair_in_two_deltas_is_one_character() -> None:
    lanes = said(chunk(content="\ud83d"), chunk(content="\ude00 "), chunk(content="\ude00"))
    assert lanes == {Lane(): "\U0001f600 \ude00"}


def test_content_as_a_list_of_parts() -> None:
    """Mistral's reasoning models."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm "}]}
    assert said(
        chunk(content=[thought]),
        chunk(content=[{"type": "text", "text": "yes "}]),
        chunk(content="plain "),
        chunk(content=["bare "]),
        chunk(content=[{"type": "image_url", "image_url": {"url": "data:aaaa"}}, None, 3]),
    ) == {Lane(REASONING): "hm ", Lane(): "yes plain bare "}


def test_legacy_completions() -> None:
    document = {"object": "text_completion", "choices": [{"index": 0, "text": "once "}]}
    assert said(document, document) == {Lane(): "once once "}


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_a_channel_of_its_own(key: str) -> None:
    documents = [chunk(content=None, **{key: "hm "}), chunk(content="yes", **{key: None})]
    assert said(*documents) == {Lane(REASONING): "hm ", Lane(): "yes"}


def test_reasoning_sent_twice_counts_once() -> None:
    """OpenRouter sends `reasoning` and `reasoning_details` with the same text in each chunk."""
    details = [{"type": "reasoning.text", "text": "hm "}]
    documents = [chunk(reasoning="hm ", reasoning_details=details, content="")] * 3
    assert said(*documents) == {Lane(REASONING): "hm hm hm "}
    both = chunk(reasoning="hm ", reasoning_content="hm ")
    assert said(both) == {Lane(REASONING): "hm "}


def test_reasoning_details_alone_are_heard_but_not_what_is_encrypted() -> None:
    details = [
        {"type": "reasoning.text", "text": "a "},
        {"type": "reasoning.summary", "summary": "b "},
        {"type": "reasoning.encrypted", "data": "AAAA", "text": "AAAA"},
        None,
    ]
    assert said(chunk(reasoning_details=details)) == {Lane(REASONING): "a b "}


def test_think_tags_stay_in_content() -> None:
    assert said(chunk(content="<think>a</think>b")) == {Lane(): "<think>a</think>b"}


def test_refusals_and_audio_transcripts_are_the_models_words() -> None:
    documents = [chunk(refusal="I cannot "), chunk(audio={"id": "a", "transcript": "spoken "})]
    assert said(*documents) == {Lane(): "I cannot spoken "}
    assert said(chunk(audio={"data": "UklGR"})) == {}


def test_deltas_of_one_lane_in_one_read_are_one_event() -> None:
    data = wire(chunk(content="a"), chunk(content="bc"), chunk(reasoning="r"), chunk(content="d"))
    texts = [event for event in read(data) if isinstance(event, Text)]
    assert [event.text for event in texts] == ["abc", "r", "d"]
    first = len(wire(chunk(content="a")))
    second = first + len(wire(chunk(content="bc")))
    assert [texts[0].marks.byte_after(n) for n in (1, 2, 3)] == [first, second, second]
    assert texts[2].marks.byte_after(1) == len(data)


# --- Tool calls ----------------------------------------------------------------------------------


def part(index: int | None = None, id: str | None = None, **function: str) -> dict[str, Any]:  # noqa: A002
    fragment = {"index": index, "id": id, "function": function}
    return {key: value for key, value in fragment.items() if value not in (None, {})}


def test_two_calls_with_interleaved_fragments() -> None:
    documents = [
        chunk(tool_calls=[part(0, "call_a", name="get", arguments="")]),
        chunk(tool_calls=[part(1, "call_b", name="put", arguments="")]),
        chunk(tool_calls=[part(0, arguments='{"x"')]),
        chunk(tool_calls=[part(1, arguments='{"y"')]),
        chunk(tool_calls=[part(0, arguments=":1}"), part(1, arguments=":2}")]),
        chunk(0, "tool_calls"),
    ]
    assert told(ToolStart, *documents) == [
        ToolStart(0, 0, "get", "call_a"),
        ToolStart(0, 1, "put", "call_b"),
    ]
    assert told(ToolCall, *documents) == [
        ToolCall(0, 0, "get", "call_a", '{"x":1}'),
        ToolCall(0, 1, "put", "call_b", '{"y":2}'),
    ]
    assert said(*documents) == {
        Lane(TOOL_ARGS, 0, 0, "get"): "1\n",
        Lane(TOOL_ARGS, 0, 1, "put"): "2\n",
    }


def test_calls_come_out_in_the_order_of_their_index() -> None:
    documents = [chunk(tool_calls=[part(i, f"c{i}", name=f"n{i}")]) for i in (2, 0, 1)]
    assert [call.name for call in told(ToolCall, *documents)] == ["n0", "n1", "n2"]


@pytest.mark.parametrize("arguments", ["", "  \n"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    calls = told(ToolCall, chunk(tool_calls=[part(0, "c", name="now", arguments=arguments)]))
    assert [call.arguments for call in calls] == ["{}"]


def test_calls_without_an_index() -> None:
    """A new id begins a new call; a fragment without one goes on with the last."""
    documents = [
        chunk(tool_calls=[part(None, "a", name="get", arguments='{"x"')]),
        chunk(tool_calls=[part(None, arguments=":1}")]),
        chunk(tool_calls=[part(None, "b", name="put", arguments="{")]),
        chunk(tool_calls=[part(None, arguments="}")]),
    ]
    calls = told(ToolCall, *documents)
    assert [(c.name, c.id, c.arguments) for c in calls] == [
        ("get", "a", '{"x":1}'),
        ("put", "b", "{}"),
    ]


def test_whole_calls_without_an_index_in_one_chunk() -> None:
    fragments = [part(None, "a", name="get"), part(None, "b", name="put", arguments="{}")]
    assert [c.name for c in told(ToolCall, chunk(tool_calls=fragments))] == ["get", "put"]


def test_id_and_name_repeated_on_every_fragment() -> None:
    fragments = [part(0, "a", name="get", arguments=text) for text in ('{"x":', "1}")]
    documents = [chunk(tool_calls=[fragment]) for fragment in fragments]
    assert told(ToolStart, *documents) == [ToolStart(0, 0, "get", "a")]
    assert told(ToolCall, *documents) == [ToolCall(0, 0, "get", "a", '{"x":1}')]


def test_the_old_function_call() -> None:
    documents = [
        chunk(function_call={"name": "get", "arguments": ""}),
        chunk(function_call={"arguments": "{}"}),
    ]
    assert told(ToolCall, *documents) == [ToolCall(0, 0, "get", "", "{}")]


def test_calls_of_two_choices_do_not_mix() -> None:
    documents = [chunk(i, tool_calls=[part(0, f"c{i}", name="get")]) for i in (1, 0)]
    assert [(c.choice, c.id) for c in told(ToolCall, *documents)] == [(0, "c0"), (1, "c1")]


def test_null_in_the_place_of_calls() -> None:
    odd = [None, 5, {"function": None}, {"index": 0, "function": {"name": None}}]
    assert said(chunk(tool_calls=None), chunk(tool_calls=odd), chunk(function_call=None)) == {}


def test_arguments_without_end_are_not_kept() -> None:
    piece = "x" * 2**16
    documents = [chunk(tool_calls=[part(0, "c", name="loop", arguments=piece)])] * 17
    (call,) = [event for event in read(wire(*documents)) if isinstance(event, ToolCall)]
    assert not call.complete
    assert len(call.arguments) <= 2**20
    (whole,) = [event for event in read(wire(*documents[:16])) if isinstance(event, ToolCall)]
    assert whole.complete
    assert len(whole.arguments) == 2**20


# --- What else a stream tells --------------------------------------------------------------------


def test_the_first_finish_reason_counts() -> None:
    documents = [chunk(0, reason, content="a") for reason in (None, "", "length", "stop")]
    assert told(Finish, *documents) == [Finish(0, "length")]


def test_every_choice_has_its_own_finish_reason() -> None:
    assert told(Finish, chunk(1, "stop"), chunk(0, "length")) == [
        Finish(1, "stop"),
        Finish(0, "length"),
    ]


def test_a_finish_reason_stands_after_the_text_of_its_chunk() -> None:
    events = read(wire(chunk(content="a "), chunk(0, "stop", content="b")))
    assert [type(e) for e in events] == [Meta, Text, Finish]
    events = read(wire(chunk(content="a"), chunk(0, "stop", content="b"), chunk(content="c")))
    assert [e.text for e in events if isinstance(e, Text)] == ["ab", "c"]


def test_the_usage_trailer() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 300,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 120},
        "cost": 0.0123,
    }
    documents = [chunk(content="a"), {"id": "gen-1", "choices": [], "usage": usage}]
    assert told(Usage, *documents) == [Usage(usage)]


def test_the_last_usage_block_wins_and_null_is_none() -> None:
    first, last = {"completion_tokens": 1}, {"completion_tokens": 2}
    documents = [
        {**chunk(content="a"), "usage": None},
        {**chunk(content="b"), "usage": first},
        {**chunk(content="c"), "usage": last},
        {**chunk(content="d"), "usage": {}},
    ]
    assert told(Usage, *documents)[-1] == Usage(last)
    assert said(*documents) == {Lane(): "abcd"}


def test_groqs_own_place_for_usage() -> None:
    document = {**chunk(0, "stop"), "x_groq": {"id": "req", "usage": {"total_tokens": 5}}}
    assert told(Usage, document) == [Usage({"total_tokens": 5})]
    assert told(Usage, {**chunk(content="a"), "x_groq": {"id": "req"}}) == []


def test_groqs_usage_beside_plain_content() -> None:
    document = {**chunk(content="b"), "x_groq": {"usage": {"total_tokens": 5}}}
    assert told(Usage, chunk(content="a"), document) == [Usage({"total_tokens": 5})]


def test_the_first_id_model_and_provider() -> None:
    documents = [
        chunk(content="a") | {"id": None},
        chunk(content="b") | {"id": "gen-2", "model": "m"},
        chunk(content="c") | {"id": "gen-3", "model": "other"},
        chunk(role="assistant", content="d") | {"provider": "P"},
    ]
    assert told(Meta, *documents)[-1] == Meta("gen-2", "m", "P")


def test_a_provider_that_is_named_late_beside_plain_content() -> None:
    documents = [chunk(content="a"), chunk(content="b"), chunk(content="c") | {"provider": "P"}]
    assert told(Meta, *documents)[-1] == Meta("gen-1", "", "P")


@pytest.mark.parametrize(
    ("documents", "message", "code"),
    [
        ([{"error": {"message": "m", "code": 502}}], "m", "502"),
        ([{"error": {"message": "m", "type": "server_error"}}], "m", "server_error"),
        ([{"error": {"message": "m", "code": 502}, "choices": []}], "m", "502"),
        ([{**chunk(0, "error", content=""), "error": {"message": "m", "code": 1}}], "m", "1"),
        (['event: error\ndata: {"error":{"message":"m","code":"c"}}\n\n'], "m", "c"),
        (['event: error\ndata: {"message":"m","code":7}\n\n'], "m", "7"),
        (['event: error\ndata: "m"\n\n'], "m", ""),
        ([{"object": "error", "message": "m", "code": 400}], "m", "400"),
        ([{"type": "error", "error": {"type": "overloaded", "message": "m"}}], "m", "overloaded"),
        ([{"error": "m"}], "m", ""),
        ([{"error": {"error": {"message": "m", "code": 3}}}], "m", "3"),
        (['error: {"detail":"d","error":{"message":"m"}}\n\n'], "m", ""),
        ([{"error": {"code": 5}}], "no message", "5"),
    ],
)
def test_errors_in_every_shape(documents: list[Any], message: str, code: str) -> None:
    for before in ([], [chunk(content="text "), chunk(content="more")]):
        (error,) = told(UpstreamError, *before, *documents)
        assert (error.message, error.code) == (message, code)
        data = wire(*before, *documents)
        assert error.byte in (len(data), len(data) - 1)  # an `error:` line ends before its blank
        assert told(Problem, *before, *documents) == []


def test_text_beside_an_error_is_heard() -> None:
    document = {**chunk(content="last words"), "error": {"message": "m"}}
    assert said(document) == {Lane(): "last words"}
    assert said(chunk(content="x "), document) == {Lane(): "x last words"}


@pytest.mark.parametrize("nothing", [None, {}, "", False])
def test_an_empty_error_is_none(nothing: Any) -> None:
    assert told(UpstreamError, {**chunk(content="a"), "error": nothing}) == []


def test_the_end_mark_and_what_follows_it() -> None:
    documents = [chunk(content="a"), "data: [DONE]\n\n", chunk(content="b")]
    assert told(Done, *documents) == [Done()]
    assert said(*documents) == {Lane(): "ab"}


def test_a_bad_payload_is_reported_between_the_others() -> None:
    data = wire(chunk(content="a"), "data: {not json\n\n", chunk(content="b"), "data: [DONE]\n\n")
    for sizes in ([], [1] * len(data)):
        *_, before, problem, after, done = read(data, sizes)
        assert isinstance(before, Text)
        assert isinstance(problem, Problem)
        assert isinstance(after, Text)
        assert (before.text, problem.line, after.text, done) == ("a", 3, "b", Done())
        assert "{not json" in problem.message


def test_a_problem_does_not_show_all_of_a_long_payload() -> None:
    (problem,) = read(b"data: " + b"z" * 100_000 + b"\n\n")
    assert isinstance(problem, Problem)
    assert len(problem.message) < 200


# --- The transport vectors of the specification --------------------------------------------------


def test_a_comments_and_fields_give_nothing_and_are_no_progress() -> None:
    reading = reader("sse")
    assert reading.feed(b": OPENROUTER PROCESSING\n\n\nevent: x\nid: 1\nretry: 3\n\n") == []
    assert reading.progress == 0


def test_b_no_blank_after_data() -> None:
    data = b"data:" + json.dumps(chunk(content="a")).encode() + b"\n\n"
    assert [e.text for e in read(data) if isinstance(e, Text)] == ["a"]


TRANSCRIPT = [
    ": OPENROUTER PROCESSING\n\n",
    chunk(role="assistant", content=""),
    *[chunk(content=piece) for piece in ("Two ", "cities — ", "日本", " 🧱.")],
    chunk(1, content="another"),
    chunk(tool_calls=[part(0, "a", name="get", arguments="{")]),
    chunk(tool_calls=[part(0, arguments="}")]),
    chunk(0, "tool_calls"),
    {"id": "gen-1", "choices": [], "usage": {"total_tokens": 9}},
    "data: [DONE]\n\n",
]


def test_c_crlf_equals_lf() -> None:
    lf, crlf, cr = (flat(read(wire(*TRANSCRIPT, end=end))) for end in ("\n", "\r\n", "\r"))

    def without_bytes(events: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return [e[:2] if isinstance(e[0], Lane) else e for e in events]

    assert without_bytes(crlf) == without_bytes(lf) == without_bytes(cr)
    assert cr == lf  # one byte a line end in both


def test_d_byte_by_byte_equals_whole() -> None:
    data = wire(*TRANSCRIPT)
    assert flat(read(data, [1] * len(data))) == flat(read(data))


# (e) is test_two_calls_with_interleaved_fragments and test_calls_come_out_in_…; (f) is
# test_the_usage_trailer; (g) is test_the_first_finish_reason_counts; (h) is
# test_a_bad_payload_is_reported_between_the_others.


def test_i_megabytes_without_a_line_break() -> None:
    reading = reader("sse")
    events = [event for _ in range(16) for event in reading.feed(b"x" * 2**20)]
    (problem,) = events
    assert isinstance(problem, Problem)
    assert "no line break" in problem.message


@pytest.mark.parametrize(
    ("delta", "progress"),
    [
        ({"content": "a"}, True),
        ({"reasoning": "a"}, True),
        ({"reasoning_content": "a"}, True),
        ({"tool_calls": [part(0, "c")]}, True),
        ({"tool_calls": [part(0, None, name="n")]}, True),
        ({"tool_calls": [part(0, None, arguments="{")]}, True),
        ({"content": ""}, False),
        ({"role": "assistant"}, False),
        ({}, False),
        ({"tool_calls": [{"index": 0}]}, False),
    ],
)
def test_what_resets_the_idle_clock(delta: dict[str, Any], progress: bool) -> None:
    for before in (b"", wire(chunk(content="x"))):
        reading = reader("sse")
        reading.feed(before)
        count = reading.progress
        reading.feed(wire(chunk(**delta)))
        assert (reading.progress > count) is progress


@pytest.mark.parametrize(
    "noise", [b": ping\n\n", b"\n", b"data: [DONE]\n\n", wire({"choices": [], "usage": {"a": 1}})]
)
def test_what_does_not(noise: bytes) -> None:
    reading = reader("sse")
    reading.feed(wire(chunk(content="x")))
    count = reading.progress
    reading.feed(noise)
    assert reading.progress == count


# --- What it is, from its first bytes ------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "want"),
    [
        (b"data: {", "sse"),
        (b"data:", None),
        (b"\xef\xbb\xbfdata: {", "sse"),
        (b": ping\n\ndata: {", "sse"),
        (b": ping\r\n\r\nevent: x\r\ndata: {", "sse"),
        (b": ping\r\revent: x\rdata:{", "sse"),
        (b"\n\n\ndata: {", "sse"),
        (b"event: message\nid: 1\nretry: 3\ndata: {", "sse"),
        (b"", None),
        (b"dat", None),
        (b"\xef\xbb", None),
        (b": ping\n\n" * 37, None),
        (b"event: message\n", None),
        (b"Once upon a time", "text"),
        (b"database", "text"),
        (b": not a comment, a smiley\nOnce upon", "text"),
        (b"   data: {", "text"),
        (b"{", "json"),
    ],
)
def test_the_first_bytes_tell(head: bytes, want: str | None) -> None:
    assert guess(head) == want
    if want is None:
        # Who says nothing but that there is more to come has been cut off.
        assert guess(head, final=True) == ("sse" if b": ping\n\n" in head else "text")


@pytest.mark.parametrize(("comments", "least"), [(37, 1), (1000, 64)])
def test_a_stream_that_opens_with_comments_is_known_at_every_chunking(
    comments: int, least: int
) -> None:
    """Also beyond what may be held back to look at: where reads fall must not decide."""
    data = b": OPENROUTER PROCESSING\n\n" * comments + wire(chunk(content="a"))
    want = flat(read(data, name="auto"))
    for size in (least, 4096, 16384, 20000):
        assert flat(read(data, [size] * (len(data) // size), name="auto")) == want


# --- Any stream, any cuts ------------------------------------------------------------------------

DELTAS = st.one_of(
    st.fixed_dictionaries({"content": st.text(max_size=8)}),
    st.fixed_dictionaries({"content": st.text(max_size=8), "role": st.just("assistant")}),
    st.fixed_dictionaries({"reasoning": st.text(max_size=4), "content": st.none()}),
    st.builds(
        lambda index, id_, text: {"tool_calls": [part(index, id_, name="f", arguments=text)]},
        st.one_of(st.none(), st.integers(0, 2)),
        st.one_of(st.none(), st.sampled_from("ab")),
        st.text(max_size=4),
    ),
)


@st.composite
def chats(draw: st.DrawFn) -> bytes:
    """Streams as servers send them: choices in turns, noise between, line ends of their own."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    parts: list[Any] = []
    for kind in draw(st.lists(st.sampled_from("cccccnufbe"), max_size=14)):
        if kind == "c":
            document = chunk(draw(st.integers(0, 2)), **draw(DELTAS))
            extra = draw(st.sampled_from([{}, {}, {}, {"provider": "P"}, {"usage": {"a": 1}}]))
            parts.append({**document, **extra})
        elif kind == "n":
            noise = [": ping\n\n", "id: 4\n", "data: : PING\n\n", "event: e\n\n"]
            parts.append(draw(st.sampled_from(noise)))
        elif kind == "b":
            parts.append("\n" * draw(st.integers(1, 3)))
        elif kind == "u":
            parts.append({"choices": [], "usage": {"total_tokens": draw(st.integers(1, 9))}})
        elif kind == "f":
            parts.append(chunk(draw(st.integers(0, 2)), draw(st.sampled_from(["stop", "", None]))))
        else:
            parts.append({"error": {"message": "m"}})
    last = draw(st.sampled_from(["", "data: [DONE]\n\n", "data: [DONE]", "data: {not json\n\n"]))
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    data = bom + wire(*parts, last, end=end)
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def contents(data: bytes) -> dict[int, str]:
    """The content of each choice by the shortest of means: whole lines, whole documents."""
    found: dict[int, str] = {}
    for line in data.replace(b"\r", b"\n").split(b"\n"):
        if line.startswith(b'data: {"id"'):
            (choice,) = json.loads(line[6:])["choices"]
            text = choice["delta"].get("content") or ""
            found[choice["index"]] = found.get(choice["index"], "") + text
    return {index: text for index, text in found.items() if text}


@settings(max_examples=200)
@given(data=chats(), sizes=st.lists(st.integers(0, 200), max_size=40), auto=st.booleans())
def test_any_chat_cut_anywhere_gives_the_same_events(
    data: bytes, sizes: list[int], auto: bool
) -> None:
    name = "auto" if auto else "sse"
    whole = flat(read(data, name=name))
    assert flat(read(data, sizes, name=name)) == whole
    assert flat(read(data, [1] * len(data), name=name)) == whole


@settings(max_examples=100)
@given(
    deltas=st.lists(st.tuples(st.integers(0, 2), DELTAS), max_size=20),
    sizes=st.lists(st.integers(0, 200), max_size=40),
)
def test_every_character_of_content_ends_with_its_event(
    deltas: list[tuple[int, dict[str, Any]]], sizes: list[int]
) -> None:
    data, want = b"", []
    for index, delta in deltas:
        data += wire(chunk(index, **delta))
        want += [(Lane(CONTENT, index), c, len(data)) for c in delta.get("content") or ""]
    found = flat(read(data, sizes))
    assert [e for e in found if isinstance(e[0], Lane) and e[0].channel is CONTENT] == want
    lanes = {index: "".join(c for lane, c, _ in want if lane.choice == index) for index in range(3)}
    assert contents(data) == {index: text for index, text in lanes.items() if text}


KEYS = [
    "choices",
    "index",
    "delta",
    "content",
    "text",
    "reasoning",
    "reasoning_details",
    "thinking",
]
KEYS += [
    "tool_calls",
    "function",
    "id",
    "name",
    "arguments",
    "function_call",
    "audio",
    "transcript",
]
KEYS += ["error", "message", "usage", "finish_reason"]
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1, 2), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(documents=st.lists(ANY, max_size=4), known=st.booleans(), sizes=st.lists(st.integers(0, 60)))
@example(documents=[{"choices": [None]}], known=True, sizes=[])
@example(documents=[{"choices": [{"index": [], "delta": {"content": "a"}}]}], known=True, sizes=[])
def test_any_json_in_any_place_never_raises(
    documents: list[Any], known: bool, sizes: list[int]
) -> None:
    before = [chunk(content="a")] if known else []
    wrapped = [{"choices": [document]} for document in documents]
    deltas = [chunk(content="b") | {"choices": [{"index": 0, "delta": d}]} for d in documents]
    data = wire(*before, *documents, *wrapped, *deltas)
    assert repr(flat(read(data, sizes))) == repr(flat(read(data)))


@settings(max_examples=200)
@given(
    data=st.lists(
        st.one_of(
            st.binary(max_size=4),
            st.sampled_from(
                [b"data: ", b"\n\n", b"\r", b'{"error":1}', b"event: error\n", b"[DONE]"]
            ),
            st.just(wire(chunk(content="a"))),
        ),
        max_size=20,
    ).map(b"".join),
    name=st.sampled_from(["auto", "sse", "text"]),
    sizes=st.lists(st.integers(0, 60), max_size=30),
)
@example(
    data=wire(chunk(content="a")) + b"event: error\n" + wire(chunk(content="a")),
    name="sse",
    sizes=[150],
)
def test_any_bytes_never_raise(data: bytes, name: str, sizes: list[int]) -> None:
    assert flat(read(data, sizes, name)) == flat(read(data, [], name))


def test_a_chunk_that_only_the_standard_library_can_read_keeps_its_text() -> None:
    """Infinity is no JSON to orjson; what tries such a chunk as a model of others must not show."""
    odd = {**chunk(content="c"), "created": [float("inf")]}
    documents = [{**d, "model": "m"} for d in (chunk(content="a"), chunk(content="b"), odd)]
    lanes = said(*documents, {**chunk(content="d"), "model": "m"})
    assert lanes == {Lane(): "abcd"}


@pytest.mark.parametrize("member", ["object", "type"])
def test_a_chunk_that_says_it_is_an_error_is_one_at_every_cut(member: str) -> None:
    usual = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
    choice = {"index": 0, "delta": {"content": "Hi. "}, "finish_reason": None}
    documents = [usual, usual, {**usual, member: "error"}, usual]
    data = b"".join(
        b"data: " + json.dumps(doc | {"choices": [choice]}).encode() + b"\n\n" for doc in documents
    )
    whole = hear(data)
    assert len(whole.errors) == 1
    for size in (1, 60, 200, 333):
        assert hear(data, [size] * len(data)) == whole


@pytest.mark.parametrize("depth", [500, 985, 1015, 1023, 1100])
def test_a_chunk_that_is_nested_deep_is_read_alike_at_every_cut(depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    line = (
        'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,'
        '"delta":{"content":"Hi. "},"finish_reason":null}]%s}\n\n'
    )
    lines = [line % "", line % "", line % f',"x":{nested}', line % "", line % ""]
    data = "".join(lines).encode()
    whole = hear(data)
    assert whole.lanes[Lane()] in ("Hi. " * 5, "Hi. " * 4)
    for size in (1, 100, len(lines[0]), 4096):
        assert hear(data, [size] * len(data)) == whole
