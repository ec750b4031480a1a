"""The plain lines of ``run``: one clause a fact, and the provider's own sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from processes import loopcheck
from servers import Reply, answers, cuts, ends, fails_inside, loops, provider, says
from servers import ask_command as ask

from loopcli.run.attempts import AttemptKind, AttemptOutcome, Attempts, Policy
from loopcli.run.messages import DocumentMessages, PlainMessages
from loopcli.verdicts import Verdict
from loopcli.watch import PlacedVerdict

FACTS = {"unit_kind": "letters", "copies": 81}
VERDICT = Verdict("period", "repetition", "x", 3, 648, 8, 640, 640, None, 0, ("void 0;",), FACTS)
SAID = 'stopped a loop (period, letters): "void 0;" × 81 since character 0'
LOOP = AttemptOutcome(
    AttemptKind.LOOPED,
    "abandoned a looping reply: x",
    retryable=True,
    plain=SAID,
    detail="x",
    words=81,
    chars=648,
    tripped=PlacedVerdict(VERDICT, 648),
)
BUSY = AttemptOutcome(
    AttemptKind.HTTP, 'HTTP 503: {"error"…', retryable=True, plain="HTTP 503: busy"
)
STALL = AttemptOutcome(AttemptKind.STALLED, "the stream stalled", retryable=True)
DONE = AttemptOutcome(AttemptKind.ANSWERED)


def after(*outcomes: AttemptOutcome, retries: int = 9) -> Attempts:
    attempts = Attempts(Policy(retries))
    for outcome in outcomes:
        attempts.take(outcome)
    return attempts


@pytest.mark.parametrize(
    ("outcomes", "line"),
    [
        ([LOOP], f"attempt 1 of 10: {SAID}; retrying in 1.0 s"),
        ([LOOP, BUSY], "attempt 2 of 10 failed: HTTP 503: busy; retrying in 2.0 s"),
        (
            [BUSY._replace(plain="HTTP 503: Busy.")],
            "attempt 1 of 10 failed: HTTP 503: Busy; retrying in 1.0 s",
        ),
        ([STALL], "attempt 1 of 10 failed: the stream stalled; retrying in 1.0 s"),
    ],
)
def test_before_another_attempt(outcomes: list[AttemptOutcome], line: str) -> None:
    attempts = after(*outcomes)
    assert PlainMessages().retry(attempts, 2.0 ** (len(outcomes) - 1)) == line


@pytest.mark.parametrize(
    ("outcomes", "line"),
    [
        ([BUSY], "the attempt failed: HTTP 503: busy"),
        ([LOOP], SAID),
        ([BUSY, BUSY], "no reply after 2 attempts; the last failed: HTTP 503: busy"),
        (
            [LOOP, LOOP],
            f"no reply after 2 attempts; the last: {SAID}; 2 looped, 1296 characters discarded",
        ),
        (
            [LOOP, BUSY],
            "no reply after 2 attempts; the last failed: HTTP 503: busy; "
            "1 looped, 648 characters discarded",
        ),
    ],
)
def test_without_a_reply(outcomes: list[AttemptOutcome], line: str) -> None:
    assert PlainMessages().failure(after(*outcomes), 1) == [line]


def test_a_reply_after_loops() -> None:
    said = PlainMessages().discarded
    assert said(after(DONE), 1) == said(after(BUSY, DONE), 1) == ""
    assert said(after(LOOP, DONE), 1) == (
        "discarded 1 looping reply before this one: 81 words, 648 characters, which may be billed"
    )
    assert said(after(LOOP, LOOP, DONE), 1).startswith("discarded 2 looping replies before")


def test_the_document_speaks_in_its_own_words() -> None:
    document, attempts = DocumentMessages(), after(LOOP, BUSY)
    assert document.retry(attempts, 2) == attempts.retry_line(2)
    assert document.failure(attempts, 3) == [
        f"the last attempt failed: {BUSY.cause}",
        attempts.failure(3),
    ]


SAYS: dict[str, tuple[Reply, str]] = {
    "json": (says(401, '{"error":{"message":"No key."}}'), "HTTP 401: No key."),
    "text": (says(401, "no key\n"), "HTTP 401: no key"),
    "page": (says(404, "<html><title>404 Not Found</title></html>"), "HTTP 404: 404 Not Found"),
    "nothing": (says(403), "HTTP 403"),
    "inside": (fails_inside(400, "no"), "upstream error 400: no"),
    "an end": (ends("error"), "the reply ended as error"),
}


@pytest.mark.parametrize("name", SAYS)
def test_a_failure_is_one_line_with_the_sentence_of_the_provider(name: str) -> None:
    reply, sentence = SAYS[name]
    with provider(reply) as server:
        done = loopcheck("run", "--", *ask(server.url))
    assert (done.returncode, done.stdout) == (122, "")
    assert done.stderr == f"loopcheck: the attempt failed: {sentence}\n"


def test_a_turn_says_what_happened_and_nothing_else() -> None:
    with provider(cuts, loops(), answers()) as server:
        done = loopcheck("run", "--backoff-base", "0", "--", *ask(server.url))
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "loopcheck: warning: attempt 1 of 11 failed: the stream was cut: it ended without a "
        "finish_reason or [DONE]; retrying in 0.0 s",
        "loopcheck: warning: attempt 2 of 11: stopped a loop in chat over sse (period, letters): "
        '"void 0;\\n" × 81 since character 0; retrying in 0.0 s',
        "loopcheck: warning: discarded 1 looping reply before this one: 162 words, "
        "648 characters, which may be billed",
    ]


def test_a_key_that_a_reply_repeats_is_not_shown() -> None:
    key = "sk-or-v1-0123456789abcdef"
    done = loopcheck("run", "--retries", "0", "yes", key, OPENROUTER_API_KEY=key)
    assert done.returncode == 123
    assert "stopped a loop" in done.stderr
    assert key not in done.stderr


def test_a_clean_turn_says_nothing() -> None:
    assert loopcheck("run", "echo", "hello").stderr == ""
    armed = loopcheck("run", "-v", "echo", "hello").stderr
    assert armed.startswith("loopcheck: loop detection: armed")


@pytest.mark.parametrize("word", ["echo hello", " curl -sSN https://example.invalid/ "])
def test_a_command_in_one_pair_of_quotes(word: str) -> None:
    done = loopcheck("run", word)
    assert done.returncode == 127
    assert done.stderr.endswith("it was given as one word: leave out the quotes, or use sh -c\n")
    assert "one word" not in loopcheck("run", "no-such-command").stderr


def test_quiet_keeps_what_was_lost(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.write_text('{"type": "turn_outcome", "tur')
    done = loopcheck("run", "-q", "--journal", journal, "echo", "hello")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr == (
        f"loopcheck: warning: {journal}: the last line was torn; it does not count\n"
    )
    done = loopcheck("run", "-q", "--journal", "/dev/full", "echo", "hello")
    assert (done.returncode, done.stdout) == (125, "hello\n")
    assert "cannot record this turn" in done.stderr
    assert loopcheck("run", "-q", "no-such-command").stderr == ""


def chat(*texts: str) -> str:
    deltas = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    events = [f"data: {json.dumps(delta)}\n\n" for delta in deltas]
    return "".join(events) + "data: [DONE]\n\n"


@pytest.mark.parametrize("how", [[], ["--stream"]])
def test_the_text_is_printed(how: list[str]) -> None:
    done = loopcheck("run", *how, "--emit", "text", "cat", stdin=chat("All ", "is well."))
    assert (done.returncode, done.stdout, done.stderr) == (0, "All is well.", "")
    raw = chat("All ", "is well.")
    assert loopcheck("run", *how, "cat", stdin=raw).stdout == raw


def test_the_text_of_a_loop_ends_where_the_rule_fired() -> None:
    stdin = chat("round and round, " * 60)
    done = loopcheck("run", "--stream", "--emit", "text", "cat", stdin=stdin)
    assert done.returncode == 123
    assert ("round and round, " * 60).startswith(done.stdout)
    assert 600 < len(done.stdout) < 17 * 60
    assert loopcheck("run", "--retries", "0", "--emit", "text", "cat", stdin=stdin).stdout == ""


def test_the_report(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with provider(loops(), says(503, "busy"), answers()) as server:
        options = ["--report", str(path), "--backoff-base", "0"]
        done = loopcheck("run", *options, "--", *ask(server.url))
    assert done.returncode == 0
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["type"] for record in records] == (
        ["begin", "verdict", "attempt", "attempt", "attempt", "end"]
    )
    begin, verdict, *attempts, end = records
    assert set(begin["rules"]) == {"saturation", "period"}
    assert verdict["rule"] == "period"
    assert [record["kind"] for record in attempts] == ["looped", "http", "answered"]
    assert [record["attempt"] for record in attempts] == [1, 2, 3]
    assert [record["format"] for record in attempts][::2] == ["chat", "chat"]
    assert attempts[1]["message"] == "HTTP 503: busy"
    assert attempts[2]["message"] is None
    assert all(record["seconds"] > 0 for record in attempts)
    assert attempts[2]["first_byte_seconds"] <= attempts[2]["first_delta_seconds"]
    assert (end["status"], end["attempts"], end["looped"]) == (0, 3, 1)
    assert end["bytes_out"] == attempts[2]["bytes_in"] >= len(done.stdout)


def test_a_report_that_cannot_be_written() -> None:
    done = loopcheck("run", "-q", "--report", "/dev/full", "echo", "hello")
    assert (done.returncode, done.stdout) == (125, "hello\n")
    assert done.stderr.startswith("loopcheck: the report is incomplete: ")


def test_quiet_and_verbose() -> None:
    assert loopcheck("run", "-q", "-v", "true").returncode == 125
