"""Stream faults that users of filters and clients reported, each with the outcome they wanted.

The letters and numbers are those of the project's list of public reports.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from reading import Heard, hear

from loopcli.detector import Detector
from loopcli.events import Channel, Done, Finish, Lane, ServerLoop
from loopcli.readers.detection.auto import reader
from loopcli.rules.table import configs
from loopcli.settings.arming import Settings
from loopcli.verdicts import Verdict
from loopcli.watch import End, Watch

SENTENCES = [
    f"Step {n} of the work is to weigh the flour and write {n * 7} down. " for n in range(400)
]


def chunk(finish: str | None = None, index: int = 0, /, **delta: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "gen-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def event(document: object) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def events(*documents: object) -> bytes:
    return b"".join(map(event, documents))


def heard(data: bytes) -> Heard:
    """Read whole, byte by byte and in pieces: always the same."""
    found = hear(data)
    assert hear(data, [1] * len(data)) == found
    assert hear(data, [97] * len(data)) == found
    return found


def judged(data: bytes, channels: Sequence[Channel] = tuple(Channel)) -> tuple[list[Verdict], End]:
    armed = Settings(("saturation",), configs({}), frozenset(channels)).rules()
    watch = Watch(reader("auto"), Detector(armed))
    steps = [*watch.feed(data), *watch.close()]
    return [ruling.verdict for _, fresh in steps for ruling in fresh], watch.state.end()


GEMINI = {"modelVersion": "m"}


def gemini(text: str, *, thought: bool = False) -> dict[str, Any]:
    part = {"text": text, "thought": True} if thought else {"text": text}
    return {"candidates": [{"content": {"parts": [part]}, "index": 0}], **GEMINI}


def test_s1_split_characters_crlf_and_data_without_a_blank() -> None:
    text = "日本 🧱 ünï"
    lines = events(chunk(content=text), chunk("stop"))
    plain = json.dumps(chunk(content=text), ensure_ascii=False).encode()
    tight = b"data:" + plain + b"\r\n\r\n" + event(chunk("stop")).replace(b"\n", b"\r\n")
    assert heard(lines).said("content") == heard(tight).said("content") == [text]


def test_s1_the_end_of_the_input_ends_the_last_line() -> None:
    assert heard(event(chunk(content="all")).rstrip()).said("content") == ["all"]


def test_s2_comments_that_come_as_data() -> None:
    noise = b"data: : OPENROUTER PROCESSING\n\n"
    found = heard(noise * 40 + event(chunk(content="a")) + noise + event(chunk(content="b")))
    assert (found.said("content"), found.problems, found.errors) == (["ab"], [], [])


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_s5_deltas_that_hold_all_the_text_so_far(field: str) -> None:
    texts = ["".join(SENTENCES[: n + 1]) for n in range(120)]
    data = events(*(chunk(**{field: text}) for text in texts), chunk("stop"))
    found = heard(data)
    assert list(found.lanes.values()) == [texts[-1]]
    assert judged(data) == ([], End.DONE)


def test_s5_a_loop_in_such_deltas_is_still_one() -> None:
    texts = ["Well, " + "void 0;\n" * 4 * n for n in range(1, 700)]
    (verdict,), _ = judged(events(*(chunk(content=text) for text in texts)))
    assert (verdict.words, verdict.chars) == (3066, 12_267)


def test_s6_gemini_proxies_repeat_each_kind_of_part() -> None:
    kinds = [(True, SENTENCES[:60]), (False, SENTENCES[60:160])]
    documents = []
    for thought, sentences in kinds:
        whole = ["".join(sentences[: n + 1]) for n in range(len(sentences))]
        documents += [gemini(text, thought=thought) for text in whole]
    found = heard(events(*documents))
    assert found.said("reasoning") == ["".join(SENTENCES[:60])]
    assert found.said("content") == ["".join(SENTENCES[60:160])]
    assert judged(events(*documents))[0] == []


def test_s7_separators_that_only_python_knows() -> None:
    text = "one\u2028two\u2029three\x85four\x0bfive\x0csix\x1cseven"
    data = b"data: " + json.dumps(chunk(content=text), ensure_ascii=False).encode() + b"\n\n"
    assert heard(data).said("content") == [text]
    line = b'{"model":"m","message":{"content":"a\xe2\x80\xa8b"},"done":false}\n'
    assert heard(line).said("content") == ["a\u2028b"]


def test_s9_a_line_end_that_two_reads_share() -> None:
    first = b'data: {"id":"g","choices":[{"index":0,\r\ndata: "delta":{"content":"a"}}]}\r\n\r\n'
    assert heard(first).said("content") == ["a"]


@pytest.mark.parametrize(
    "deltas",
    [
        ["6"] * 10,
        ["6", "66", "666", "6666"],
        ["na", " na", " na", " na", " batman"],
        ["l", "l", "ll", "lll"],
        ["ab" * n for n in range(1, 80)],
        ["ha " * n for n in (1, 2, 3, 4, 5, 6, 7, 90)],
        ["x" * 200] * 5,
        ["The", "There", "Therefore", " it", " is."],
    ],
)
def test_s10_and_s11_nothing_that_repeats_is_dropped(deltas: list[str]) -> None:
    found = heard(events(*(chunk(content=delta) for delta in deltas), chunk("stop")))
    assert found.said("content") == ["".join(deltas)]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "out of credit", "code": 402}},
        {"error": {"message": "out of credit", "code": 402}, "choices": []},
        {"error": {"message": "out of credit"}, "choices": chunk("error")["choices"]},
        {"object": "error", "message": "out of credit", "code": 402},
        {"error": "out of credit"},
        {"error": {"error": {"message": "out of credit"}}},
    ],
)
def test_s12_an_error_is_no_empty_success(error: dict[str, Any]) -> None:
    for data in (event(error), events(chunk(content="Hel"), error), json.dumps(error).encode()):
        found = heard(data)
        assert (found.errors, found.problems) == (["out of credit"], [])
        assert judged(data) == ([], End.FAILED)


def test_s14_an_empty_reason_is_no_end() -> None:
    data = events(chunk("", content="a"), chunk("", content="b"), chunk("stop", content="c"))
    found = heard(data)
    assert (found.said("content"), found.of(Finish)) == (["abc"], [Finish(0, "stop")])


def test_s13_a_stream_without_an_end_mark_is_cut() -> None:
    assert judged(event(chunk(content="a")))[1] is End.CUT


@pytest.mark.parametrize("more", [{}, {"stop_reason": "repetition_detected"}])
def test_s15_the_servers_own_verdict(more: dict[str, str]) -> None:
    last = chunk("repetition")
    last["choices"][0] |= more
    data = events(chunk(content="?!" * 40), last) + b"data: [DONE]\n\n"
    (verdict,), end = judged(data)
    assert (verdict.rule, verdict.kind, end) == ("server", "repetition", End.TRIPPED)
    assert "the server ended the reply" in verdict.message
    assert verdict.chars == 80
    assert heard(data).of(Done) == [Done()]


def test_ollamas_own_abort_is_a_verdict_and_no_error() -> None:
    abort = {"error": "prediction aborted, token repeat limit reached"}
    line = {"model": "m", "message": {"role": "assistant", "content": "G"}, "done": False}
    data = b"".join(json.dumps(doc).encode() + b"\n" for doc in [line] * 40 + [abort])
    found = heard(data)
    assert (found.errors, found.of(ServerLoop)) == ([], [ServerLoop(0, abort["error"])])
    assert judged(data)[1] is End.TRIPPED
    # An older server just stops.
    old = heard(data[: data.index(b'{"error"')])
    assert "equal tokens" in old.others[-1].message


def test_s16_an_error_in_prose_and_then_silence() -> None:
    reading = reader("auto")
    found = reading.feed(b"data: Number of choices must be greater than 0.\n\n")
    assert [error.message for error in found] == ["Number of choices must be greater than 0."]
    assert reading.close() == []
    data = event(chunk(content="a")) + b"data: the backend is gone\n\n" + event(chunk(content="b"))
    both = heard(data)
    assert (both.errors, both.said("content")) == (["the backend is gone"], ["ab"])


def test_broken_json_is_no_prose() -> None:
    (problem,) = heard(event(chunk(content="a")) + b"data: {not json\n\n").problems
    assert "neither JSON" in problem


def test_report_25_a_closing_tag_in_the_loop_does_not_change_the_channel() -> None:
    unit = "I should answer now.\nYes, now it is.\n</think>\n"
    data = events(*(chunk(content=unit) for _ in range(251)))
    assert list(heard(data).lanes) == [Lane()]


# --- Never judged --------------------------------------------------------------------------------


def test_four_hundred_citations_do_not_trip() -> None:
    """Perplexity repeats them in every chunk."""
    cited = {
        "citations": ["https://example.com/a"] * 400,
        "search_results": [{"title": "a a a"}] * 400,
    }
    data = events(*({**chunk(content=word + " "), **cited} for word in ["all", "is", "well"]))
    assert judged(data) == ([], End.CUT)
    assert heard(data).said("content") == ["all is well "]


def test_forty_kilobytes_of_base64_do_not_trip() -> None:
    blob = "AAAA" * 10_000
    blocks = [
        {"type": "redacted_thinking", "data": blob},
        {"type": "web_search_tool_result", "content": [{"encrypted_content": blob}] * 3},
        {"type": "code_execution_tool_result", "content": {"stdout": ",80,1,64 " * 4000}},
        {"type": "thinking", "thinking": "hm", "signature": blob},
    ]
    message = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}
    assert judged(json.dumps(message).encode()) == ([], End.DONE)
    assert heard(json.dumps(message).encode()).said("reasoning") == ["hm"]


def test_image_bytes_in_a_tool_result_do_not_trip() -> None:
    output = {"type": "tool-output-available", "toolCallId": "c", "output": ",80,1,64 " * 4000}
    data = events({"type": "start"}, output, {"type": "text-delta", "id": "t", "delta": "Done."})
    assert judged(data)[0] == []
    assert heard(data).said("content") == ["Done."]
    parts = [{"inlineData": {"mimeType": "image/png", "data": "AAAA" * 9999}}, {"text": "Look."}]
    parts.append({"codeExecutionResult": {"output": "ok ok " * 9999}})
    image = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    assert list(heard(event(image)).lanes.values()) == ["Look."]


def test_a_message_start_begins_a_new_attempt() -> None:
    start = {"type": "message_start", "message": {"id": "a", "role": "assistant", "content": []}}
    delta = {"type": "text_delta", "text": "void 0;\n" * 800}
    block = {"type": "content_block_delta", "index": 0, "delta": delta}
    stop = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
    assert judged(events(start, block, start, block, stop)) == ([], End.CAPPED)
    ((verdict), _) = judged(events(start, block, block, block)), None
    assert len(verdict[0]) == 1


# --- End marks -----------------------------------------------------------------------------------

ENDS = [
    (events(chunk(content="a"), chunk("length")), End.CAPPED),
    (events(chunk(content="a"), chunk("content_filter")), End.REFUSED),
    (events(chunk(content="a"), chunk("error")), End.FAILED),
    (events({"type": "message_stop"}), End.DONE),
    (events({"type": "message_delta", "delta": {"stop_reason": "refusal"}}), End.REFUSED),
    (
        events(
            {"type": "message_delta", "delta": {"stop_reason": "model_context_window_exceeded"}}
        ),
        End.CAPPED,
    ),
    (events({"type": "response.completed", "response": {"status": "completed"}}), End.DONE),
    (
        events(
            {
                "type": "response.incomplete",
                "response": {
                    "status": "incomplete",
                    "incomplete_details": {"reason": "max_output_tokens"},
                },
            }
        ),
        End.CAPPED,
    ),
    (
        events(
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "content_filter"}},
            }
        ),
        End.REFUSED,
    ),
    (
        events({"type": "response.failed", "response": {"error": {"message": "m", "code": "c"}}}),
        End.FAILED,
    ),
    (events({"type": "response.created", "response": {"status": "in_progress"}}), End.CUT),
    (events({"candidates": [{"finishReason": "MAX_TOKENS"}]}), End.CAPPED),
    (events({"candidates": [{"finishReason": "SAFETY"}]}), End.REFUSED),
    (events({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}), End.REFUSED),
    (events({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}), End.FAILED),
    (events({"candidates": [{"content": {"parts": []}}]}), End.CUT),
    (b'{"model":"m","response":"a","done":true,"done_reason":"length"}\n', End.CAPPED),
    (b'{"model":"m","response":"a","done":false}\n', End.CUT),
    (b'{"model":"m","response":"a","done":false}\n{"error":"gone"}\n', End.FAILED),
    (events({"content": "", "stop": True, "stop_type": "limit"}), End.CAPPED),
    (events({"content": "", "stop": True, "stopped_limit": True}), End.CAPPED),
    (events({"content": "a", "stop": False}), End.CUT),
    (events({"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}}), End.CAPPED),
    (events({"type": "message-end", "delta": {"finish_reason": "ERROR"}}), End.FAILED),
    (events({"type": "start"}, {"type": "abort"}), End.FAILED),
    (events({"type": "start"}, {"type": "error", "errorText": "no"}), End.FAILED),
    (events({"type": "start"}, {"type": "finish", "finishReason": "length"}), End.CAPPED),
    (b'f:{"messageId":"a"}\n0:"b"\n', End.CUT),
    (b'0:"b"\n3:"no"\n', End.FAILED),
]


@pytest.mark.parametrize(("data", "end"), ENDS)
def test_each_end_mark_is_known(data: bytes, end: End) -> None:
    assert judged(data)[1] is end
    heard(data)
