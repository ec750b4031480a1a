"""``--trim``: after a loop the output ends where the loop began."""

from __future__ import annotations

import json

import pytest

from tests.support.processes import loopcheck

GOOD = "Überall gut: 日本.\n"
LOOP = "round and round, " * 60
TRIM = ["--rules", "period", "--trim"]


def event(text: str, member: str = "content", index: int = 0) -> str:
    choice = {"index": index, "delta": {member: text}}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


def events(text: str, width: int, member: str = "content") -> str:
    pieces = [text[at : at + width] for at in range(0, len(text), width)]
    return "".join(event(piece, member) for piece in pieces)


DONE = "data: [DONE]\n\n"
HEAD = ": ping\n\n" + event("", "role")


@pytest.mark.parametrize("width", [1, 3, 17, 5000])
def test_emitted_text_ends_at_the_onset(width: int) -> None:
    stream = HEAD + events(GOOD + LOOP, width) + DONE
    done = loopcheck(*TRIM, "--emit", "text", stdin=stream)
    assert (done.returncode, done.stdout) == (3, GOOD)
    assert f"since character {len(GOOD)}" in done.stderr


@pytest.mark.parametrize("width", [1, 3, 17])
def test_a_held_stream_ends_before_the_event_of_the_onset(width: int) -> None:
    stream = HEAD + events(GOOD + LOOP, width) + DONE
    done = loopcheck(*TRIM, "--hold", stdin=stream)
    whole = GOOD[: len(GOOD) // width * width]
    assert (done.returncode, done.stdout) == (3, HEAD + events(whole, width) if whole else "")


def test_one_event_that_is_good_and_loops_is_left_out() -> None:
    done = loopcheck(*TRIM, "--hold", stdin=event(GOOD + LOOP) + DONE)
    assert (done.returncode, done.stdout) == (3, "")


def test_one_document_that_brings_all_is_left_out() -> None:
    message = {"reasoning_content": "Hm.\n", "content": GOOD + LOOP}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    document = json.dumps({"object": "chat.completion", "choices": [choice]})
    done = loopcheck(*TRIM, "--hold", stdin=document)
    assert (done.returncode, done.stdout) == (3, "")
    assert loopcheck(*TRIM, "--emit", "text", stdin=document).stdout == GOOD


def test_one_event_with_text_of_two_lanes_is_left_out() -> None:
    choice = {"index": 0, "delta": {"reasoning_content": "Hm.\n", "content": LOOP}}
    both = f"data: {json.dumps({'choices': [choice]})}\n\n"
    done = loopcheck(*TRIM, "--hold", stdin=event(GOOD) + event("Hm.\n", "reasoning") + both)
    assert (done.returncode, done.stdout) == (3, event(GOOD) + event("Hm.\n", "reasoning"))


def test_a_loop_from_the_start_leaves_nothing() -> None:
    done = loopcheck(*TRIM, "--emit", "text", stdin=events(LOOP, 9) + DONE)
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("how", [["--hold"], ["--emit", "text"], ["--hold", "--emit", "text"]])
def test_plain_text_ends_at_the_character(how: list[str], mark: str) -> None:
    done = loopcheck(*TRIM, *how, "--input", "text", stdin=mark + GOOD + LOOP)
    kept = "" if "--emit" in how else mark
    assert (done.returncode, done.stdout) == (3, kept + GOOD)


def test_a_loop_of_the_reasoning_keeps_the_answer() -> None:
    stream = event(GOOD) + events("Hm.\n", 4, "reasoning") + events(LOOP, 9, "reasoning")
    done = loopcheck(*TRIM, "--emit", "text", stdin=stream)
    assert (done.returncode, done.stdout) == (3, GOOD)
    done = loopcheck(*TRIM, "--hold", stdin=stream)
    assert done.stdout == event(GOOD) + event("Hm.\n", "reasoning")


def test_another_choice_loops() -> None:
    stream = event(GOOD) + "".join(event("round and round, ", index=1) for _ in range(60))
    done = loopcheck(*TRIM, "--emit", "text", stdin=stream)
    assert (done.returncode, done.stdout) == (3, GOOD)
    assert loopcheck(*TRIM, "--hold", stdin=stream).stdout == event(GOOD)


def test_the_backstop_has_no_onset() -> None:
    done = loopcheck("--trim", "--hold", "--max-response-chars", "9", stdin=GOOD)
    assert (done.returncode, done.stdout) == (4, GOOD[:10])


@pytest.mark.parametrize("how", [["--hold"], ["--emit", "text"]])
def test_a_clean_reply_is_whole(how: list[str]) -> None:
    stream = events(GOOD, 4) + DONE
    done = loopcheck("--trim", *how, stdin=stream)
    assert (done.returncode, done.stdout) == (0, GOOD if "--emit" in how else stream)


def test_only_a_loop_is_trimmed() -> None:
    error = f"data: {json.dumps({'error': {'message': 'overloaded'}})}\n\n"
    stream = events(GOOD, 4) + error
    assert loopcheck("--trim", "--emit", "text", stdin=stream).stdout == GOOD
    assert loopcheck("--trim", "--hold", "--emit", "text", stdin=stream).stdout == ""


def test_a_session_counts_each_reply_anew() -> None:
    turns = [{"text": GOOD}, {"text": "Well.\n" + LOOP}]
    stdin = "".join(json.dumps(turn) + "\n" for turn in turns)
    done = loopcheck(*TRIM, "--emit", "text", "--input", "turns", stdin=stdin)
    assert (done.returncode, done.stdout) == (3, GOOD + "Well.\n")


def test_several_files() -> None:
    done = loopcheck(*TRIM, "--emit", "text", "-", "-", stdin=GOOD + LOOP)
    assert (done.returncode, done.stdout) == (3, GOOD)


@pytest.mark.parametrize("options", [[], ["--hold", "--dry-run"], ["--emit", "raw"]], ids=str)
def test_it_needs_a_reply_that_is_held_and_cut(options: list[str]) -> None:
    done = loopcheck("--trim", *options, stdin=GOOD)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--trim" in done.stderr
