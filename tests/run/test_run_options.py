"""Every option of ``run``, ``journal`` and ``config`` changes something that can be seen.

One table. A row runs a command twice, without and with the option, and looks at
one thing; a new option without a row fails the test.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from processes import PATIENCE, environ
from servers import Provider, provider, says

from loopcli.cli import cli
from loopcli.commands.options import ENVIRONMENT_PREFIX


class Seen(NamedTuple):
    """What can be seen of a finished command."""

    status: int
    out: str
    err: str
    path: Path
    asked: list[list[tuple[str, dict[str, str], bytes]]]

    def file(self, name: str) -> str:
        path = self.path / name
        return path.read_text() if path.exists() else ""

    def turn(self, field: str) -> Any:
        return json.loads(self.file("journal").splitlines()[0]).get(field)


class Row(NamedTuple):
    """Arguments that stay, the option's, the child, what to look at, and both findings."""

    command: str
    always: list[str]
    option: list[str]
    child: str
    look: Callable[[Seen], Any]
    without: Any
    with_: Any


LOOP = "yes 'void 0;'"
ONCE = ["--retries", "0"]
QUICK = ["--backoff-base", "0"]
# A loop trips these after 13 words.
SEEN = [*ONCE, "--report", "report"]
SMALL = [
    *ONCE,
    "--rules=saturation",
    "--window-words=8",
    "--repeat-threshold=3",
    "--min-saturated-run=6",
]
BOOK = ["--journal", "journal"]
PRICED = [*ONCE, "--price"]


def status(seen: Seen) -> int:
    return seen.status


def words(seen: Seen) -> int:
    """How many words into the reply the rule fired; -1 for the backstop."""
    before, found, _ = seen.err.partition(" words into the reply")
    return int(before.rpartition(" ")[2]) if found else -1


def chars(seen: Seen) -> int:
    """How many characters into the reply the rule fired; -1 if it did not."""
    verdicts = [line for line in seen.file("report").splitlines() if '"verdict"' in line]
    return int(json.loads(verdicts[0])["chars"]) if verdicts else -1


def wait(seen: Seen) -> str:
    return seen.err.partition("retrying in ")[2].split()[0].removesuffix("s")


def runs(seen: Seen) -> int:
    return len(seen.file("log").splitlines())


def lookups(seen: Seen) -> list[int]:
    return [len(asked) for asked in seen.asked]


def key(seen: Seen) -> str:
    return seen.asked[0][0][1]["Authorization"]


def knob(option: str, without: int, with_: int, *always: str) -> Row:
    return Row("run", [*SMALL, *always], [option], LOOP, words, without, with_)


def period(option: str, without: int, with_: int, child: str) -> Row:
    return Row("run", [*SEEN, "--rules=period"], [option], child, chars, without, with_)


def acts(seen: Seen) -> list[tuple[int, str]]:
    """What the ladder did to an agent's session: the round, and the action."""
    records = [json.loads(line) for line in seen.file("report").splitlines()]
    return [(record["round"], record["effective"]) for record in records if "effective" in record]


def first(seen: Seen) -> tuple[int, str]:
    return acts(seen)[0]


def last(seen: Seen) -> tuple[int, str]:
    return acts(seen)[-1] if acts(seen) else (0, "")


def second(seen: Seen) -> tuple[int, str]:
    return acts(seen)[1]


def turns(*lines: str) -> str:
    """A program that prints turns of a session, one after the other."""
    return "".join(f"echo '{line}'; " for line in lines)


def repeat(unit: str) -> str:
    return f"yes '{unit}' | tr -d '\\n'"


# Sentences in an order that never comes again.
BAG = "awk 'BEGIN { srand(7); while (n++ < 900) print int(3 * rand()), \"is the number again.\" }'"
SLOW = "sleep 0.6; echo hello"
CHAT = 'echo \'data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\'; echo'
CHAT += "; echo 'data: [DONE]'; echo"
GENERATION = (
    """printf 'data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":"%s"}}]}\\n\\n' """
)
PAID = GENERATION + "\"$(yes 'void 0;' | head -n 2000 | tr '\\n' ' ')\""
SUM = ["--sum", "summary.errors.loopAborts"]

AGENT = ["--agent-stream", "--input=turns", "--report=report"]
UP = [*AGENT, "--escalate=2", "--block=0"]
CALL = '{"calls": [{"name": "ls", "args": {"path": "%s", "n": %d}}]%s}'
SAME = turns(*[CALL % ("a", 1, "")] * 9)
COUNTED = turns(*[CALL % ("a", n, "") for n in range(9)])
POLLED = turns(*[CALL % ("a", 1, f', "results": ["{n} %"]') for n in range(9)])
CYCLE = turns(*[CALL % (path, 1, "") for path in "ab" * 7])
TAIL = turns('{"text": "' + "I am here. " * 6 + '"}')
STOPPED, STOPS = (6, "stop"), (1, "stop")

ROWS = [
    # Sessions of agents.
    Row("run", ["--input=turns"], ["--agent-stream"], SAME, status, 0, 123),
    Row("run", [*AGENT, "--block=0"], ["--observe=4"], SAME, first, (2, "observe"), (4, "observe")),
    Row("run", AGENT, ["--steer=2"], SAME, first, (2, "observe"), (2, "steer")),
    Row("run", [*AGENT, "--escalation-advisor"], ["--escalate=2"], SAME, first,
        (2, "observe"), (2, "escalate")),
    Row("run", AGENT, ["--block=4"], SAME, second, (3, "block"), (3, "observe")),
    Row("run", AGENT, ["--stop=4"], SAME, last, STOPPED, (4, "stop")),
    Row("run", [*UP, "--escalation-advisor"], ["--max-escalations=1"], SAME, second,
        (3, "escalate"), (3, "observe")),
    Row("run", UP, ["--escalation-model=big"], SAME, first, (2, "observe"), (2, "escalate")),
    Row("run", UP, ["--escalation-advisor"], SAME, first, (2, "observe"), (2, "escalate")),
    Row("run", AGENT, ["--no-results"], POLLED, status, 0, 123),
    Row("run", AGENT, ["--loop-key=ls=path"], COUNTED, last, (0, ""), STOPPED),
    Row("run", AGENT, ["--action=ls=observe"], SAME, last, STOPPED, (9, "observe")),
    Row("run", AGENT, ["--max-cycle=0"], CYCLE, status, 123, 0),
    Row("run", AGENT, ["--max-period-tokens=2"], TAIL, last, STOPS, (0, "")),
    Row("run", AGENT, ["--min-repeats=7"], TAIL, last, STOPS, (0, "")),
    Row("run", AGENT, ["--min-covered-tokens=19"], TAIL, last, STOPS, (0, "")),
    Row("run", AGENT, ["--max-window-tokens=11"], TAIL, last, STOPS, (0, "")),
    # What is judged, and how.
    Row("run", ONCE, ["--input", "text"], "echo 'data: {}'", status, 122, 0),
    Row("run", [*ONCE, "--config", "off.json"], ["--rules", "saturation"],
        LOOP + " | head -n 2000", status, 0, 123),
    Row("run", SEEN, ["--preset", "gg"], LOOP, chars, 648, 12261),
    Row("run", ONCE, ["--watch", "reasoning"], "yes | head -n 9999", status, 123, 0),
    Row("run", ONCE, ["--config", "off.json"], LOOP + " | head -n 2000", status, 123, 0),
    Row("run", ["--config", "two.json"], ["--agent", "b"], "true", status, 125, 0),
    knob("--window-words=16", 13, 16),
    knob("--repeat-threshold=2", 13, 11),
    knob("--min-offenders=1", 13, 12),
    knob("--min-saturated-run=20", 13, 27),
    knob("--max-response-chars=20", 13, -1),
    period("--period-letters=300", 648, 308, LOOP),
    period("--period-signs=300", 1202, 302, repeat("?!")),
    period("--period-art=9000", 2406, 9006, "yes '|  |/'"),
    period("--period-table=2000", 12014, 2114, "yes '| open | no |'"),
    period("--period-data=2000", 40003, 2003, repeat("0, ")),
    period("--period-counter=2000", 4025, 2025, "printf 'Gate %d is open, go on. ' {100..400}"),
    period("--period-copies=1000", 648, 8008, LOOP),
    Row("run", [*ONCE, "--rules=novelty"], ["--novelty-words=9000"], BAG, status, 123, 0),
    Row("run", [*ONCE, "--rules=novelty"], ["--novelty-seen=9999"], BAG, status, 123, 0),
    Row("run", [*ONCE, "--rules=prose"], ["--stream-threshold=9"],
        "printf 'I look at the log again\\n%.0s' {1..6}", status, 123, 0),
    # When an attempt ends.
    Row("run", ONCE, ["--idle-timeout", "0.2"], SLOW, status, 0, 124),
    Row("run", [], ["--timeout", "0.2"], SLOW, status, 0, 124),
    Row("run", ONCE, ["--kill-after", "0"],
        f"trap 'sleep 1; echo late > log; exit' TERM; {LOOP} & wait; sleep 9 & wait", runs, 1, 0),
    # Whether and when there is another.
    Row("run", [*QUICK, "--retry-on=7"], ["--retries", "1"], "echo x >> log; exit 7", runs, 11, 2),
    Row("run", ["--retries=1", "--retry-on=7"], ["--backoff-base", "0.2"], "exit 7",
        wait, "1.0", "0.2"),
    Row("run", ["--retries=1", "--retry-on=7", "--backoff-base=0.3"], ["--backoff-max", "0.1"],
        "exit 7", wait, "0.3", "0.1"),
    Row("run", ["--retries=1", "--backoff-base=0.1"], ["--retry-after-max", "0.2"],
        r"printf 'HTTP/1.1 429 X\r\nRetry-After: 0.7\r\n\r\nbusy'", wait, "0.7", "0.2"),
    Row("run", [*QUICK, "--retries=2"], ["--retry-on", "6,7"], "echo x >> log; exit 7",
        runs, 1, 3),
    Row("run", [], ["--stream"], "echo hello; exit 7", lambda seen: seen.out, "", "hello\n"),
    # What is kept of it.
    Row("run", [], BOOK, "true", lambda seen: bool(seen.file("journal")), False, True),
    Row("run", BOOK, ["--session", "s"], "true", lambda seen: seen.turn("session"), None, "s"),
    Row("run", BOOK, ["--model", "m"], "true", lambda seen: seen.turn("model"), None, "m"),
    Row("run", BOOK, ["--turn", "14"], "true", lambda seen: seen.turn("turns"), 1, 14),
    Row("run", ONCE, ["--price"], PAID, lookups, [0, 0], [1, 0]),
    Row("run", PRICED, ["--generation-url", "{other}"], PAID, lookups, [1, 0], [0, 1]),
    Row("run", PRICED, ["--api-key-env", "OTHER_KEY"], PAID, key, "Bearer one", "Bearer two"),
    Row("run", [], ["--quiet"], "exit 7", lambda seen: bool(seen.err), True, False),
    Row("run", [], ["--verbose"], "true", lambda seen: seen.err.count("armed"), 0, 1),
    Row("run", ["--emit=raw"], ["--emit", "text"], CHAT, lambda seen: seen.out[:5],
        "data:", "hello"),
    Row("run", [], ["--report", "report"], "true", lambda seen: len(seen.file("report")) > 9,
        False, True),
    Row("run", [], ["--progress"], "true", lambda seen: seen.err, "", ""),  # see test_terminal
    Row("run", [], ["--help"], "true", lambda seen: "Usage:" in seen.out, False, True),
    # The others.
    Row("journal", ["book"], SUM, "", lambda seen: seen.out.split()[0], "session", "5"),
    Row("journal", ["book", *SUM], ["--by", "model"], "", lambda seen: seen.out.split(),
        ["5"], ["3", "b", "2", "a"]),
    Row("journal", ["book", *SUM], ["--json"], "", lambda seen: seen.out[:1], " ", "{"),
    Row("journal", ["book"], ["--help"], "", lambda seen: "Usage:" in seen.out, False, True),
    Row("config", ["two.json"], ["--agent", "b"], "", lambda seen: seen.out.count("\n"), 2, 1),
    Row("config", ["two.json"], ["--help"], "", lambda seen: "Usage:" in seen.out, False, True),
]  # fmt: skip


def flags(command: str) -> set[str]:
    context = click.Context(cli)
    found = cli.get_command(context, command)
    assert found
    options = (p for p in found.get_params(context) if isinstance(p, click.Option))
    return {max(option.opts, key=len) for option in options}


def flag(row: Row) -> str:
    name = row.option[0].partition("=")[0]
    return "--results" if name == "--no-results" else name


@pytest.mark.parametrize("command", ["run", "journal", "config"])
def test_every_option_has_a_row(command: str) -> None:
    rows = [flag(row) for row in ROWS if row.command == command]
    assert sorted(rows) == sorted(flags(command))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[[], tuple[Path, list[Provider]]]]:
    profiles = [{"id": "a"}, {"id": "b"}]
    book = [
        {"type": "turn_outcome", "model": "a", "loopAborts": 2},
        {"type": "turn_outcome", "model": "b", "loopAborts": 3},
    ]
    price = says(200, '{"data":{"total_cost":1}}')

    with provider(price) as one, provider(price) as other:

        def fresh() -> tuple[Path, list[Provider]]:
            path = tmp_path / str(len(list(tmp_path.iterdir())))
            path.mkdir()
            (path / "off.json").write_text(json.dumps(profiles[:1]))
            (path / "two.json").write_text(json.dumps(profiles))
            (path / "book").write_text("".join(json.dumps(line) + "\n" for line in book))
            for server in (one, other):
                server.requests = []
            return path, [one, other]

        yield fresh


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.command} {flag(row)}")
def test_an_option_changes_something(
    row: Row, place: Callable[[], tuple[Path, list[Provider]]]
) -> None:
    found = []
    for arguments in (row.always, [*row.always, *row.option]):
        path, servers = place()
        arguments = [text.replace("{other}", servers[1].url) for text in arguments]
        child = ["--", "bash", "-c", row.child] if row.child else []
        done = subprocess.run(
            [sys.executable, "-m", "loopcli", row.command, *arguments, *child],
            cwd=path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environ(
                PYTHONPATH=str(Path(__file__).parents[2]),
                OPENROUTER_API_KEY="one",
                OTHER_KEY="two",
                **{f"{ENVIRONMENT_PREFIX}_GENERATION_URL": servers[0].url},
            ),
        )
        assert "bug" not in done.stderr
        asked = [server.requests for server in servers]
        found.append(row.look(Seen(done.returncode, done.stdout, done.stderr, path, asked)))
    assert found == [row.without, row.with_]
