"""The retry loop with an injected sleep: schedules, tallies, texts, statuses."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from loopcli.detector import Detector
from loopcli.events import HttpHead, Meta
from loopcli.readers.detection.auto import reader
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.table import configs
from loopcli.run.attempt import AttemptRunner, AttemptSettings
from loopcli.run.attempts import AttemptKind, AttemptOutcome, Attempts, Policy, ask
from loopcli.settings.arming import Settings
from loopcli.status import RunStatus
from loopcli.system.signals import Signals
from loopcli.watch import Watch

VOID = (
    "2 words repeated across 3000 consecutive words, 3065 words into the reply "
    "(3065 words, 12261 characters read before it was abandoned)"
)
SATURATION = Settings(("saturation",), configs({}), None)
DONE = AttemptOutcome(AttemptKind.ANSWERED)
LOOP = AttemptOutcome(
    AttemptKind.LOOPED,
    f"abandoned a looping reply: {VOID}",
    retryable=True,
    detail=VOID,
    words=3065,
    chars=12261,
)
STALL = AttemptOutcome(AttemptKind.STALLED, "the stream stalled", retryable=True)
NOW = 1_700_000_000.0
BUSY = AttemptOutcome(AttemptKind.HTTP, "HTTP 503", retryable=True, head=HttpHead(503))
DENIED = AttemptOutcome(AttemptKind.HTTP, "HTTP 401: no key", head=HttpHead(401))


class Told(NamedTuple):
    attempts: Attempts
    waits: list[float]
    warnings: list[str]


def told(outcomes: Sequence[AttemptOutcome], policy: Policy | None = None) -> Told:
    attempts, waits, warnings = Attempts(policy or Policy()), [], []
    left = iter(outcomes)
    ask(
        attempts,
        lambda: next(left),
        waits.append,
        lambda seconds: warnings.append(attempts.retry_line(seconds)),
        lambda: NOW,
    )
    assert next(left, None) is None, "not every attempt was made"
    return Told(attempts, waits, warnings)


# The schedule


def response(status: int, retry_after: str = "") -> str:
    after = f"Retry-After: {retry_after}\\r\\n" if retry_after else ""
    return f"HTTP/1.1 {status} X\\r\\n{after}\\r\\nbody"


@pytest.fixture
def signals() -> Iterator[Signals]:
    with Signals() as entered:
        yield entered


SCHEDULES = [
    # Transport vector (j).
    (["429", "502", "503 120", "200"], Policy(), [1, 2, 120], 0),
    (["429 45", "200"], Policy(), [45], 0),
    (["500 120", "200"], Policy(), [1], 0),
    (["503"] * 4, Policy(retries=3, maximum=2), [1, 2, 2], 122),
    (["503 20", "502", "502"], Policy(retries=2), [20, 2], 122),
    # And around it: fractions, a date that has passed, no less than the schedule.
    (["429 1.5", "429 Fri, 31 Dec 1999 23:59:59 GMT", "529 -4", "200"], Policy(), [1.5, 2, 4], 0),
    (["429", "429", "429 3", "200"], Policy(), [1, 2, 4], 0),
    (["401"], Policy(), [], 122),
    (["404 7"], Policy(), [], 122),
    (["503"], Policy(retries=0), [], 122),
]


@pytest.mark.parametrize(("script", "policy", "waits", "status"), SCHEDULES)
def test_the_schedule_of_responses(
    script: list[str], policy: Policy, waits: list[float], status: int, signals: Signals
) -> None:
    requests, slept = list(script), []

    def attempt() -> AttemptOutcome:
        code, _, after = requests.pop(0).partition(" ")
        command = ["printf", response(int(code), after)]
        with open(os.devnull) as nothing:
            launch = AttemptRunner(
                command,
                nothing.fileno(),
                AttemptSettings(),
                lambda: Watch(reader("auto"), Detector([])),
                signals,
                pytest.fail,
            )
            outcome = launch.attempt()
            launch.output.drop()
            return outcome

    attempts = Attempts(policy)
    ask(attempts, attempt, slept.append, lambda _: None, lambda: NOW)
    assert not requests
    assert slept == waits
    assert attempts.status == status


SENT = "Tue, 14 Nov 2023 22:13:20 GMT"  # NOW
LATER = "Tue, 14 Nov 2023 22:14:05 GMT"  # 45 seconds after it


@pytest.mark.parametrize(
    ("head", "wait"),
    [
        (HttpHead(429, "7"), 7),
        (HttpHead(503, "2.5"), 2.5),
        (HttpHead(529, "4"), 4),
        (HttpHead(500, "7"), 1),
        (HttpHead(429, "0"), 1),
        (HttpHead(429, "-3"), 1),
        (HttpHead(429, "soon"), 1),
        (HttpHead(429, "1e9"), 1),
        (HttpHead(429, "nan"), 1),
        (HttpHead(429, "³"), 1),
        (HttpHead(429, "9", retry_after_ms="1500"), 1.5),
        (HttpHead(429, "9", retry_after_ms="many"), 9),
        # A date: by the server's own clock, or by ours.
        (HttpHead(429, LATER, date=SENT), 45),
        (HttpHead(429, LATER), 45),
        (HttpHead(429, LATER, date="Tue, 14 Nov 2023 22:14:00 GMT"), 5),
        (HttpHead(429, SENT, date=LATER), 1),
        (HttpHead(429, "Tue, 99 Nov 2023 22:14:00 GMT"), 1),
        # Bounded.
        (HttpHead(429, "86400"), 300),
        (HttpHead(429, "Tue, 14 Nov 2093 22:14:05 GMT", date=SENT), 300),
    ],
    ids=str,
)
def test_a_server_may_ask_for_a_wait(head: HttpHead, wait: float) -> None:
    busy = BUSY._replace(head=head)
    assert told([busy, DONE]).waits == [wait]


def test_the_longest_wait_can_be_set() -> None:
    busy = BUSY._replace(head=HttpHead(429, "86400"))
    assert told([busy, DONE], Policy(most_asked=3600)).waits == [3600]
    assert told([busy, DONE], Policy(most_asked=0)).waits == [1]


@pytest.mark.parametrize(("retries", "total"), [(10, 303), (30, 1503)])
def test_the_sum_of_the_waits(retries: int, total: int) -> None:
    assert sum(told([STALL] * (retries + 1), Policy(retries)).waits) == total


def test_the_schedule_without_an_end() -> None:
    policy = Policy(retries=10**6, maximum=1e300)
    assert policy.delay(10**6) == 1e300
    assert Policy(base=0).delay(5) == 0


# What was thrown away


def test_four_attempts_that_all_loop() -> None:
    # Golden vector 30.
    attempts, _, warnings = told([LOOP] * 4, Policy(retries=3))
    assert attempts.tally == (4, 12_260, 49_044)
    assert attempts.status == RunStatus.LOOPED
    assert attempts.failure(14) == (
        f"model turn 14 — model looped every attempt: model looped: {VOID}; "
        "discarded 4 response(s) totalling 49044 characters of generated output"
    )
    assert warnings[1] == (
        f"model request attempt 2 of 4 failed (abandoned a looping reply: {VOID}); retrying in 2.0s"
    )
    assert len(warnings) == 3


def test_the_warning_before_an_answer() -> None:
    other = LOOP._replace(words=3065, chars=26_639)
    attempts = told([LOOP, other, DONE]).attempts
    assert attempts.status == 0
    assert attempts.discarded_line(14) == (
        "loop detection discarded 2 looping model responses on turn 14 before one completed, "
        "throwing away 6130 words of generated output (38900 characters); it was all paid for "
        "and none of it entered the context."
    )
    assert (
        told([LOOP, DONE])
        .attempts.discarded_line(1)
        .startswith("loop detection discarded 1 looping model response on turn 1 before")
    )
    assert told([DONE]).attempts.discarded_line(1) == ""


def test_one_loop_names_the_failure_whatever_came_last() -> None:
    attempts = told([STALL, LOOP, BUSY], Policy(retries=2)).attempts
    assert attempts.status == RunStatus.LOOPED
    assert attempts.tally == (1, 3065, 12_261)
    assert "discarded 1 response(s) totalling 12261 characters" in attempts.failure(1)


OWN = AttemptOutcome(AttemptKind.EXITED, "the command ended with status 7", exit_status=7)
ENDS = [
    ([STALL, STALL], 124, "retries exhausted: all 2 attempts failed, the last: the stream stalled"),
    (
        [AttemptOutcome(AttemptKind.CEILING, "no end after 900 s (--timeout)")],
        124,
        "no end after 900 s",
    ),
    ([STALL, BUSY], 122, "the last: HTTP 503"),
    ([DENIED], 122, "HTTP 401: no key"),
    (
        [AttemptOutcome(AttemptKind.CUT, "stream interrupted", retryable=True)] * 2,
        122,
        "stream interrupted",
    ),
    ([AttemptOutcome(AttemptKind.MALFORMED, "line 3: no JSON")], 122, "line 3: no JSON"),
    (
        [AttemptOutcome(AttemptKind.UPSTREAM, "provider returned an error object: x")],
        122,
        "error object",
    ),
    ([OWN], 7, "the command ended with status 7"),
    ([OWN._replace(retryable=True)] * 2, 7, "all 2 attempts failed"),
    ([LOOP, OWN], 123, "model looped every attempt"),
    ([LOOP, DENIED], 123, "model looped every attempt"),
]


@pytest.mark.parametrize(("outcomes", "status", "text"), ENDS)
def test_each_end_has_its_status(outcomes: list[AttemptOutcome], status: int, text: str) -> None:
    attempts = told(outcomes, Policy(retries=1)).attempts
    assert attempts.status == status
    assert attempts.failure(3).startswith("model turn 3 — ")
    assert text in attempts.failure(3)


def test_every_attempt_has_a_fresh_detector(signals: Signals) -> None:
    # 2,000 words of a loop an attempt: two would trip one detector.
    made = []

    def make() -> Watch:
        rules = SATURATION.rules()
        made.append(Watch(reader("auto"), Detector(rules)))
        return made[-1]

    command = ["sh", "-c", "yes 'void 0;' | head -n 1000; exit 9"]
    with open(os.devnull) as nothing:
        settings = AttemptSettings(retry_on=frozenset({9}))
        launch = AttemptRunner(command, nothing.fileno(), settings, make, signals, pytest.fail)
        attempts = Attempts(Policy(retries=2))
        ask(attempts, launch.attempt, lambda _: None, lambda _: None, lambda: NOW)
    assert [watch.detector.totals()[0] for watch in made] == [2000, 2000, 2000]
    assert attempts.status == 9


def test_what_is_thrown_away_counts_every_choice() -> None:
    rules = SATURATION._replace(
        configs=configs({}) | {"saturation": SaturationConfig(8, 3, 2, 6, 0)}
    ).rules()
    watch = Watch(reader("sse"), Detector(rules))
    choices = [
        {"index": 1, "delta": {"content": "five words of another choice "}},
        {"index": 0, "delta": {"content": "void 0; " * 20}},
    ]
    document = json.dumps({"id": "x", "choices": choices})
    found = watch.feed(f"data: {document}\n\n".encode())
    assert len([ruling for _, rulings in found for ruling in rulings]) == 1
    assert watch.detector.totals() == (13 + 5, 53 + 29)


def test_an_abandoned_reply_keeps_its_id(signals: Signals) -> None:
    # Transport vector (l).
    choice = {"index": 0, "delta": {"content": "void 0;\n"}}
    document = {"id": "gen-loop", "model": "m/one", "choices": [choice]}
    event = f"data: {json.dumps(document)}\n"
    rules = SATURATION.rules()
    with open(os.devnull) as nothing:
        launch = AttemptRunner(
            ["yes", event],
            nothing.fileno(),
            AttemptSettings(),
            lambda: Watch(reader("auto"), Detector(rules)),
            signals,
            pytest.fail,
        )
        outcome = launch.attempt()
    assert outcome.kind is AttemptKind.LOOPED
    assert (outcome.words, outcome.chars) == (3065, 12_261)
    assert outcome.meta == Meta("gen-loop", "m/one")
