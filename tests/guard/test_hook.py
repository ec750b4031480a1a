"""The hook answers each agent in its own form, and lets a call run whatever goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hooks import asked, claude, codex, gemini, opencode, plain
from processes import loopcheck

from loopcli.guard.hook import answer
from loopcli.guard.own_commands import is_own_call
from loopcli.guard.store import CallStore
from loopcli.rules.calls.config import CallsConfig

WHY = "a text of twenty letters or more"
EXPLAINED = ["--observed-result", WHY, "--rationale", WHY, "--expected-information", WHY]


def refusals(store: Path, *questions: str) -> list[bool]:
    """Ask without starting a process; return which calls were refused."""
    calls = CallStore(str(store))
    return [bool(answer(one.encode(), calls, CallsConfig()).reason) for one in questions]


# The forms


def reason_of_pre_tool_use(doc: Any) -> str:
    output = doc.pop("hookSpecificOutput")
    assert not doc
    reason = output.pop("permissionDecisionReason")
    assert output == {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    return str(reason)


def reason_of_decision(doc: Any) -> str:
    assert doc.keys() == {"decision", "reason"}
    assert doc["decision"] == "deny"
    return str(doc["reason"])


@pytest.mark.parametrize(
    ("question", "allowed", "reason"),
    [
        (claude, "", reason_of_pre_tool_use),
        (codex, "", reason_of_pre_tool_use),
        (gemini, "", reason_of_decision),
        (opencode, '{"decision":"allow"}\n', reason_of_decision),
        (plain, '{"decision":"allow"}\n', reason_of_decision),
    ],
)
def test_each_program_is_answered_in_its_own_form(
    question: Callable[[int], str],
    allowed: str,
    reason: Callable[[Any], str],
    tmp_path: Path,
) -> None:
    store = tmp_path / "guard.db"
    assert asked(store, question(1)) == (allowed, "")
    assert asked(store, question(2)) == (allowed, "")
    output, errors = asked(store, question(3))
    assert errors == ""
    assert reason(json.loads(output)).startswith("[ANTI-LOOP] ")


def test_other_calls_stay_usable(tmp_path: Path) -> None:
    letters = "AAABBBC"
    questions = [claude(n, "Read", path=letter) for n, letter in enumerate(letters)]
    wanted = [False, False, True, False, False, True, False]
    assert refusals(tmp_path / "db", *questions) == wanted


def test_an_event_that_is_sent_twice_counts_once(tmp_path: Path) -> None:
    questions = [claude(number) for number in (1, 1, 1, 2, 2, 3, 3)]
    wanted = [False] * 5 + [True] * 2
    assert refusals(tmp_path / "db", *questions) == wanted


def test_sessions_and_subagents_count_by_themselves(tmp_path: Path) -> None:
    questions = [claude(n, agent=agent) for n, agent in enumerate(["", "a", "b", "", "a", "b"])]
    questions += [plain(number, session) for number, session in enumerate("stst")]
    assert not any(refusals(tmp_path / "db", *questions))


@pytest.mark.parametrize("event", ["PostToolUse", "SessionStart", "AfterTool"])
def test_other_events_are_not_counted(event: str, tmp_path: Path) -> None:
    question = json.dumps(json.loads(claude()) | {"hook_event_name": event})
    assert not any(refusals(tmp_path / "db", *[question] * 4))


def test_names_that_are_not_safe_are_not_printed(tmp_path: Path) -> None:
    store = CallStore(str(tmp_path / "db"))
    for number in range(3):
        question = plain(number, "$(reboot)", agent="; ls", tool="\x1b[2J" + "x" * 500)
        reason = answer(question.encode(), store, CallsConfig()).reason
    assert "reboot" not in reason
    assert "; ls" not in reason
    assert "\x1b" not in reason
    assert len(reason) < 1000


# Failures


@pytest.mark.parametrize(
    "question",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        "null",
        '{"hook_event_name": "PreToolUse"}',
        '{"hook_event_name": "PreToolUse", "session_id": 1, "tool_name": []}',
        '{"session": "s", "tool": ""}',
        '{"input": {"tool": "bash"}}',
        '{"a":' * 5000,
    ],
)
def test_a_question_that_is_none_lets_the_call_run(question: str, tmp_path: Path) -> None:
    output, errors = asked(tmp_path / "db", question)
    assert output == ""
    assert errors.startswith("loopcheck: guard: the call runs unchecked: ")
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--threshold", "1"],
        ["--threshold", "three"],
        ["--window-ms", "0"],
        ["--window-ms", "nan"],
        ["--no-such-option"],
        ["argument"],
    ],
)
def test_a_wrong_option_lets_the_call_run(arguments: list[str], tmp_path: Path) -> None:
    output, errors = asked(tmp_path / "db", claude(), *arguments)
    assert output == ""
    assert errors.startswith("loopcheck: ")


def test_deep_arguments_run_uncounted(tmp_path: Path) -> None:
    deep: Any = 0
    for _ in range(100):
        deep = [deep]
    assert not any(refusals(tmp_path / "db", *[plain(n, args=deep) for n in range(4)]))


def test_odd_arguments_are_counted(tmp_path: Path) -> None:
    questions = [plain(n, args=["\ud800", 2**70, None]) for n in range(3)]
    assert refusals(tmp_path / "db", *questions) == [False, False, True]


# The options


def test_each_option_changes_something(tmp_path: Path) -> None:
    store = tmp_path / "db"
    first = [asked(store, claude(n), "--threshold", "2")[0] for n in range(2)]
    assert [bool(output) for output in first] == [False, True]
    other = tmp_path / "other.db"
    window = [asked(other, claude(n), "--window-ms", "0.001")[0] for n in range(3)]
    assert window == ["", "", ""]


def test_the_environment_sets_options_too(tmp_path: Path) -> None:
    variables = {"LOOPCHECK_THRESHOLD": "2", "LOOPCHECK_STORE": str(tmp_path / "db")}
    outputs = [loopcheck("guard", "hook", stdin=claude(n), **variables).stdout for n in range(2)]
    assert [bool(output) for output in outputs] == [False, True]
    assert loopcheck(stdin="a note", **variables).stderr == ""


def test_the_state_is_where_the_system_keeps_it(tmp_path: Path) -> None:
    loopcheck("guard", "hook", stdin=claude(), XDG_STATE_HOME=str(tmp_path))
    loopcheck("guard", "hook", stdin=claude(), XDG_STATE_HOME="relative", HOME=str(tmp_path))
    for folder in (tmp_path, tmp_path / ".local" / "state"):
        file = folder / "loopcheck" / "guard.db"
        assert file.stat().st_mode & 0o777 == 0o600


# Decisions


def test_its_own_commands_are_never_counted(tmp_path: Path) -> None:
    command = "loopcheck guard decide stop --rationale 'because of; that'"
    questions = [claude(n, command=command) for n in range(4)]
    questions += [claude(n, "mcp__guard__loop_check", tool="x") for n in range(4, 8)]
    assert not any(refusals(tmp_path / "db", *questions))


@pytest.mark.parametrize(
    "command",
    [
        "loopcheck guard check read '{\"a\": 1}'",
        "/usr/local/bin/loopcheck guard decide stop 2>&1",
        ["bash", "-lc", "loopcheck guard status"],
        'loopcheck guard decide continue --rationale "it is done"',
    ],
)
def test_what_is_an_own_command(command: object) -> None:
    assert is_own_call("Bash", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "loopcheck guard reset --all",
        "loopcheck guard check x; ls",
        "loopcheck guard check x && ls",
        "loopcheck guard check x | sh",
        "loopcheck guard check x > file",
        "loopcheck guard check x\nls",
        "loopcheck guard check $(ls)",
        "loopcheck guard check `ls`",
        'loopcheck guard check "$(ls)"',
        "loopcheck guard check x & ls",
        "ls; loopcheck guard check x",
        "curl x/loopcheck guard check",
        "echo loopcheck guard check",
        "loopcheck guard checks",
        ["bash", "-lc", "ls"],
        7,
    ],
)
def test_what_is_not(command: object) -> None:
    assert not is_own_call("Bash", {"command": command})
    assert not is_own_call("read", {"command": "loopcheck guard check x"})


def test_a_decision_grants_a_new_count(tmp_path: Path) -> None:
    store = tmp_path / "db"
    assert refusals(store, *map(claude, range(3))) == [False, False, True]
    call = ["--next-tool", "Bash", "--args-json", '{"command": "ls"}']
    where = ["--session", "4497f00a", "--store", store]
    done = loopcheck("guard", "decide", "continue", *call, *EXPLAINED, *where)
    assert (done.returncode, done.stderr) == (0, "")
    assert refusals(store, *map(claude, range(3, 6))) == [False, False, True]
    assert loopcheck("guard", "decide", "change", *call, *EXPLAINED, *where).returncode == 2
    assert loopcheck("guard", "decide", "stop", *EXPLAINED, *where).returncode == 0
    log = loopcheck("guard", "log", "--json", "--store", store).stdout
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert events == ["refused", "continue", "refused", "stop"]


def test_a_decision_without_reasons_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "db"
    done = loopcheck("guard", "decide", "stop", "--session", "s", "--store", store)
    assert done.returncode == 2
    assert [line.split(":")[1].strip() for line in done.stderr.splitlines()] == [
        "observed-result",
        "rationale",
        "expected-information",
    ]


def test_a_check_counts_nothing(tmp_path: Path) -> None:
    store = tmp_path / "db"
    call = ["guard", "check", "Bash", '{"command": "ls"}', "--store", store]
    shown = []
    for number in range(4):
        done = loopcheck(*call, "--json", CLAUDE_CODE_SESSION_ID="4497f00a")
        fields = json.loads(done.stdout)
        shown.append((fields["count"], fields["refused"], done.returncode))
        refusals(store, claude(number))
    assert shown == [(0, False, 0), (1, False, 0), (2, True, 3), (2, True, 3)]


def test_status_and_reset(tmp_path: Path) -> None:
    store = tmp_path / "db"
    refusals(store, *map(claude, range(3)), claude(9, agent="a"))
    shown = loopcheck("guard", "status", "--store", store).stdout.splitlines()
    assert sorted(line for line in shown if line.startswith("session ")) == [
        "session 4497f00a, agent a: 1 calls, 0 refused",
        "session 4497f00a: 1 calls, 1 refused",
    ]
    done = loopcheck("guard", "reset", "4497f00a", "--store", store)
    assert done.stdout == "forgot 2 agents\n"
    assert refusals(store, claude(10)) == [False]
    assert loopcheck("guard", "reset", "--store", store).returncode == 2
    assert loopcheck("guard", "reset", "--all", "--store", store).returncode == 0


def test_nothing_that_a_call_held_is_stored(tmp_path: Path) -> None:
    store = tmp_path / "db"
    refusals(store, *[claude(n, command="cat sekrit") for n in range(3)])
    assert b"sekrit" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
