"""``loopcheck run`` against a provider: what is printed, told, recorded, and priced."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE, environ, loopcheck, until
from servers import (
    Handler,
    Provider,
    Reply,
    answers,
    ask_command,
    cuts,
    ends,
    fails_inside,
    hangs,
    loops,
    provider,
    says,
)

from loopcli.run import turn_records
from loopcli.run.attempts import AttemptKind, AttemptOutcome, Attempts, Policy
from loopcli.run.journal import Previous
from loopcli.run.turn_records import Turn

# With the document's rule alone its own sentences are printed.
RUN = [sys.executable, "-m", "loopcli", "run", "-v", "--rules", "saturation"]
RUN += ["--backoff-base", "0.01"]
KEY = "sk-or-v1-0123456789abcdef"
ARMED = (
    "loopcheck: loop detection: armed — a reply is abandoned after 3000 consecutive words during "
    "which 2 or more words have each occurred more than 32 times in the last 256, or once it "
    "passes 250000 characters"
)
DETAIL = (
    "2 words repeated across 3000 consecutive words, 3065 words into the reply "
    "(3065 words, 12261 characters read before it was abandoned)"
)


def run(
    *arguments: str | Path, stdin: bytes = b"the request", **more: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        list(map(str, [*RUN, *arguments])),
        input=stdin,
        capture_output=True,
        env=environ(**more),
        timeout=PATIENCE,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def ask(server: Provider, *options: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return run(*options, "--", *ask_command(server.url), **more)


def text_of(stream: str) -> str:
    """The reply in a stream that was printed with its head."""
    assert stream.startswith("HTTP/1")
    deltas = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    return "".join(doc["choices"][0]["delta"].get("content", "") for doc in deltas)


def lines(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for record in found:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", record.pop("at"))
    return found


def retry_line(made: int, most: int, cause: str) -> str:
    seconds = 0.01 * 2 ** (made - 1)
    return (
        f"loopcheck: warning: model request attempt {made} of {most} failed ({cause}); "
        f"retrying in {seconds:.1f}s"
    )


# A reply after loops


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_reply_after_k_loops_is_the_clean_one(k: int, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with provider(*[loops()] * k, answers()) as server:
        done = ask(server, "--journal", journal, "--session", "s")
    assert done.returncode == 0
    assert text_of(done.stdout) == "All is well. "
    assert "gen-loop" not in done.stdout
    assert [body for _, _, body in server.requests] == [b"the request"] * (k + 1)
    retries = [retry_line(i, 11, f"abandoned a looping reply: {DETAIL}") for i in range(1, k + 1)]
    told = [ARMED, *retries]
    figures = {}
    if k:
        plural = "s" if k > 1 else ""
        told.append(
            f"loopcheck: warning: loop detection discarded {k} looping model response{plural} on "
            f"turn 1 before one completed, throwing away {3065 * k} words of generated output "
            f"({12261 * k} characters); it was all paid for and none of it entered the context."
        )
        figures = {"loopAborts": k, "loopAbortWords": 3065 * k, "loopAbortChars": 12261 * k}
    assert done.stderr.splitlines() == told
    assert lines(journal) == [
        {
            "type": "turn_outcome",
            "outcome": "progressed",
            "consecutiveErrors": 0,
            "turns": 1,
            **figures,
            "responseChars": 13,
            "responseOutputTokens": 7,
            "session": "s",
            "model": "m/one",
        }
    ]


def test_loops_beyond_the_retries(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with provider(loops()) as server:
        done = ask(server, "--journal", journal, "--retries", "3", "--turn", "14")
    assert done.returncode == 123
    assert done.stdout == ""
    assert len(server.requests) == 4
    failure = (
        f"model turn 14 — model looped every attempt: model looped: {DETAIL}; "
        "discarded 4 response(s) totalling 49044 characters of generated output"
    )
    assert done.stderr.splitlines()[-1] == f"loopcheck: {failure}"
    assert lines(journal) == [
        {
            "type": "turn_outcome",
            "outcome": "error",
            "error": "model_api",
            "errorType": "model_response_loop",
            "consecutiveErrors": 1,
            "turns": 14,
            "loopAborts": 4,
            "loopAbortWords": 12260,
            "loopAbortChars": 49044,
            "model": "m/one",
        },
        {
            "type": "model_error",
            "kind": "response_loop",
            "turn": 14,
            "message": failure,
            "discarded": 4,
            "discardedWords": 12260,
            "discardedChars": 49044,
            "model": "m/one",
        },
    ]


def test_the_default_rules_throw_away_less(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    default = ["--rules", "saturation,period", "--journal", journal]
    with provider(*[loops()] * 3, answers()) as server:
        done = ask(server, *default, "--retries", "3")
    assert (done.returncode, text_of(done.stdout)) == (0, "All is well. ")
    told = done.stderr.splitlines()
    assert len(told) == 5
    assert "; or after 640 characters that only copy" in told[0]
    assert "discarded 3 looping replies before this one: 486 words, 1944 characters" in told[4]
    (record,) = lines(journal)
    assert [record[f"loopAbort{what}"] for what in ("s", "Words", "Chars")] == [3, 486, 1944]
    with provider(loops()) as server:
        done = ask(server, *default, "--retries", "3")
    assert done.returncode == 123
    assert done.stderr.endswith(
        "no reply after 4 attempts; the last: stopped a loop in chat over sse (period, letters): "
        '"void 0;\\n" × 81 since character 0; 4 looped, 2592 characters discarded\n'
    )


def test_the_loop_that_the_server_found_is_a_loop() -> None:
    with provider(ends("repetition"), answers()) as server:
        done = ask(server)
    assert (done.returncode, text_of(done.stdout)) == (0, "All is well. ")
    detail = "the server ended the reply as a repetition: "
    assert f"(abandoned a looping reply: {detail}" in done.stderr
    assert "(1 word, 5 characters read before it was abandoned)" in done.stderr


def test_the_server_sees_a_loop_dropped() -> None:
    with provider(loops(), answers()) as server:
        ask(server)
        until(lambda: server.dropped == 1, "the server sees that its client has gone")


# Other failures


CAUSES: dict[str, tuple[Reply, str]] = {
    "429": (says(429, "slow down\n"), "HTTP 429: slow down"),
    "503": (says(503), "HTTP 503"),
    "a long error": (says(500, "x" * 3000), f"HTTP 500: {'x' * 2000}…"),
    "an error inside": (
        fails_inside(502),
        "provider returned an error object: The provider closed the connection (code 502)",
    ),
    "a reason that is a failure": (
        ends("insufficient_system_resource"),
        "the reply ended as insufficient_system_resource",
    ),
    "cut": (cuts, "stream interrupted: it ended without a finish_reason or [DONE]"),
}


@pytest.mark.parametrize("name", CAUSES)
def test_what_may_pass_is_asked_again(name: str) -> None:
    reply, cause = CAUSES[name]
    with provider(reply, answers()) as server:
        done = ask(server)
    assert done.returncode == 0
    assert text_of(done.stdout) == "All is well. "
    assert done.stderr.splitlines()[1:] == [retry_line(1, 11, cause)]


FATAL: dict[str, tuple[Reply, str]] = {
    "302": (says(302, Location="http://127.0.0.1:1/"), "HTTP 302 (curl follows redirects with -L)"),
    "401": (says(401, "no key"), "HTTP 401: no key"),
    "an error inside": (
        fails_inside(400, "no"),
        "provider returned an error object: no (code 400)",
    ),
    "a reason that is a failure": (ends("error"), "the reply ended as error"),
    "malformed": (
        says(200, "data: {not json\n\n"),
        "line 5: a data line that is neither JSON nor [DONE]: {not json",
    ),
}


@pytest.mark.parametrize("name", FATAL)
def test_what_will_not_pass_ends_it(name: str) -> None:
    reply, cause = FATAL[name]
    with provider(reply, answers()) as server:
        done = ask(server)
        assert len(server.requests) == 1
    assert (done.returncode, done.stdout) == (122, "")
    assert done.stderr.splitlines()[1:] == [f"loopcheck: model turn 1 — {cause}"]


def test_retry_after_is_heeded() -> None:
    with provider(says(429, Retry_After="1"), answers()) as server:
        started = time.monotonic()
        done = ask(server)
    assert done.returncode == 0
    assert time.monotonic() - started > 1
    assert "retrying in 1.0s" in done.stderr


def test_a_stall_names_the_provider() -> None:
    event = threading.Event()
    with provider(hangs(event), answers()) as server:
        done = ask(server, "--idle-timeout", "4")
        event.set()
    assert done.returncode == 0
    cause = "the stream stalled: no delta from the model for 4s (provider: Northlake)"
    assert done.stderr.splitlines()[1:] == [retry_line(1, 11, cause)]


def test_a_connection_that_stays_open_after_the_end_mark() -> None:
    event = threading.Event()

    def stays(handler: Handler) -> None:
        answers()(handler)
        handler.wfile.flush()
        event.wait(PATIENCE)

    with provider(stays) as server:
        done = ask(server, "--idle-timeout", "4")
        event.set()
        assert len(server.requests) == 1
    assert (done.returncode, text_of(done.stdout)) == (0, "All is well. ")
    assert done.stderr.splitlines()[1:] == []


def test_a_loop_before_another_failure_is_the_reason(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with provider(loops(), says(401, "no key")) as server:
        done = ask(server, "--journal", journal)
    assert done.returncode == 123
    assert lines(journal)[0]["model"] == "m/one"
    assert done.stderr.splitlines()[-2] == "loopcheck: the last attempt failed: HTTP 401: no key"
    assert "discarded 1 response(s) totalling 12261 characters" in done.stderr


def test_what_a_peer_wrote_is_escaped() -> None:
    with provider(says(401, "\x1b[2Jgone\nline")) as server:
        done = ask(server)
    assert done.stderr.endswith("HTTP 401: \\u001b[2Jgone\\nline\n")


# Standard input, standard output


def test_a_large_request_reaches_every_attempt(tmp_path: Path) -> None:
    request = os.urandom(300_000)
    log = tmp_path / "log"
    done = run("--retry-on", "9", "--retries", "2", "--", "sh", "-c", f"sha256sum >> {log}; exit 9")
    empty = log.read_text().splitlines()
    log.unlink()
    done = run(
        "--retry-on", "9", "--retries", "2", "--", "sh", "-c", f"cat | sha256sum >> {log}; exit 9",
        stdin=request,
    )  # fmt: skip
    sums = log.read_text().splitlines()
    assert done.returncode == 9
    assert len(sums) == 3
    assert len(set(sums)) == 1
    assert sums[0] != empty[0]


FAILURES = {
    "an HTTP error": "printf 'HTTP/1.1 404 Not Found\\r\\n\\r\\nno'",
    "an error object": 'printf \'data: {"error":{"message":"no","code":400}}\\n\\n\'',
    "a malformed stream": "printf 'data: {\\n\\n'",
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize(("retry_on", "attempts"), [("22", 3), ("23", 1)])
def test_a_status_that_is_named_is_asked_again_whatever_was_seen(
    name: str, retry_on: str, attempts: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    child = f"echo x >> {log}; {FAILURES[name]}; exit 22"
    done = run(
        "--retry-on", retry_on, "--retries", "2", "--backoff-base", "0", "--", "sh", "-c", child
    )
    assert done.returncode == 122
    assert len(log.read_text().splitlines()) == attempts


def test_a_terminal_is_not_read() -> None:
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [*RUN, "cat"], stdin=theirs, capture_output=True, env=environ(), timeout=PATIENCE
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_reply_that_is_not_utf8_is_printed_as_it_came() -> None:
    # More than is held in memory.
    raw = os.urandom(9_000_000)
    done = subprocess.run(
        [*RUN, "--max-response-chars", "0", "--", "cat"],
        input=raw,
        capture_output=True,
        env=environ(),
    )
    assert done.returncode == 0
    assert done.stdout == raw


def test_a_command_keeps_its_own_options() -> None:
    done = run("sh", "-c", 'echo "$@"', "sh", "--retries", "0", "-q", "--", "--help")
    assert done.stdout == "--retries 0 -q -- --help\n"


def test_streaming_shows_the_beginning_of_a_loop_and_asks_once() -> None:
    done = run("--stream", "--", "yes", "void 0;")
    assert done.returncode == 123
    assert len(done.stdout) == 12_261
    assert "retrying" not in done.stderr


def test_a_loop_is_found_when_the_end_tells_what_the_input_was() -> None:
    # What begins like a comment of an event stream is held back until the end.
    done = run("--retries", "0", "--", "printf", "%s", ":" + " void 0;" * 1600)
    assert done.returncode == 123


# Usage


USAGE = {
    "nothing to run": ([], "Missing argument 'COMMAND...'"),
    "unknown option": (["--nosuch", "true"], "No such option"),
    "a knob": (["--window-words", "0", "true"], "--window-words = `0`"),
    "retries": (["--retries", "-1", "true"], "--retries"),
    "seconds": (["--timeout", "soon", "true"], "`soon` is not a number of seconds"),
    "statuses": (["--retry-on", "7,0", "true"], "`0` is not an exit status"),
    "no statuses": (["--retry-on", "", "true"], "`` is not an exit status"),
    "a status left out": (["--retry-on", "7,,8", "true"], "`` is not an exit status"),
    "stream and retries": (["--stream", "--retries", "3", "true"], "exclude each other"),
    "agent alone": (["--agent", "a", "true"], "--agent picks a profile of --config"),
    "no such profile file": (["--config", "nosuch.json", "true"], "nosuch.json: No such file"),
    "journal": (["--journal", "no/such/dir", "true"], "no/such/dir: No such file"),
}


@pytest.mark.parametrize("name", USAGE)
def test_what_is_ours_is_125(name: str) -> None:
    arguments, message = USAGE[name]
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (125, "")
    assert message in done.stderr
    assert "bug" not in done.stderr


# The price


def priced(cost: float) -> Reply:
    return says(200, json.dumps({"data": {"total_cost": cost, "provider_name": "Northlake"}}))


def price(
    replies: Sequence[Reply], records: Sequence[Reply], *options: str | Path, **more: str
) -> tuple[subprocess.CompletedProcess[str], Provider]:
    with provider(*replies) as server, provider(*records) as generations:
        url = generations.url + "/generation"
        more = {"THE_KEY": KEY} | more
        done = ask(
            server, "--price", "--generation-url", url, "--api-key-env", "THE_KEY", *options, **more
        )
    return done, generations


def test_what_the_loops_cost_is_recorded(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    replies = [loops("gen-a"), loops("gen b&c"), answers(cost=0.25)]
    done, generations = price(
        replies, [priced(0.35), says(500)], "--journal", journal, "--model", "mine"
    )
    assert done.returncode == 0
    assert [path for path, _, _ in generations.requests] == [
        "/v1/generation?id=gen-a",
        "/v1/generation?id=gen%20b%26c",
    ]
    for _, headers, _ in generations.requests:
        assert headers["Authorization"] == f"Bearer {KEY}"
    assert done.stderr.splitlines()[-1] == (
        "loopcheck: loop detection: 2 discarded responses cost 0.35; 1 of them could not be priced"
    )
    turn, costs = lines(journal)
    assert (turn["totalCost"], turn["workCost"]) == (0.25, 0.25)
    assert {key: costs[key] for key in ("type", "turn", "totalCost", "workCost")} == {
        "type": "abandoned_replies",
        "turn": 1,
        "totalCost": 0.35,
        "workCost": 0,
    }
    assert (costs["loopAbortPriced"], costs["loopAbortUnpriced"]) == (1, 1)
    first, second = costs["replies"]
    assert (first["generationId"], first["words"], first["chars"]) == ("gen-a", 3065, 12261)
    assert (first["cost"], first["model"], first["provider"]) == (0.35, "mine", "Northlake")
    assert (second["generationId"], second["cost"]) == ("gen b&c", None)
    assert KEY not in done.stdout + done.stderr + journal.read_text()


def test_a_key_that_comes_back_is_not_written(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    echo = says(200, json.dumps({"data": {"total_cost": 1, "auth": f"Bearer {KEY}"}}))
    done, _ = price([loops(), answers()], [echo], "--journal", journal)
    assert done.stderr.endswith("1 discarded response cost 1\n")
    assert lines(journal)[-1]["replies"][0]["record"]["auth"] == "Bearer ***"


def test_a_reply_without_an_id_counts_as_unpriced(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    done = run(
        "--price", "--retries", "0", "--journal", journal, "--", "yes", "void 0;",
        OPENROUTER_API_KEY=KEY,
    )  # fmt: skip
    assert done.returncode == 123
    assert done.stderr.endswith("loop detection: 1 discarded response could not be priced\n")
    assert lines(journal)[-1]["loopAbortUnpriced"] == 1


def test_nothing_is_looked_up_without_a_loop() -> None:
    done, generations = price([answers()], [priced(1)])
    assert done.returncode == 0
    assert not generations.requests


BAD_KEYS = {
    "unset": ({}, "THE_KEY"),
    "empty": ({"THE_KEY": ""}, "THE_KEY"),
    "with a line end": ({"THE_KEY": f"{KEY}\n"}, "THE_KEY"),
    "not ASCII": ({"THE_KEY": f"{KEY}ü"}, "THE_KEY"),
    "in place of its name": ({}, KEY),
    "in place of its name, like a name": ({}, "sk_0123456789abcdef"),
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_a_key_that_is_refused_is_not_shown(name: str) -> None:
    variables, variable = BAD_KEYS[name]
    done = run("--price", "--api-key-env", variable, "true", **variables)
    assert done.returncode == 125
    assert "0123456789abcdef" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1", "http://", "http://[::1",
        "http://127.0.0.1:abc/", "http://127.0.0.1:99999/", "http://127.0.0.1:0/",
        "http://127.0.0.1/a b", "http://127.0.0.1/\n", "http://h\u00f6st/", "http://me@127.0.0.1/",
        "http://127.0.0.1/v1#top", "http://127.0.0.1/v1#",
    ],
)  # fmt: skip
def test_an_address_that_is_none(url: str) -> None:
    done = run("--price", "--generation-url", url, "true", OPENROUTER_API_KEY=KEY)
    assert done.returncode == 125
    assert done.stderr.startswith("loopcheck: --generation-url: not an address")
    assert KEY not in done.stderr


# The records of turns that a server cannot bring about


def test_an_interrupted_turn_is_nobodys_error() -> None:
    attempts = Attempts(Policy())
    attempts.take(AttemptOutcome(AttemptKind.LOOPED, words=5, chars=50, retryable=True))
    turn = Turn(attempts, 3, "s", "", 0.0, interrupted=True)
    assert turn_records.of_turn(turn, Previous(2, 1)) == [
        {
            "type": "turn_outcome",
            "outcome": "fatal",
            "errorType": "interrupted",
            "consecutiveErrors": 1,
            "turns": 3,
            "loopAborts": 1,
            "loopAbortWords": 5,
            "loopAbortChars": 50,
            "session": "s",
            "at": "1970-01-01T00:00:00.000+00:00",
        }
    ]


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"completion_tokens": 300, "completion_tokens_details": {"reasoning_tokens": 120}}, 180),
        ({"output_tokens": 300, "output_tokens_details": {"reasoning_tokens": 120}}, 180),
        ({"output_tokens": 300}, 300),
        ({"completion_tokens": "many"}, None),
        ({}, None),
    ],
)
def test_the_tokens_of_an_answer(usage: dict[str, Any], tokens: int | None) -> None:
    attempts = Attempts(Policy())
    attempts.take(AttemptOutcome(AttemptKind.ANSWERED, usage=usage))
    (record,) = turn_records.of_turn(Turn(attempts, 1, "", "", 0.0), Previous())
    assert record.get("responseOutputTokens") == tokens


@pytest.mark.parametrize("kind", [kind for kind in AttemptKind if kind is not AttemptKind.ANSWERED])
def test_every_failure_has_a_type(kind: AttemptKind) -> None:
    attempts = Attempts(Policy())
    attempts.take(AttemptOutcome(kind, "cause"))
    (record, *_) = turn_records.of_turn(Turn(attempts, 1, "", "", 0.0), Previous(4, 2))
    assert record["error"] == "model_api"
    assert record["errorType"].startswith(("model_", "command_"))
    assert record["consecutiveErrors"] == 3


@pytest.mark.parametrize(
    ("name", "status", "options", "runs"),
    [
        ("curl", 7, [], 3),
        ("curl", 56, [], 3),
        ("curl", 22, [], 1),
        ("wget", 7, [], 1),
        ("curl", 7, ["--retry-on", "22"], 1),
        ("curl", 22, ["--retry-on", "22"], 3),
    ],
)
def test_what_curl_failed_to_fetch_is_fetched_again(
    name: str, status: int, options: list[str], runs: int, tmp_path: Path
) -> None:
    command = tmp_path / name
    command.write_text(f"#!/bin/sh\necho x >> {tmp_path}/log\nexit {status}\n")
    command.chmod(0o755)
    done = loopcheck("run", "-q", "--retries=2", "--backoff-base=0", *options, str(command))
    assert done.returncode == status
    assert (tmp_path / "log").read_text() == "x\n" * runs
