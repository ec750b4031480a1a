"""Beside the document: results that are news, cycles, and what public reports say of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from session_scripts import Call, Script, streaks, verdicts

from loopcli.rules.streaks.config import StreaksConfig
from loopcli.rules.streaks.cycles import Cycles
from loopcli.rules.streaks.results import Results, is_passing, without_noise
from loopcli.session_events import SessionResult
from loopcli.session_setup import SessionSetup

POLL: Call = ("bash", {"command": "check"})
RESULTS = SessionSetup(results=True)


def poll(*results: str, setup: SessionSetup = RESULTS) -> list[int]:
    """The streak of the same call again and again, with these results."""
    script = Script(setup=setup)
    return [streaks(script.turn(POLL, results=[result]))[0] for result in results]


# --- Results -------------------------------------------------------------------------------------


def test_a_changed_result_ends_a_streak() -> None:
    assert poll("1", "2", "3", "4", "5") == [1, 2, 1, 1, 1]
    assert poll("1", "1", "2", "2", "2") == [1, 2, 3, 1, 2]
    assert poll("1", "1", "1", "1", "1") == [1, 2, 3, 4, 5]


def test_without_results_nothing_is_compared() -> None:
    assert poll("1", "2", "3", "4", setup=SessionSetup()) == [1, 2, 3, 4]


def test_a_result_that_is_missing_is_no_news() -> None:
    script = Script(setup=RESULTS)
    found = []
    for results in (["1"], [], ["1"], ["2"], ["2"]):
        found += streaks(script.turn(POLL, results=results))
    assert found == [1, 2, 3, 4, 1]


def test_an_error_is_news_and_an_error_like_the_last_is_not() -> None:
    script = Script(setup=RESULTS)
    error = SessionResult("", "", "no such file", True, 1, 1)
    found = [streaks(script.turn(POLL, results=[one]))[0] for one in ("ok", error, error, error)]
    assert found == [1, 2, 1, 2]


def test_of_a_round_only_the_call_with_news_begins_again() -> None:
    script = Script(setup=RESULTS)
    other: Call = ("bash", {"command": "ls"})
    found = [streaks(script.turn(POLL, other, results=[str(turn), "-"])) for turn in range(4)]
    # The round as a whole brought news, but the second call alone did not.
    assert found == [[1, 1], [2, 2], [1, 3], [1, 4]]


def test_equal_calls_of_a_round_may_be_answered_in_any_order() -> None:
    script = Script(setup=RESULTS)
    answers = [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"], ["b", "c"], ["a", "b"]]
    found = [streaks(script.turn(POLL, POLL, results=results))[0] for results in answers]
    assert found == [1, 2, 3, 4, 5, 1]


def test_a_failure_that_passes_is_retried_and_not_counted() -> None:
    script = Script(setup=RESULTS)
    busy = SessionResult("", "", "API error 529: Overloaded", True, 1, 1)
    assert [streaks(script.turn(POLL, results=[busy]))[0] for _ in range(9)] == [1] * 9
    assert [streaks(script.turn(POLL, results=["ok"]))[0] for _ in range(3)] == [1, 1, 2]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("429 Too Many Requests", True),
        ("HTTP 503", True),
        ("rate_limit_error", True),
        ("Internal Server Error", True),
        ("line 429: no such file", True),  # as good as a number can be
        ("exit status 1", False),
        ("command timed out", False),
        ("x" * 400 + " 503", False),
    ],
)
def test_failures_that_pass(text: str, passes: bool) -> None:
    assert is_passing(text, is_error=True) is passes
    assert not is_passing(text, is_error=False)


def codex(chunk: str, seconds: float, output: str) -> str:
    """A result as Codex hands it to the model."""
    return (
        f"Chunk ID: {chunk}\nWall time: {seconds:.4f} seconds\nProcess exited with code 0\n"
        f"Original token count: 5\nOutput:\n{output}"
    )


def gemini(group: int, output: str) -> str:
    """A result as Gemini CLI hands it to the model."""
    return f"<context>\nOutput: {output}\nProcess Group PGID: {group}\n</context>"


NOISE = {
    "Codex": lambda n, text: codex(f"f0a5{n}", n / 7, text),
    "Codex, still running": lambda n, text: (
        f"Chunk ID: {n}\nWall time: {n}.0 seconds\n"
        f"Process running with session ID {n}\nOutput:\n{text}"
    ),
    "older Codex": lambda n, text: (
        f'{{"output":"{text}","metadata":{{"exit_code":0,"duration_seconds":0.{n}}}}}'
    ),
    "Gemini CLI": lambda n, text: gemini(1300 + n, text),
    "a reminder": lambda n, text: f"{text}\n<system-reminder>{n} files\nopen</system-reminder>",
}


@pytest.mark.parametrize("program", NOISE)
def test_what_a_program_adds_to_results_is_no_news(program: str) -> None:
    wrapped = NOISE[program]
    assert poll(*(wrapped(n, "a.txt") for n in range(1, 6))) == [1, 2, 3, 4, 5]
    assert poll(*(wrapped(n, f"{n} files") for n in range(1, 6))) == [1, 2, 1, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "Wall time: 3 seconds\nand counting",  # printed by the tool, not by Codex
        "see Process Group PGID: 12",
        "Output:\nChunk ID: 7",
        "",
    ],
)
def test_what_a_tool_prints_is_kept(text: str) -> None:
    assert without_noise(text) == text


def test_the_results_of_a_round_are_a_sum() -> None:
    one = Results().add("a", False).add("b", False)
    assert one.last == Results().add("b", False).add("a", False).last
    assert one.shift() == Results(0, one.last)
    assert one.shift().shift() == one.shift()


# --- Cycles --------------------------------------------------------------------------------------


def times(rounds: str, longest: int = 5) -> list[int]:
    """How often a cycle has come after each round; rounds are letters."""
    cycles = Cycles(longest)
    return [cycle.times if (cycle := cycles.add(key, "t")) else 0 for key in rounds]


@pytest.mark.parametrize(
    ("rounds", "wanted"),
    [
        ("ABABABAB", [0, 0, 0, 2, 2, 3, 3, 4]),
        ("ABCABCABC", [0, 0, 0, 0, 0, 2, 2, 2, 3]),
        ("ABCDEABCDE", [0] * 9 + [2]),
        ("ABCDEFABCDEF", [0] * 12),
        ("AAAAAA", [0] * 6),
        ("AABAAB", [0, 0, 0, 0, 0, 2]),
        ("ABABCABAB", [0, 0, 0, 2, 0, 0, 0, 0, 2]),
        ("ABACADAEAF", [0] * 10),
    ],
)
def test_how_often_a_cycle_has_come(rounds: str, wanted: list[int]) -> None:
    assert times(rounds) == wanted


def test_shorter_cycles_only_and_none() -> None:
    assert times("ABCABC", longest=2) == [0] * 6
    assert times("ABABAB", longest=0) == [0] * 6


CYCLES = StreaksConfig()


def test_two_calls_of_one_tool_in_turn() -> None:
    script = Script(CYCLES)
    calls: list[Call] = [("read", {"path": "a"}), ("read", {"path": "b"})]
    found = [verdicts(script.turn(calls[turn % 2])) for turn in range(12)]
    assert found == [
        [], [], [], ["observe@2"], ["observe@2"],
        *[["block@3"]] * 2, *[["block@4"]] * 2, *[["block@5"]] * 2, ["stop@6"],
    ]  # fmt: skip
    (verdict,) = script.turn(calls[0]).verdicts
    assert verdict.reading.detection == "call-cycle"
    assert "the last 2 rounds (read, read) have now come 6 times" in verdict.message


def test_a_cycle_of_different_tools_is_a_streak_of_each_already() -> None:
    script = Script(CYCLES)
    calls: list[Call] = [("read", {}), ("edit", {})]
    rounds = [script.turn(calls[turn % 2]) for turn in range(8)]
    assert [verdicts(judged) for judged in rounds] == [
        [], [], ["observe@2"], ["observe@2"], ["block@3"], ["block@3"], ["block@4"], ["block@4"],
    ]  # fmt: skip


def test_a_cycle_whose_results_move_is_none() -> None:
    script = Script(CYCLES, RESULTS)
    calls: list[Call] = [("bash", {"command": "make"}), ("bash", {"command": "test"})]
    for turn in range(20):
        results = [f"{turn // 2} passed"] if turn % 2 else ["done"]
        assert "block" not in "".join(verdicts(script.turn(calls[turn % 2], results=results)))


def test_a_refused_call_is_no_part_of_a_cycle() -> None:
    script = Script(CYCLES)
    refused = SessionResult("", "", "no", True, 1, 1, denied=True)
    calls: list[Call] = [("read", {"path": "a"}), ("read", {"path": "b"})]
    for turn in range(3):
        script.turn(calls[turn % 2])
    script.turn(("read", {"path": "c"}), results=[refused])
    assert verdicts(script.turn(calls[1])) == ["observe@2"]


# --- Public reports ------------------------------------------------------------------------------

Turn = tuple[Call, str]


class Report(NamedTuple):
    """A session after a public report.

    ``document`` is the strongest action of the document's rules on it, ``ours``
    with results and cycles. ``blind`` says why the document's rules miss a loop.
    """

    turns: list[Turn]
    document: str
    ours: str
    blind: str = ""


def call(command: object) -> Call:
    """A call of a shell, which is most of what agents do."""
    return "bash", {"command": command}


def in_turn(*commands: object, times: int, result: str = "same") -> list[Turn]:
    """Commands one after the other, over and over, with one result."""
    return [(call(command), result) for _ in range(times) for command in commands]


def with_distractions(times: int) -> Iterator[Turn]:
    """A failing test with a different attempt to mend it after each run."""
    for n in range(times):
        yield call("test"), "1 failed"
        yield call(f"sed -i {n}"), ""


REPORTS = {
    # Loops.
    "A six times, then five times with one flag more": Report(
        [*in_turn("ls", times=6), *in_turn("ls -a", times=5)], "stop", "stop"
    ),
    "an empty file read 50 times": Report(
        in_turn("cat empty", times=50, result=""), "stop", "stop"
    ),
    "A, B, A, B": Report(
        in_turn("cat a", "cat b", times=6), "-", "stop", "other arguments end a streak"
    ),
    "a cycle of five steps": Report(
        in_turn("edit", "help", "run", "edit 2", "run 2", times=4, result="failed"),
        "-",
        "block",
        "other arguments end a streak",
    ),
    "a failing test between attempts": Report(
        list(with_distractions(8)), "-", "-", "each attempt ends the streak of the test"
    ),
    "one word changes in each call": Report(
        [(call(f"echo word{n}"), "") for n in range(50)], "-", "-", "no two calls are equal"
    ),
    "code that differs, with one error": Report(
        [(call(f"python -c 'x = {n}'"), "SyntaxError") for n in range(6)],
        "-",
        "-",
        "no two calls are equal",
    ),
    # No loops.
    "a shell that is polled, five of ten calls equal": Report(
        [(call("") if n % 2 else call(f"step {n}"), f"line {n}") for n in range(10)],
        "-",
        "-",
    ),
    "a status whose answer moves": Report(
        [(("CheckStatus", {"id": 7}), f"{n * 10} %") for n in range(10)], "stop", "observe"
    ),
    "a status whose answer does not move": Report(
        [(("CheckStatus", {"id": 7}), "pending")] * 5, "block", "block"
    ),
    "many files moved one by one": Report(
        [(("move", {"from": n, "to": f"{n}.txt"}), "ok") for n in range(40)], "-", "-"
    ),
    "memory recalled now and then": Report(
        [
            ((tool, {"q": "plan"} if tool == "recall" else {"n": n}), "notes")
            for n in range(5)
            for tool in ("recall", "edit")
        ],
        "block",
        "block",
    ),
    "one file read nine times in a long session": Report(
        [(("read", {"path": "a" if n % 16 == 0 else n}), "text") for n in range(144)], "-", "-"
    ),
}
STRENGTH = ["-", "observe", "steer", "escalate", "block", "stop"]


def strongest(turns: list[Turn], config: StreaksConfig, setup: SessionSetup) -> str:
    """The strongest action on a session."""
    script = Script(config, setup)
    found = ["-"]
    for call, result in turns:
        judged = script.turn(call, results=[result])
        found += [verdict.action.value for verdict in judged.verdicts]
    return max(found, key=STRENGTH.index)


@pytest.mark.parametrize("name", REPORTS)
def test_public_reports(name: str) -> None:
    report = REPORTS[name]
    assert strongest(report.turns, StreaksConfig(max_cycle=0), SessionSetup()) == report.document
    assert strongest(report.turns, CYCLES, RESULTS) == report.ours
    assert bool(report.blind) is (report.document == "-" and "loop" in kind(name))


def kind(name: str) -> str:
    """Whether a report is of a loop: those stand first."""
    return "loop" if [*REPORTS].index(name) < 7 else "clean"


def test_failures_of_a_server_are_no_loop() -> None:
    """Without results they look like one; with them the call only keeps failing."""
    for setup, wanted in ((SessionSetup(), 9), (RESULTS, 1)):
        script = Script(setup=setup)
        busy = SessionResult("", "", "rate limit exceeded (429)", True, 1, 1)
        assert [streaks(script.turn(POLL, results=[busy])) for _ in range(9)][-1] == [wanted]


def test_a_question_changes_nothing() -> None:
    script = Script(CYCLES, RESULTS)
    for _ in range(2):
        script.turn(POLL, results=["same"])
    before = script.judge.snapshot()
    for _ in range(5):
        script.judge.document()
        script.judge.snapshot()
        script.judge.close()
    assert {**script.judge.snapshot(), "announced": 0} == {**before, "announced": 0}
    assert streaks(script.turn(POLL)) == [3]
