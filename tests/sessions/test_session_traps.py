"""What misleads readers of sessions: each trap of the formats, and what must come of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_reading import events_of, heard, read

from loopcli.events import BrokenRecord, Done, Meta, Note, UpstreamError
from loopcli.session_events import CallKind, SessionCall, SessionResult, UserMessage
from loopcli.sessions.collector import SessionCollector
from loopcli.sessions.reader import SessionReader
from loopcli.sessions.records import DocumentRecords, LineRecords


def lines(*docs: Any) -> bytes:
    return "".join(json.dumps(doc) + "\n" for doc in docs).encode()


def kinds(said: list[tuple[Any, ...]]) -> list[str]:
    return [item[0] for item in said]


# --- Claude Code -----------------------------------------------------------------------------


def assistant(ident: str, *blocks: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """A record of a stream with blocks of one reply."""
    message = {"id": ident, "role": "assistant", "content": list(blocks), "stop_reason": None}
    return {"type": "assistant", "session_id": "s", "message": message, **rest}


def use(ident: str, command: str = "ls") -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": "Bash", "input": {"command": command}}


def result(ident: str, text: str = "ok", **rest: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": ident, "content": text}
    return {"type": "user", "session_id": "s", "message": {"content": [block]}, **rest}


def test_a_reply_in_several_records_is_one_round() -> None:
    said = read(lines(assistant("m", use("a")), assistant("m", use("b")), result("a"), result("b")))
    assert kinds(said) == ["call", "call", "RoundEnd", "result", "result"]


def test_a_result_between_the_calls_of_a_reply_waits_for_its_end() -> None:
    records = [
        assistant("m", use("a")),
        result("a"),
        assistant("m", use("b", "pwd")),
        result("b"),
        assistant("n", use("c")),
    ]
    said = read(lines(*records))
    assert kinds(said) == ["call", "call", "RoundEnd", "result", "result", "call", "RoundEnd"]


def test_a_reply_counts_once_however_many_records_it_has() -> None:
    reader = SessionReader("claude-code-stream-json")
    reader.feed(lines(assistant("m", use("a")), assistant("m", use("b")), assistant("n", use("c"))))
    assert reader.counts == (2, 3, 0)


def test_parallel_results_come_in_any_order() -> None:
    records = [assistant("m", use("a")), assistant("m", use("b")), result("b", "2"), result("a")]
    results = [event for event in events_of(lines(*records)) if isinstance(event, SessionResult)]
    assert [event.call_id for event in results] == ["b", "a"]


def test_subagents_are_lanes_of_their_own() -> None:
    inner = {"parent_tool_use_id": "t"}
    records = [
        assistant("m", use("t")),
        assistant("x", use("a"), **inner),
        assistant("y", use("b"), **inner),
        result("a", **inner),
        result("t"),
        assistant("n", {"type": "text", "text": "Done."}),
    ]
    said = read(lines(*records))
    assert [item[:2] for item in said] == [
        ("call", ""),
        ("call", "t"),
        ("RoundEnd", "t"),
        ("call", "t"),
        # What the task came to ends its agent, whose last words are not in the stream.
        ("RoundEnd", "t"),
        ("result", "t"),
        ("RoundEnd", ""),
        ("result", ""),
        ("content", ""),
        ("RoundEnd", ""),
    ]


def record(kind: str, uuid: str, parent: str | None, **rest: Any) -> dict[str, Any]:
    """A record of a session file."""
    content = rest.pop("content", "Go on.")
    message = {"role": kind, "content": content, "id": rest.pop("reply", None)}
    head = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s"}
    return {**head, "message": message, **rest}


def test_side_chains_are_told_apart_by_where_they_begin() -> None:
    """Older files name no agent: a side chain is what goes back to one record."""
    side = {"isSidechain": True}
    records = [
        record("user", "1", None),
        record("user", "2", None, **side),
        record("user", "3", None, **side),
        record("assistant", "4", "2", content=[use("a")], reply="m", **side),
        record("assistant", "5", "3", content=[use("b")], reply="n", **side),
        record("assistant", "6", "4", content=[use("c")], reply="o", **side),
    ]
    agents = [e.agent for e in events_of(lines(*records)) if isinstance(e, SessionCall)]
    assert agents[0] == agents[2] != agents[1]
    assert "" not in agents


def test_a_side_chain_with_a_name_is_a_lane_by_that_name() -> None:
    records = [record("assistant", "1", None, isSidechain=True, agentId="a1", content=[use("a")])]
    (call,) = [e for e in events_of(lines(*records)) if isinstance(e, SessionCall)]
    assert call.agent == "a1"


def test_records_that_a_resumed_session_copied_count_once() -> None:
    old = [
        record("user", "1", None),
        record("assistant", "2", "1", content=[use("a")], reply="m"),
        record("user", "3", "2", content=result("a")["message"]["content"]),
    ]
    fresh = [record("assistant", "4", "3", content=[use("b")], reply="n")]
    assert read(lines(*old, *old, *fresh)) == read(lines(*old, *fresh))


def test_what_the_program_writes_in_the_users_name_is_not_the_users() -> None:
    records = [
        record("user", "1", None, content="Find it."),
        record("user", "2", "1", content="<system-reminder>Be brief.</system-reminder>"),
        record("user", "3", "2", content="A caveat.", isMeta=True),
        record("user", "4", "3", content=[{"type": "text", "text": "Faster."}]),
        record("user", "5", "4", content="What was said so far.", isCompactSummary=True),
    ]
    assert read(lines(*records)) == [("user", "", "Find it."), ("user", "", "Faster.")]


def test_notes_and_broken_lines_cost_only_themselves() -> None:
    data = lines({"type": "summary", "summary": "x", "leafUuid": "1"}) + b'{"type": "user", "mess\n'
    data += lines({"type": "some-new-note", "x": 1}, record("assistant", "1", None, content="Hi."))
    events = events_of(data)
    assert kinds(heard(events)) == ["content", "RoundEnd"]
    (broken,) = [event for event in events if isinstance(event, BrokenRecord)]
    assert (broken.line, broken.message.startswith("not JSON: ")) == (2, True)


def test_a_last_line_that_was_cut_is_no_fault() -> None:
    data = lines(record("assistant", "1", None, content="Hi.")) + b'{"type": "user", "mess'
    reader = SessionReader("claude-code-jsonl")
    reader.feed(data)
    assert not [event for event in reader.close() if isinstance(event, BrokenRecord | Note)]
    assert reader.broken == 0


def test_many_broken_lines_are_reported_in_few() -> None:
    reader = SessionReader("claude-code-jsonl")
    events = reader.feed(b"{broken\n" * 500) + reader.close()
    broken = [event.message for event in events if isinstance(event, BrokenRecord)]
    assert len(broken) == 21
    assert broken[-1] == "and 480 more records that could not be read"


def test_an_api_failure_is_no_reply_but_counts_as_the_message_it_is_recorded_as() -> None:
    failed = assistant("m", {"type": "text", "text": "API Error: 529"})
    failed["message"]["model"] = "<synthetic>"
    end = {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 529"}
    events = events_of(lines(failed, failed, {**end, "session_id": "s", "api_error_status": 529}))
    assert [item[0] for item in heard(events)] == ["RoundEnd"]
    (error,) = [event for event in events if isinstance(event, UpstreamError)]
    assert (error.message, error.code) == ("API Error: 529", "529")


def partial(**event: Any) -> dict[str, Any]:
    return {"type": "stream_event", "session_id": "s", "event": event}


def start(ident: str) -> list[dict[str, Any]]:
    """How a reply begins that is streamed."""
    block = {"type": "text", "text": ""}
    return [
        partial(type="message_start", message={"id": ident, "role": "assistant"}),
        partial(type="content_block_start", index=0, content_block=block),
    ]


def delta(text: str) -> dict[str, Any]:
    return partial(type="content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def test_text_that_streamed_is_not_read_again_from_its_record() -> None:
    whole = assistant("m", {"type": "text", "text": "Hello there."})
    records = [*start("m"), delta("Hello "), delta("there."), whole, partial(type="message_stop")]
    assert read(lines(*records)) == [("content", "", "Hello there."), ("RoundEnd", "")]


def test_a_stream_that_was_saved_from_its_middle_on_is_read() -> None:
    whole = assistant("m", {"type": "text", "text": "Hello there."})
    records = [delta("Hello "), delta("there."), whole, partial(type="message_stop")]
    said = [("content", "", "Hello there."), ("RoundEnd", "")]
    assert read(lines(*records)) == said
    assert read(lines(*records, *start("n"), delta("Hi."), partial(type="message_stop"))) == [
        *said,
        ("content", "", "Hi."),
        ("RoundEnd", ""),
    ]


def test_a_streamed_reply_ends_with_its_last_event_and_not_later() -> None:
    reader = SessionReader("claude-code-stream-json")
    reader.feed(lines(*start("m"), delta("Hello.")))
    events = reader.feed(lines(partial(type="message_stop")))
    assert kinds(heard(events)) == ["RoundEnd"]


def test_a_streamed_reply_that_broke_off_is_given_up_for_the_next() -> None:
    records = [*start("m"), delta("Hello "), *start("n"), delta("Hello "), delta("there.")]
    said = heard(events_of(lines(*records, partial(type="message_stop"))))
    assert kinds(said) == ["content", "RoundRestart", "RoundEnd", "content", "RoundEnd"]


def test_a_denied_call_is_marked() -> None:
    text = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    refused = result("a")
    refused["message"]["content"][0] |= {"is_error": True, "content": text}
    events = events_of(lines(assistant("m", use("a")), refused))
    (event,) = [event for event in events if isinstance(event, SessionResult)]
    assert (event.denied, event.is_error) == (True, True)


def test_another_session_in_the_same_input_begins_anew() -> None:
    init = [{"type": "system", "subtype": "init", "session_id": name} for name in "aab"]
    said = heard(events_of(lines(init[0], assistant("m", use("a")), *init[1:])))
    assert kinds(said) == ["call", "RoundEnd", "start"]


# --- Codex -----------------------------------------------------------------------------------


def item(kind: str = "response_item", **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2030-01-01T00:00:00Z", "type": kind, "payload": payload}


def test_what_a_rollout_says_for_the_screen_is_not_read() -> None:
    said = {"type": "output_text", "text": "Hi."}
    records = [
        item("event_msg", type="agent_message", message="Hi."),
        item(type="message", role="assistant", content=[said]),
        item("event_msg", type="item_completed", item={"type": "AgentMessage", "text": "Hi."}),
    ]
    assert read(lines(*records)) == [("content", "", "Hi."), ("RoundEnd", "")]


def test_the_first_rollouts_have_their_items_bare() -> None:
    records = [
        {"id": "s", "timestamp": "2025-05-01T00:00:00Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"record_type": "state"},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
    ]
    said = read(lines(*records))
    assert kinds(said) == ["user", "call", "RoundEnd", "result"]


@pytest.mark.parametrize(
    ("output", "text", "is_error"),
    [
        (
            "Chunk ID: 79\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na",
            "a",
            False,
        ),
        ("Chunk ID: 80\nWall time: 0.2 seconds\nProcess exited with code 2\nOutput:\na", "a", True),
        ("a\nOutput:\nb", "a\nOutput:\nb", False),
        ({"content": "a", "success": False}, "a", True),
    ],
)
def test_the_head_of_an_output_is_the_programs(output: Any, text: str, is_error: bool) -> None:
    records = [
        item(type="function_call", name="exec_command", arguments="{}", call_id="c"),
        item(type="function_call_output", call_id="c", output=output),
    ]
    assert read(lines(*records))[-1] == ("result", "", text, is_error)


def test_a_web_search_is_the_servers() -> None:
    search = item(type="web_search_call", id="w", action={"type": "search", "query": "x"})
    (call,) = [event for event in events_of(lines(search)) if isinstance(event, SessionCall)]
    assert (call.kind, call.name) == (CallKind.SERVER, "web_search_call")


def step(kind: str, **rest: Any) -> dict[str, Any]:
    head = {"id": rest.pop("id"), "type": "command_execution", "command": "ls"}
    return {"type": f"item.{kind}", "item": {**head, **rest}}


def test_commands_that_run_at_once_are_one_round() -> None:
    first = [step("started", id="a"), step("started", id="b")]
    last = [step("completed", id="b"), step("completed", id="a"), step("started", id="c")]
    said = read(lines(*first, *last))
    assert kinds(said) == ["call", "call", "RoundEnd", "result", "result", "call", "RoundEnd"]


def test_a_notice_is_no_failure_and_a_failed_turn_is() -> None:
    notice = {"type": "item.completed", "item": {"id": "0", "type": "error", "message": "old"}}
    retry = {"type": "error", "message": "Reconnecting... 1/5"}
    failed = {"type": "turn.failed", "error": {"message": "gone"}}
    events = events_of(lines({"type": "turn.started"}, notice, retry, failed))
    assert [e.message for e in events if isinstance(e, UpstreamError)] == ["gone"]


# --- Gemini CLI ------------------------------------------------------------------------------


def spoken(text: str, at: float) -> dict[str, Any]:
    """A delta at a second of a minute."""
    stamp = f"2030-01-01T10:59:{at:06.3f}Z"
    return {"type": "message", "timestamp": stamp, "role": "assistant", "content": text}


def test_a_reply_that_is_asked_for_again_is_given_up() -> None:
    attempts = [
        *(spoken("The folder ", 1.0), spoken("holds two ", 1.1)),
        *(spoken("The folder ", 2.2), spoken("holds two ", 2.3)),
        spoken("The folder holds two files.", 4.4),
    ]
    said = read(lines(*attempts))
    assert said == [
        ("content", "", "The folder holds two "),
        ("RoundRestart", ""),
        ("content", "", "The folder holds two "),
        ("RoundRestart", ""),
        ("content", "", "The folder holds two files."),
        ("RoundEnd", ""),
    ]
    reader = SessionReader("gemini-cli-stream-json")
    reader.feed(lines(*attempts))
    assert reader.counts[0] == 1


def test_a_loop_is_no_retry() -> None:
    said = read(lines(*(spoken("Once more. ", 1 + number / 50) for number in range(40))))
    assert kinds(said) == ["content", "RoundEnd"]


def test_a_slow_loop_is_taken_for_retries_three_times_at_most() -> None:
    said = read(lines(*(spoken("Once more. ", number) for number in range(1, 40))))
    assert kinds(said).count("RoundRestart") == 3
    assert said[-2][2] == "Once more. " * 36


def test_a_pause_before_other_words_is_no_retry() -> None:
    said = read(lines(spoken("The folder ", 1.0), spoken("holds ", 5.0), spoken("two.", 5.1)))
    assert kinds(said) == ["content", "RoundEnd"]


def test_a_pause_over_midnight_is_a_pause() -> None:
    records = [spoken("The ", 1.0), spoken("The ", 1.0)]
    records[0]["timestamp"] = "2030-01-01T23:59:59.500Z"
    records[1]["timestamp"] = "2030-01-02T00:00:00.600Z"
    assert "RoundRestart" in kinds(read(lines(*records)))


def test_what_the_program_stops_itself_is_reported_and_no_verdict() -> None:
    stopped = {"type": "error", "severity": "warning", "message": "Loop detected, stopping"}
    init = {"type": "init", "timestamp": "2030-01-01T00:00:00.000Z", "session_id": "s"}
    events = events_of(lines(init, {**stopped, "timestamp": "x"}))
    notes = [event.message for event in events if isinstance(event, Note)]
    assert notes == ["Gemini CLI: Loop detected, stopping"]


def gemini(ident: str, text: str, *calls: str) -> dict[str, Any]:
    made = [
        {"id": name, "name": "shell", "args": {}, "status": "success", "resultDisplay": "ok"}
        for name in calls
    ]
    record = {"id": ident, "type": "gemini", "content": text}
    return {**record, "toolCalls": made} if made else record


def test_a_record_that_is_written_again_adds_only_what_is_new() -> None:
    patch = {"$set": {"messages": [gemini("g", "Hi.", "a"), gemini("h", "Bye.")]}}
    said = read(lines(gemini("g", "Hi."), gemini("g", "Hi.", "a"), patch, patch))
    assert kinds(said) == ["content", "call", "RoundEnd", "result", "content", "RoundEnd"]


def test_a_result_is_the_tools_output_without_the_programs_numbers() -> None:
    call = {"id": "a", "name": "shell", "args": {}, "status": "success"}
    noisy = [{"functionResponse": {"response": {"output": "ok\nProcess Group PGID: 12"}}}]
    record = {**gemini("g", ""), "toolCalls": [{**call, "result": noisy, "resultDisplay": "ok"}]}
    repeated = {"id": "u", "type": "user", "content": noisy}
    assert read(lines(record, repeated)) == [
        ("call", "", "shell", {}),
        ("RoundEnd", ""),
        ("result", "", "ok", False),
    ]


# --- OpenCode, OpenHands, SWE-agent, aider ---------------------------------------------------


def test_retries_of_a_step_are_one_message() -> None:
    part = {"type": "step-start", "messageID": "m"}
    begun = {"type": "step_start", "sessionID": "s", "part": part}
    reader = SessionReader("opencode-run-json")
    reader.feed(lines(begun, begun, begun))
    assert reader.counts == (1, 0, 0)


def test_a_refused_permission_is_a_denial() -> None:
    state = {"status": "error", "input": {}, "error": "The user rejected permission to use this."}
    part = {"type": "tool", "tool": "bash", "callID": "c", "messageID": "m", "state": state}
    events = events_of(lines({"type": "tool_use", "sessionID": "s", "part": part}))
    assert [event.denied for event in events if isinstance(event, SessionResult)] == [True]


def test_thoughts_that_stand_in_two_places_are_read_once() -> None:
    event = {
        "id": "1",
        "timestamp": "x",
        "source": "agent",
        "kind": "ActionEvent",
        "thought": [{"type": "text", "text": "<think>First the log.</think>\n\nI look."}],
        "reasoning_content": "First the log.",
        "tool_name": "terminal",
        "tool_call_id": "c",
        "tool_call": {"arguments": '{"command": "ls"}'},
        "llm_response_id": "r",
    }
    said = read(lines(event, {**event, "id": "2", "tool_call_id": "d"}))
    assert kinds(said) == ["reasoning", "content", "call", "call", "RoundEnd"]
    assert said[1][2] == "I look."


def test_a_trajectory_has_every_reply_twice_and_is_read_once() -> None:
    message = {"role": "assistant", "content": "Look.", "tool_calls": []}
    trace = {"action": "ls -l", "observation": "a", "thought": "Look.", "response": "Look."}
    for document in (
        {"environment": "e", "trajectory": [trace], "history": [message]},
        {"environment": "e", "history": [{**message, "action": "ls -l"}], "trajectory": [trace]},
    ):
        said = read(json.dumps(document).encode())
        assert kinds(said)[:3] == ["content", "call", "RoundEnd"]
        assert kinds(said).count("content") == 1


def test_demonstrations_are_not_the_agents() -> None:
    demo = {"role": "assistant", "content": "x", "is_demo": True}
    document = {"environment": "e", "history": [demo], "info": {}}
    assert read(json.dumps(document).encode()) == []


# A tilde stands for the two blanks that the program ends its own lines with.
HISTORY = b"""
# aider chat started at 2030-01-01 10:00:00

> Aider v0.1~
#### Fix it~
#### and run the tests.~

Here is a quote:

> It never worked.
#### The fix
Done.

> litellm.APIError: overloaded~
> Retrying in 0.2 seconds...~

# aider chat started at 2030-01-02 10:00:00

#### thanks~

You are welcome.
""".replace(b"~", b"  ")


def test_quotes_and_headings_of_the_model_are_the_models() -> None:
    assert read(HISTORY) == [
        ("user", "", "Fix it\nand run the tests."),
        ("content", "", "Here is a quote:\n\n> It never worked.\n#### The fix\nDone.\n"),
        ("RoundEnd", ""),
        ("start", "", "2030-01-02 10:00:00"),
        ("user", "", "thanks"),
        ("content", "", "You are welcome.\n"),
        ("RoundEnd", ""),
    ]


def test_calls_that_stand_in_the_text_are_calls() -> None:
    text = "I look.\n<function=run>\n<parameter=command>ls</parameter>\n</function>"
    document = [{"role": "assistant", "content": text}, {"role": "user", "content": "a b"}]
    said = read(json.dumps(document).encode())
    assert said[1:] == [
        ("call", "", "run", {"command": "ls"}),
        ("RoundEnd", ""),
        ("result", "", "a b", False),
    ]


def test_a_fence_is_a_call_only_where_an_agent_says_so() -> None:
    document = [{"role": "assistant", "content": "Try:\n```bash\nls\n```"}]
    assert kinds(read(json.dumps(document).encode())) == ["content", "RoundEnd"]


def test_requests_repeat_the_conversation_and_add_to_it() -> None:
    one = {"role": "user", "content": [{"type": "text", "text": "Go.", "cache_control": {}}]}
    other = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    reply = {"role": "assistant", "content": [use("a")]}
    requests = [{"path": "/v1", "body": {"messages": m}} for m in ([one], [other, reply])]
    assert kinds(read(lines(*requests))) == ["user", "call", "RoundEnd"]


def test_every_document_of_a_list_or_of_lines_is_a_session() -> None:
    talk = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    want = ["user", "content", "RoundEnd", "start", "user", "content", "RoundEnd"]
    assert kinds(read(lines(talk, talk))) == want
    assert kinds(read(json.dumps([talk, talk]).encode())) == want


def test_records_that_a_tool_has_spread_over_lines_are_read() -> None:
    records = [assistant("m", use("a")), result("a")]
    data = "\n".join(json.dumps(each, indent=2) for each in records).encode()
    assert kinds(read(data)) == ["call", "RoundEnd", "result"]


# --- Caps ------------------------------------------------------------------------------------


def test_a_line_above_the_cap_is_skipped_and_reported() -> None:
    reader = SessionReader("claude-code-jsonl", max_record=500)
    long = lines(record("assistant", "1", None, content="x" * 1000))
    events = []
    for at in range(0, len(long), 64):
        events += reader.feed(long[at : at + 64])
    events += reader.feed(lines(record("assistant", "2", None, content="Hi."))) + reader.close()
    assert kinds(heard(events)) == ["content", "RoundEnd"]
    broken = [(e.line, e.message) for e in events if isinstance(e, BrokenRecord)]
    assert broken == [(1, "more than 500 bytes; skipped")]


@pytest.mark.parametrize("size", [1, 10, 10_000])
def test_a_part_above_the_cap_is_dropped_however_it_came(size: int) -> None:
    data = json.dumps({"a": ["x" * 300, "y"], "z" * 300: 1, "b": {"c": [1]}}).encode()
    parts, found = DocumentRecords(max_record=100), []
    for at in range(0, len(data), size):
        found += parts.feed(data[at : at + size])
    assert [(raw, name) for raw, _, _, name, _ in found] == [
        (None, "a"),
        (b'"y"', "a"),
        (b"1", ""),
        (b'{"c": [1]}', "b"),
        (None, ""),
    ]


def test_lines_end_at_line_feeds_and_nowhere_else() -> None:
    data = '{"a": "x\u2028y"}\r\n\n{"b": 1}'.encode()
    records = LineRecords()
    assert [raw for raw, _, _ in records.feed(data) + records.close()] == data.split(b"\n")


def test_results_that_wait_are_capped() -> None:
    out = SessionCollector(max_held_chars=10)
    out.begin("", "m")
    out.call("ls", {}, "a")
    out.result("a", "x" * 11)
    assert kinds(heard(out.take())) == ["call", "RoundEnd", "result"]


def test_agents_are_capped_and_the_oldest_is_closed() -> None:
    out = SessionCollector(max_agents=2)
    for agent in "abc":
        out.begin(agent, "m")
        out.call("ls", {}, "", agent)
    assert [item[:2] for item in heard(out.take())] == [
        ("call", "a"),
        ("call", "b"),
        ("RoundEnd", "a"),
        ("call", "c"),
    ]


def test_a_session_says_who_it_is_once() -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "m"}
    events = events_of(lines(init, init, {"type": "result", "session_id": "s"}))
    assert [event for event in events if isinstance(event, Meta)] == [Meta("s", "m")]
    assert [type(event) for event in events][-1] is Done


def test_a_user_who_speaks_ends_the_reply_before() -> None:
    said = {"type": "user", "session_id": "s", "message": {"content": "Stop."}}
    events = events_of(lines(assistant("m", use("a")), result("a"), said))
    order = [type(event).__name__ for event in events if not isinstance(event, Meta)]
    assert order == ["SessionCall", "RoundEnd", "SessionResult", "UserMessage"]
    assert isinstance(events[-1], UserMessage)
