"""Sessions replayed: what repeats, and which rungs it reaches."""

from __future__ import annotations

import json
from typing import Any

from loopcli.analyze.replay import ReplayRow
from loopcli.analyze.session_replay import MAX_REPEATS, SessionReplay
from loopcli.analyze.session_trace import SessionTracer
from loopcli.ladder import Ladder
from loopcli.rules.streaks.config import StreaksConfig
from loopcli.rules.streaks.rule import StreaksRule
from loopcli.rules.tails.rule import TailsRule
from loopcli.session_judge import SessionJudge
from loopcli.session_setup import SessionSetup
from loopcli.sessions.reader import SessionReader

RULES = ("streaks", "tails")


def judge(ladder: Ladder | None = None, **setup: Any) -> SessionJudge:
    """A judge with both rules, without cycles."""
    how = SessionSetup(**setup)
    rules = [StreaksRule(StreaksConfig(max_cycle=0), how), TailsRule(None, how)]
    return SessionJudge(rules, ladder, how)


def turn(number: int, *calls: str, text: str = "", result: str = "ok") -> list[dict[str, Any]]:
    """A reply of an agent with calls of a shell, and their results."""
    made = [
        {"id": f"{number}.{at}", "function": {"name": "sh", "arguments": json.dumps({"c": call})}}
        for at, call in enumerate(calls)
    ]
    reply = {"role": "assistant", "content": text, "tool_calls": made}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call in made]
    return [reply, *results]


def session(*turns: list[dict[str, Any]]) -> bytes:
    messages = [{"role": "user", "content": "Go."}, *(m for each in turns for m in each)]
    return json.dumps({"messages": messages}).encode() + b"\n"


def events(data: bytes) -> list[Any]:
    reader = SessionReader("openai-messages", "ndjson")
    return reader.feed(data) + reader.close()


def rows(data: bytes, **options: Any) -> list[ReplayRow]:
    replay = SessionReplay("a.jsonl", RULES, lambda: judge(**options))
    for event in events(data):
        replay.update(event)
    return replay.rows()


def test_a_session_has_a_row_for_each_rule() -> None:
    streaks, tails = rows(session(turn(1, "ls"), turn(2, "pwd"), turn(3, text="Done.")))
    assert (streaks.id, streaks.rule, tails.rule) == ("a.jsonl@1", "streaks", "tails")
    assert (streaks.words, streaks.chars, streaks.peak, streaks.ceiling) == (3, 2, 1, 6)
    assert (streaks.verdict, tails.peak, tails.channel) == (None, 1, "text")


def test_the_row_says_what_repeats_and_when_each_rung_was_reached() -> None:
    turns = [turn(1, "pwd"), *(turn(n, "ls") for n in range(2, 9)), turn(9, text="Done.")]
    row, _ = rows(session(*turns))
    assert row.session is not None
    (repeat,) = row.session.repeats
    assert (repeat.tool, repeat.what, repeat.streak, repeat.round) == ("sh", '{"c":"ls"}', 7, 8)
    assert [(rung.action, rung.threshold, rung.round) for rung in repeat.rungs] == [
        ("observe", 2, 3),
        ("block", 3, 4),
        ("stop", 6, 7),
    ]
    assert (row.verdict, row.trip_channel, row.trip_word, row.trip_char) == (
        "repetition",
        "calls",
        7,
        7,
    )
    assert (row.peak, row.margin) == (7, -1)


def test_results_that_change_are_no_loop_where_they_count() -> None:
    turns = [turn(n, "date", result=str(n)) for n in range(9)]
    assert rows(session(*turns))[0].peak == 9
    # The second round comes before a change has been seen.
    assert rows(session(*turns), results=True)[0].peak == 2


def test_a_rung_that_is_off_is_left_out_and_the_strongest_is_the_ceiling() -> None:
    ladder = Ladder(observe=None, block=4, stop=None)
    row, _ = rows(session(*(turn(n, "ls") for n in range(5))), ladder=ladder)
    assert row.session is not None
    assert [rung.action for rung in row.session.repeats[0].rungs] == ["block"]
    assert (row.ceiling, row.verdict) == (4, None)


def test_tools_and_texts_are_told_apart_and_ranked() -> None:
    turns = [turn(n, "ls", text="Again.") for n in range(3)]
    streaks, tails = rows(session(*turns, turn(9, text="Done.")))
    assert streaks.session is not None
    assert tails.session is not None
    assert [repeat.tool for repeat in streaks.session.repeats] == ["sh"]
    assert (tails.peak, tails.session.repeats[0].what) == (3, "Again.")


def test_each_session_of_a_file_is_judged_by_itself() -> None:
    once = session(*(turn(n, "ls") for n in range(4)))
    both = rows(once + once)
    assert [(row.id, row.peak) for row in both if row.rule == "streaks"] == [
        ("a.jsonl@1", 4),
        ("a.jsonl@2", 4),
    ]


def test_labels_are_asked_for_by_number() -> None:
    data = session(turn(1, "ls"))
    replay = SessionReplay("a", RULES[:1], judge, lambda number: None)
    for event in events(data):
        replay.update(event)
    assert [row.label for row in replay.rows()] == [None]


def test_what_is_kept_is_bounded() -> None:
    replay = SessionReplay("a", RULES[:1], judge)
    for number in range(MAX_REPEATS + 50):
        made = [{"id": "x", "function": {"name": f"tool{number}", "arguments": "{}"}}]
        for event in events(session([{"role": "assistant", "tool_calls": made}]))[:-1]:
            replay.update(event)
    (row,) = replay.rows()
    assert row.session is not None
    assert len(row.session.repeats) == MAX_REPEATS


# --- The trace -------------------------------------------------------------------------------


def traced(data: bytes, wanted: int = 1) -> SessionTracer:
    tracer = SessionTracer(judge(), wanted)
    for event in events(data):
        tracer.update(event)
    return tracer


def test_equal_rounds_are_one_entry() -> None:
    turns = [turn(1, "pwd"), *(turn(n, "ls") for n in range(2, 9)), turn(9, text="Done.")]
    user, first, loop, last = traced(session(*turns)).entries
    assert (user.number, user.text) == (0, "Go.")
    assert (first.calls, first.times) == ((("sh", '{"c": "pwd"}'),), 1)
    assert (loop.number, loop.times, loop.streak) == (2, 7, 7)
    assert loop.actions == (("observe", 3), ("block", 4), ("stop", 7))
    assert (last.text, last.calls) == ("Done.", ())


def test_the_session_with_a_number_is_traced() -> None:
    data = session(turn(1, "ls")) + session(turn(1, "pwd"))
    assert traced(data, 2).entries[-1].calls == (("sh", '{"c": "pwd"}'),)
