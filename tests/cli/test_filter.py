"""The filter as a process: statuses, pipes, signals, and what each option changes."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import PATIENCE, closed_pipe

from loopcli.cli import cli, main
from loopcli.filter import driver
from loopcli.system import stdio

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
COMMAND = [sys.executable, "-m", "loopcli"]
# The command with another READ_SIZE, which is how a test decides where reads fall.
IN_READS_OF = [
    sys.executable,
    "-c",
    "import sys; from loopcli.system import stdio; stdio.READ_SIZE = int(sys.argv.pop(1))\n"
    "from loopcli.__main__ import entry; entry()",
]
VOID = "void 0;\n"
SENTENCE = "2 words repeated across 3000 consecutive words, 3065 words into the reply"


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without whatever the user of this machine has set for the filter."""
    ours = ("LOOPCHECK_", "NO_COLOR", "FORCE_COLOR")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return kept | {"TERM": "xterm"} | (extra or {})


class Run(NamedTuple):
    """What one run of the filter left."""

    status: int
    stdout: bytes
    stderr: str
    records: list[dict[str, Any]]

    @property
    def end(self) -> dict[str, Any]:
        return self.records[-1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == kind]


def run(
    args: Sequence[str],
    stdin: bytes,
    env: dict[str, str] | None = None,
    *,
    reads_of: int | None = None,
    report: bool = True,
) -> Run:
    """Run the filter over some bytes; the records are those of its report."""
    command = COMMAND if reads_of is None else [*IN_READS_OF, str(reads_of)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        path = Path(folder, "report.jsonl")
        done = subprocess.run(
            [*command, *(["--report", str(path)] if report else []), *args],
            stdin=file,
            capture_output=True,
            env=environment(env),
            timeout=PATIENCE,
            check=False,
        )
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    return Run(done.returncode, done.stdout, done.stderr.decode(), records)


def event(content: str, index: int = 0, finish: str | None = None) -> bytes:
    choice = {"index": index, "delta": {"content": content}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "gen-1", "choices": [choice]}).encode() + b"\n\n"


def deltas(text: str, width: int) -> bytes:
    return b"".join(event(text[at : at + width]) for at in range(0, len(text), width))


DONE = b"data: [DONE]\n\n"
ERROR = b'data: {"error":{"message":"it broke","code":502}}\n\n'
COMMENT = b": ping\n\n"
LOOP = (VOID * 2000).encode()
SSE_LOOP = deltas(VOID * 2000, 100) + DONE
CLEAN = b"a reply like any other\n"
SSE_CLEAN = event("a reply like ") + event("any other\n") + DONE
SSE_CUT = event("a reply that")
# Figures below are those of the saturation rule alone.
GG = ["--preset", "gg"]
# Three sentences in random order.
_DICE = random.Random(1)
BAG = b"".join(
    _DICE.choice([b"so it goes on. ", b"mend the gate first. ", b"and then again. "])
    for _ in range(150)
)
# Trips small enough to be seen in a line.
SMALL = [*GG, "--window-words", "8", "--repeat-threshold", "3", "--min-saturated-run", "6"]
SMALL_LOOP = b"void 0; " * 40


# --- Statuses ------------------------------------------------------------------------------------


class Exit(NamedTuple):
    """A row of the status table. Shell words in `script` stand after the command."""

    status: int
    script: str
    stdin: bytes = b""
    stderr: str = ""


STATUSES = {
    "0 clean text": Exit(0, "", CLEAN),
    "0 clean stream": Exit(0, "", SSE_CLEAN),
    "0 nothing at all": Exit(0, "", b"", "warning: nothing arrived"),
    "0 nothing but blanks": Exit(0, "", b" \n\n", "warning: nothing arrived"),
    "0 nothing but a BOM": Exit(0, "", b"\xef\xbb\xbf", "warning: nothing arrived"),
    "0 a head and no body": Exit(0, "", b"HTTP/2 200 \r\n\r\n", "warning: nothing arrived"),
    "5 nothing, strict": Exit(5, "--strict", b"", "nothing arrived"),
    "0 cut, with a warning": Exit(0, "", SSE_CUT, "warning: the stream was cut"),
    "0 help": Exit(0, "--help"),
    "0 version": Exit(0, "-V"),
    "0 rules": Exit(0, "rules"),
    "1 closed stdin": Exit(1, "<&-", b"", "Bad file descriptor"),
    "1 stdin for writing only": Exit(1, "0>/dev/null", b"", "Bad file descriptor"),
    "1 full disk": Exit(1, ">/dev/full", CLEAN, "No space left on device"),
    "1 full disk when held": Exit(1, "--hold >/dev/full", CLEAN, "No space left on device"),
    "1 full disk, help": Exit(1, "--help >/dev/full", b"", "No space left on device"),
    "1 full disk, version": Exit(1, "-V >/dev/full", b"", "No space left on device"),
    "1 full disk, rules": Exit(1, "rules >/dev/full", b"", "No space left on device"),
    "1 closed stdout": Exit(1, ">&-", CLEAN, "Bad file descriptor"),
    "1 report in no folder": Exit(1, "--report /no/such/folder/r", CLEAN, "/no/such/folder/r"),
    "1 report on a full disk": Exit(1, "--report /dev/full", CLEAN, "report"),
    "2 unknown option": Exit(2, "--nope", CLEAN, "--nope"),
    "2 unknown word": Exit(2, "nope", CLEAN, "nope"),
    "1 no such file": Exit(1, "saved.sse", CLEAN, "saved.sse: cannot read: No such file"),
    "2 option before a subcommand": Exit(2, "--quiet rules", CLEAN, "--quiet"),
    "2 refused knob": Exit(2, "--window-words 0", CLEAN, "--window-words"),
    "2 unknown rule": Exit(2, "--rules nope", CLEAN, "nope"),
    "2 no rule": Exit(2, "--rules ''", CLEAN, "--rules"),
    "2 negative time": Exit(2, "--timeout -1", CLEAN, "-1"),
    "2 not a time": Exit(2, "--timeout nan", CLEAN, "nan"),
    "2 no end of time": Exit(2, "--idle-timeout inf", CLEAN, "inf"),
    "2 contradiction": Exit(2, "--trip-event --hold", CLEAN, "--hold"),
    "2 another contradiction": Exit(2, "--quiet --verbose", CLEAN, "--verbose"),
    "3 loop": Exit(3, "--preset gg", LOOP, SENTENCE),
    "3 loop in a stream": Exit(3, "--preset gg", SSE_LOOP, SENTENCE),
    "3 loop, dry run": Exit(3, "--dry-run", LOOP, "would have stopped a loop"),
    "3 loop, by the default rules": Exit(3, "", LOOP, '"void 0;\\n" × 81 since'),
    "4 backstop": Exit(4, "--max-response-chars 10", CLEAN, "the reply passed 11 characters"),
    "4 backstop, dry run": Exit(4, "--max-response-chars 10 --dry-run", CLEAN, "11 characters"),
    "5 malformed": Exit(5, "", SSE_CLEAN + b"data: {nope\n\n", "line 7"),
    "5 cut, strict": Exit(5, "--strict", SSE_CUT, "the stream was cut"),
    "6 upstream": Exit(6, "", SSE_CLEAN + ERROR, "it broke"),
    "6 with its code": Exit(6, "", ERROR, "502"),
    "0 long time": Exit(0, "--timeout 1e9 --idle-timeout 1e300", CLEAN),
    # Several at once: the worst is told.
    "6 over 3": Exit(6, "--dry-run", SSE_LOOP + ERROR, "would have stopped a loop"),
    "5 over 6": Exit(5, "", ERROR + b"data: {nope\n\n", "it broke"),
    "1 over 3": Exit(1, "--preset gg --report /dev/full", LOOP, SENTENCE),
}


@pytest.mark.parametrize("row", STATUSES)
def test_the_status_table(row: str, tmp_path: Path) -> None:
    status, script, stdin, stderr = STATUSES[row]
    file = tmp_path / "stdin"
    file.write_bytes(stdin)
    redirected = "<" in script or "0>" in script
    source = "" if redirected else f" <{file}"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {script}{source}', "sh", *COMMAND],
        capture_output=True,
        env=environment(),
        cwd=tmp_path,
        timeout=PATIENCE,
        check=False,
    )
    told = done.stderr.decode()
    assert (done.returncode, "Traceback" in told) == (status, False), told
    assert stderr in told
    # Every message says who speaks, and a clean run says nothing.
    assert all(line.startswith("loopcheck: ") for line in told.splitlines())
    assert told or status == 0
    if status == 2:
        assert done.stdout == b""


def test_every_status_is_in_the_table_or_has_a_test_of_its_own() -> None:
    rows = {row.status for row in STATUSES.values()}
    assert rows | {7} == {0, 1, 2, 3, 4, 5, 6, 7}


def test_a_terminal_as_stdin_is_a_question_for_help() -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        COMMAND,
        stdin=slave,
        capture_output=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    os.close(slave)
    os.close(master)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Usage: loopcheck" in done.stderr
    assert b"--help" in done.stderr
    assert len(done.stderr.splitlines()) < 5


# --- Pipes and signals ---------------------------------------------------------------------------


class Open:
    """A running filter whose pipes are held open."""

    def __init__(self, *args: str, stderr: int = subprocess.PIPE, command: Sequence[str] = COMMAND):
        self.process = subprocess.Popen(
            [*command, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(),
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout

    def __enter__(self) -> Open:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()

    def take(self, size: int) -> bytes:
        """Read exactly so much; fails if it does not come."""
        data = b""
        while len(data) < size:
            assert select.select([self.stdout], [], [], PATIENCE)[0], f"nothing after {data!r}"
            piece = self.stdout.read(size - len(data))
            assert piece, f"ended after {data!r}"
            data += piece
        return data

    def finish(self) -> int:
        return self.process.wait(PATIENCE)

    def told(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


@pytest.mark.parametrize("data", [b"Once upon", b": ping\n\ndata: {", b"\xf0\x9f\xa7", b"data"])
def test_each_byte_is_out_as_soon_as_it_is_in(data: bytes) -> None:
    """Also while the format is still unknown and while a character or an event is incomplete."""
    with Open() as filter_:
        for at in range(len(data)):
            filter_.stdin.write(data[at : at + 1])
            assert filter_.take(1) == data[at : at + 1]


@pytest.mark.parametrize("write_more", [False, True])
def test_the_reader_of_stdout_goes(write_more: bool) -> None:
    """It dies by SIGPIPE, which a shell shows as 141; nothing more needs to come in for that."""
    with Open() as filter_:
        filter_.stdin.write(CLEAN)
        filter_.take(len(CLEAN))
        filter_.stdout.close()
        if write_more:
            filter_.stdin.write(CLEAN)
        assert filter_.finish() == -signal.SIGPIPE
        assert filter_.told() == ""


def test_interrupted() -> None:
    """It dies by SIGINT, which a shell shows as 130."""
    with Open("--verbose") as filter_:
        filter_.stdin.write(CLEAN)
        filter_.take(len(CLEAN))
        filter_.process.send_signal(signal.SIGINT)
        assert filter_.finish() == -signal.SIGINT
        told = filter_.told()
        assert "Traceback" not in told
        assert "interrupted" in told


def test_interrupted_while_it_starts() -> None:
    program = (
        "import os, signal, sys\n"
        "from loopcli.__main__ import entry\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'orjson': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "entry()"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=environment(), capture_output=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.skipif(not shutil.which("bash"), reason="needs PIPESTATUS")
def test_statuses_as_a_shell_sees_them() -> None:
    script = 'yes "void 0;" | "$@" --rules saturation | wc -c; echo "${PIPESTATUS[@]}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.split() == ["12261", "141", "3", "0"]
    assert done.stderr == (
        f'loopcheck: <stdin>: {SENTENCE}; repeating "0;" "void" since character 261\n'
    )


@pytest.mark.skipif(not shutil.which("bash"), reason="needs PIPESTATUS")
def test_head_closes_the_pipe() -> None:
    script = 'yes "void $RANDOM" | "$@" --max-response-chars 0 | head -c 5; echo "${PIPESTATUS[@]}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND, *GG, "--min-offenders", "99"],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("void 141 141 0\n", "")


# --- Time ----------------------------------------------------------------------------------------


def feed_until_it_ends(filter_: Open, piece: bytes) -> bool:
    """Keep on writing; say whether the filter ended while its input was still coming."""
    drain = threading.Thread(target=filter_.stdout.read)
    drain.start()
    end = time.monotonic() + PATIENCE
    try:
        while filter_.process.poll() is None and time.monotonic() < end:
            filter_.stdin.write(piece)
            time.sleep(0.02)
    except BrokenPipeError:
        pass
    ended = filter_.process.poll() is not None or time.monotonic() < end
    if not ended:
        filter_.process.kill()
    drain.join()
    return ended


@pytest.mark.parametrize(
    ("flag", "piece"),
    [
        ("--idle-timeout", COMMENT),  # keep-alives are not progress
        ("--idle-timeout", event("")),
        ("--idle-timeout", b""),
        ("--timeout", event("word ")),
        ("--timeout", b"text "),
        ("--timeout", b""),
    ],
)
def test_time_runs_out(flag: str, piece: bytes) -> None:
    with Open(flag, "0.3") as filter_:
        assert feed_until_it_ends(filter_, piece)
        assert filter_.finish() == 7
        told = filter_.told()
        assert f"({flag})" in told
        assert "0.3 s" in told
        assert "the prompt returns when the command before the pipe writes or ends" in told


def test_no_prompt_waits_for_a_named_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with Open("--timeout", "0.3", str(fifo)) as filter_, open(fifo, "wb"):
        assert filter_.finish() == 7
        assert "the prompt" not in filter_.told()


def test_the_report_has_the_times() -> None:
    times = ["seconds", "first_byte_seconds", "first_delta_seconds"]
    whole, byte, delta = (run([], COMMENT + SSE_CLEAN).end[name] for name in times)
    assert 0 <= byte <= delta
    assert whole < PATIENCE
    assert [run([], COMMENT).end[name] is None for name in times] == [False, False, True]
    assert [run([], b"").end[name] is None for name in times] == [False, True, True]


# --- The cut -------------------------------------------------------------------------------------


def in_process(args: Sequence[str], stdin: bytes, read_size: int) -> tuple[int, bytes]:
    """Run the filter inside this process: hundreds of runs a second, but no pipes or signals."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(stdin)
        source.seek(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stdio, "READ_SIZE", read_size)
            patch.setattr(driver, "STDIN", source.fileno())
            patch.setattr(driver, "STDOUT", os.dup(sink.fileno()))
            status = main(["--quiet", *args])
        sink.seek(0)
        return status, sink.read()


@pytest.mark.parametrize(
    ("piece", "status"),
    [(event("word "), 0), (b"text ", 0), (COMMENT * 2, 7)],
    ids=["sse", "text", "keep-alives"],
)
def test_deltas_wind_the_idle_clock(
    piece: bytes, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than the limit in all, but never that long without a delta: a second a look."""
    clock = iter(range(10_000))
    limits = functools.partial(stdio.Limits, clock=lambda: float(next(clock)))
    monkeypatch.setattr(driver, "Limits", limits)
    args = ["--idle-timeout", "20", "--max-response-chars", "0"]
    assert in_process(args, piece * 30, len(piece))[0] == status


READS = [1, 7, 64, 1000, stdio.READ_SIZE]


@pytest.mark.parametrize("read_size", READS)
def test_text_is_cut_after_the_character_that_tripped(read_size: int) -> None:
    assert in_process(GG, LOOP, read_size) == (3, LOOP[:12261])
    status, out = in_process(["--max-response-chars", "100"], LOOP, read_size)
    assert (status, out) == (4, LOOP[:101])
    wide = "日本🧱é".encode() * 100
    status, out = in_process(["--max-response-chars", "100"], wide, read_size)
    assert (status, out.decode()) == (4, wide.decode()[:101])
    marked = b"\xef\xbb\xbf" + wide
    assert (
        in_process(["--max-response-chars", "100"], marked, read_size)[1] == b"\xef\xbb\xbf" + out
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("width", [1, 7, 23, 20_000])
def test_a_stream_is_cut_after_the_event_that_tripped(width: int, end: bytes) -> None:
    """After its blank line, wherever reads fall, and at the same word and character."""
    text = VOID * 1600
    data = (COMMENT + deltas(text, width) + DONE).replace(b"\n", end)
    events = -(-12261 // width)
    want = (COMMENT + deltas(text[: events * width], width)).replace(b"\n", end)
    for read_size in (1000 if width == 1 else 7, 1001, stdio.READ_SIZE):
        assert in_process(GG, data, read_size) == (3, want)
    verdict = run(GG, data).of("verdict")[0]
    assert (verdict["words"], verdict["chars"], verdict["cut_byte"]) == (3065, 12261, len(want))
    assert verdict["message"] == SENTENCE


@pytest.mark.parametrize("read_size", READS)
def test_a_limit_of_100_passes_the_event_with_character_101(read_size: int) -> None:
    data = deltas("x y " * 100, 10) + DONE
    want = deltas("x y " * 100, 10)[: len(event("x y x y x ")) * 11]
    assert in_process(["--max-response-chars", "100"], data, read_size) == (4, want)


SMALL_KNOBS = [*GG, "--window-words", "4", "--repeat-threshold", "1", "--min-saturated-run", "3"]
PIECES = st.lists(
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from([b"a b ", b"\xf0\x9f\xa7\xb1 ", b"\n\n", b"\r", b"data: ", DONE, COMMENT]),
        st.builds(event, st.sampled_from(["a b ", "word ", "\u2028", "x" * 20]), st.integers(0, 2)),
        st.sampled_from([ERROR, b"data: {nope\n\n", b"\xef\xbb\xbf", b"a b a b a b "]),
    ),
    max_size=25,
).map(b"".join)


@settings(max_examples=200)
@given(
    data=PIECES,
    read_size=st.integers(1, 64),
    extra=st.sampled_from([[], ["--strict"], ["--input", "sse"], ["--input", "text"]]),
    limit=st.sampled_from(["0", "5", "40"]),
)
def test_stdout_is_a_prefix_of_stdin_and_all_of_it_when_nothing_tripped(
    data: bytes, read_size: int, extra: list[str], limit: str
) -> None:
    args = [*SMALL_KNOBS, "--max-response-chars", limit, *extra]
    with tempfile.TemporaryFile() as report:
        told = [*args, "--report", f"/dev/fd/{report.fileno()}"]
        status, out = in_process(told, data, read_size)
        report.seek(0)
        tripped = b'"type":"verdict"' in report.read()
    assert status in ((3, 4, 5, 6) if tripped else (0, 5, 6))
    assert data.startswith(out)
    assert tripped or out == data
    # A dry run passes everything, whatever it finds.
    assert in_process([*args, "--dry-run"], data, read_size)[1] == data


@settings(max_examples=100)
@given(data=st.binary(max_size=200), read_size=st.integers(1, 64))
def test_any_bytes_pass_unchanged(data: bytes, read_size: int) -> None:
    status, out = in_process([], data, read_size)
    assert (status in (0, 5, 6), out) == (True, data)


@settings(max_examples=60)
@given(
    deltas_=st.lists(st.sampled_from(["a b ", "a ", "b", " ", "other ", "é🧱 "]), max_size=40),
    read_size=st.integers(1, 400),
)
def test_where_reads_fall_changes_nothing_in_a_stream(deltas_: list[str], read_size: int) -> None:
    data = b"".join(map(event, deltas_)) + DONE
    args = [*SMALL_KNOBS, "--max-response-chars", "60"]
    assert in_process(args, data, read_size) == in_process(args, data, stdio.READ_SIZE)


# --- The fixtures --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXPECTED)
@pytest.mark.parametrize("read_size", [37, 4096, None])
def test_every_fixture_gives_what_is_expected(path: str, read_size: int | None) -> None:
    want, data = EXPECTED[path], (FIXTURES / path).read_bytes()
    found = run(GG, data, reads_of=read_size)
    assert found.status == found.end["status"] == want["status"]
    assert data.startswith(found.stdout)
    assert (found.end["bytes_out"], found.stdout == data) == (
        len(found.stdout),
        want["status"] not in (3, 4),
    )
    choices = want.get("choices", {"0": want})
    tripped = {int(index): c for index, c in choices.items() if c["verdict"]}
    verdicts = [(v["choice"], v["kind"], v["words"], v["chars"]) for v in found.of("verdict")]
    assert verdicts == [
        (i, c["verdict"], c["trip_word"], c["trip_char"]) for i, c in tripped.items()
    ]
    if "choices" in want:
        assert found.end["generation_id"] == want["generation_id"]
        assert found.end["format"] == want["format"]
        assert found.end["end"] == want["end"]
    else:
        assert (found.end["format"], found.end["end"]) == ("text", "tripped" if tripped else "done")
    if not tripped:
        content = found.of("begin")[0]["rules"]["saturation"]
        assert content["window_words"] == 256
        assert found.end["words"] == sum(c["words"] for c in choices.values())
        assert found.end["chars"] == sum(c["chars"] for c in choices.values())
        assert found.end["usage"] == want.get("usage")
        assert found.end["finish_reason"] == want.get("finish_reason")


@pytest.mark.parametrize("path", EXPECTED)
def test_every_fixture_measured_to_its_end(path: str) -> None:
    """A dry run measures past the trip, up to the peaks that the oracle found."""
    want, data = EXPECTED[path], (FIXTURES / path).read_bytes()
    found = run([*GG, "--dry-run"], data)
    assert (found.status, found.stdout) == (want["status"], data)
    choices = want.get("choices", {"0": want}).values()
    highest = max(choices, key=lambda choice: choice["peak"])
    peak = found.end["peak"]["saturation"]
    assert (peak["value"], peak["word"], peak["char"], peak["ceiling"]) == (
        highest["peak"],
        highest["peak_word"],
        highest["peak_char"],
        3000,
    )
    assert found.end["words"] == sum(choice["words"] for choice in choices)
    assert found.end["chars"] == sum(choice["chars"] for choice in choices)
    assert found.end["usage"] == want.get("usage")
    assert found.end["finish_reason"] == want.get("finish_reason")


# --- The report ----------------------------------------------------------------------------------


def test_the_report_of_a_trip() -> None:
    found = run(GG, SSE_LOOP)
    assert [record["type"] for record in found.records] == ["begin", "verdict", "end"]
    begin, verdict, end = found.records
    assert begin["rules"] == {
        "saturation": {
            "window_words": 256,
            "repeat_threshold": 32,
            "min_offenders": 2,
            "min_saturated_run": 3000,
            "max_response_chars": 250_000,
        }
    }
    picked = ("rule", "kind", "channel", "choice", "offenders", "run", "words", "chars")
    assert [verdict[key] for key in picked] == [
        *("saturation", "repetition", "content", 0),
        *(2, 3000, 3065, 12261),
    ]
    assert (verdict["repeated"], verdict["onset_word"], verdict["onset_char"]) == (
        ["0;", "void"],
        65,
        261,
    )
    # Where it fired, and how much had been read by then, are two things.
    assert verdict["cut_byte"] == end["bytes_out"] == len(found.stdout)
    assert verdict["bytes_read"] == end["bytes_in"] == len(SSE_LOOP)
    assert (end["status"], end["end"], end["words"], end["chars"]) == (3, "tripped", 3065, 12261)
    assert end["peak"]["saturation"]["value"] == 3000


def test_type_stands_first_in_every_record(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with path.open("wb") as file:
        number = file.fileno()
        subprocess.run(
            [*COMMAND, *GG, "--dry-run", "--report", f"/dev/fd/{number}"],
            input=SSE_LOOP + ERROR + b"data: {nope\n\n",
            capture_output=True,
            pass_fds=[number],
            env=environment(),
            timeout=PATIENCE,
            check=False,
        )
    lines = path.read_text("utf-8").splitlines()
    kinds = ["begin", "verdict", "problem", "problem", "end"]
    assert [line.split('"')[3] for line in lines] == kinds
    assert all(line.startswith('{"type":"') for line in lines)


def test_the_report_says_how_a_reply_ended() -> None:
    ends = {
        "done": SSE_CLEAN,
        "capped": event("a", 0, "length") + DONE,
        "refused": event("a", 0, "content_filter") + DONE,
        "cut": SSE_CUT,
        "failed": SSE_CUT + ERROR,
        "malformed": SSE_CUT + b"data: {nope\n\n",
    }
    assert {end: run([], data).end["end"] for end, data in ends.items()} == {e: e for e in ends}


def test_the_report_is_written_as_things_happen(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with Open("--report", str(path)) as filter_:
        filter_.stdin.write(CLEAN)
        filter_.take(len(CLEAN))
        assert path.read_text("utf-8").startswith('{"type":"begin"')
        filter_.stdin.close()
        assert filter_.finish() == 0
    assert '"type":"end"' in path.read_text("utf-8")


def test_what_a_peer_wrote_is_escaped() -> None:
    evil = "\x1b]0;owned\x07"
    stream = deltas(f"{evil} x\n" * 2000, 100)
    error = json.dumps({"error": {"message": evil}}).encode()
    for data in (stream, b"data: " + error + b"\n\n", b"data: {" + evil.encode() + b"\n\n" + DONE):
        told = run([], data).stderr
        assert told
        assert "\x1b" not in told
        assert "\x07" not in told
        assert "\\u001b" in told


USAGES = {
    "a great integer": '{"n":123456789012345678901234567890}',
    "a lone surrogate": '{"s":"\\ud83d"}',
    "no number": '{"f":NaN,"g":[Infinity,-Infinity,1e999]}',
    "nested": '{"deep":' + "[" * 600 + "]" * 600 + "}",
    "all of it": '{"deep":' + "[" * 300 + '"\\ud83d",NaN' + "]" * 300 + "}",
}


@pytest.mark.parametrize("usage", USAGES)
def test_usage_that_json_cannot_hold(usage: str) -> None:
    block = f'{{"id":"gen-\\udc00","choices":[],"usage":{USAGES[usage]}}}'.encode()
    data = b"data: " + block + b"\n\n" + SSE_CUT + DONE
    found = run([], data)
    assert (found.status, found.stdout, found.stderr) == (0, data, "")
    assert found.end["generation_id"] == "gen-\udc00"
    assert set(found.end["usage"]) == set(json.loads(USAGES[usage]))
    assert "NaN" not in json.dumps(found.end)
    assert "Infinity" not in json.dumps(found.end)


# --- A bug of ours -------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["update", "snapshot"])
def test_a_bug_in_a_rule_costs_one_message_and_no_byte(place: str) -> None:
    program = (
        "import sys\n"
        "from loopcli.rules.saturation.rule import SaturationRule\n"
        "def broken(self, *_): raise KeyError('boom')\n"
        f"SaturationRule.{place} = broken\n"
        "from loopcli.__main__ import entry; entry()"
    )
    data = SSE_CLEAN * 3 + DONE
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=data,
        capture_output=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout == data
    if place == "update":
        assert done.returncode == 1
        assert len(done.stderr.decode().splitlines()) == 1
        assert b"boom" in done.stderr
    else:  # the filter takes no snapshots: nothing is wrong
        assert (done.returncode, done.stderr) == (0, b"")


# --- Options -------------------------------------------------------------------------------------


class Option(NamedTuple):
    """What an option changes: the same input with and without it, and the difference to be seen.

    `base` is given both times.
    """

    args: list[str]
    check: Callable[[Run, Run], bool]
    stdin: bytes = CLEAN
    base: tuple[str, ...] = ()


def lines(text: str) -> list[str]:
    return text.splitlines()


def session(*turns: Any) -> bytes:
    """A session as JSON Lines."""
    return b"".join(json.dumps(turn).encode() + b"\n" for turn in turns)


def acts(run: Run) -> list[tuple[int, str]]:
    """What the ladder did: the round, and the action that was taken."""
    return [(verdict["round"], verdict["effective"]) for verdict in run.of("verdict")]


def peak(run: Run, rule: str) -> int:
    return int(run.end["peak"][rule]["value"])


SAME: Any = {"calls": [{"name": "ls", "args": {"path": "."}}]}
TURNS = ("--input", "turns")
ESCALATING = (*TURNS, "--escalate", "2", "--block", "0", "--escalation-advisor")
SAME_CALLS = session(*[SAME] * 9)
MOVING = session(*({**SAME, "results": [f"{n} %"]} for n in range(9)))
NUMBERED = session(*({"calls": [{"name": "ls", "args": {"path": ".", "n": n}}]} for n in range(9)))
ALTERNATING = session(*({"calls": [{"name": "ls", "args": {"path": p}}]} for p in "ab" * 7))
TAILING = session({"text": "I am here. " * 6})
AGENTS = ROOT / "tests" / "support" / "agents.jsonc"
OPTIONS = {
    "input_": Option(
        ["--input", "text"],
        lambda off, on: (off.end["format"], on.end["format"]) == ("chat", "text"),
        SSE_CLEAN,
    ),
    "watch": Option(
        ["--watch", "reasoning"],
        lambda off, on: (off.end["words"] > 0, on.end["words"]) == (True, 0),
        SSE_CLEAN,
    ),
    "rules": Option(
        ["--rules", "nothing-of-that-name"], lambda off, on: (off.status, on.status) == (0, 2)
    ),
    "preset": Option(
        ["--preset", "nothing-of-that-name"], lambda off, on: (off.status, on.status) == (0, 2)
    ),
    "config": Option(
        ["--config", str(AGENTS)],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (2, 3, 53),
        SMALL_LOOP,
        ("--agent", "small"),
    ),
    "agent": Option(
        ["--agent", "small"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (2, 3, 53),
        SMALL_LOOP,
        ("--config", str(AGENTS)),
    ),
    "window_words": Option(
        ["--window-words", "8"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 53),
        SMALL_LOOP,
        ("--repeat-threshold", "3", "--min-saturated-run", "6"),
    ),
    "repeat_threshold": Option(
        ["--repeat-threshold", "3"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 53),
        SMALL_LOOP,
        ("--window-words", "8", "--min-saturated-run", "6"),
    ),
    "min_offenders": Option(
        ["--min-offenders", "1"],
        lambda off, on: (off.status, on.status) == (0, 3),
        b"void " * 40,
        tuple(SMALL),
    ),
    "min_saturated_run": Option(
        ["--min-saturated-run", "6"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 53),
        SMALL_LOOP,
        ("--window-words", "8", "--repeat-threshold", "3"),
    ),
    "period_letters": Option(
        ["--period-letters", "300"],
        lambda off, on: (off.status, on.status, on.stdout) == (0, 3, SMALL_LOOP[:308]),
        SMALL_LOOP,
    ),
    "period_signs": Option(
        ["--period-signs", "300"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 302),
        b"?!" * 200,
    ),
    "period_art": Option(
        ["--period-art", "9000"],
        lambda off, on: (len(off.stdout), len(on.stdout)) == (2406, 9006),
        b"|  |/\n" * 2000,
    ),
    "period_table": Option(
        ["--period-table", "2000"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 2114),
        b"| open | no |\n" * 300,
    ),
    "period_data": Option(
        ["--period-data", "2000"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 2003),
        b"0, " * 2000,
    ),
    "period_counter": Option(
        ["--period-counter", "2000"],
        lambda off, on: (off.status, on.status, len(on.stdout)) == (0, 3, 2025),
        b"".join(b"Gate %d is open, go on. " % n for n in range(100, 200)),
    ),
    "period_copies": Option(
        ["--period-copies", "1000"],
        lambda off, on: (len(off.stdout), len(on.stdout)) == (648, 8008),
        VOID.encode() * 1200,
    ),
    "novelty_words": Option(
        ["--novelty-words", "100"],
        lambda off, on: (off.status, on.status) == (0, 3),
        BAG,
        ("--rules", "novelty"),
    ),
    "novelty_seen": Option(
        ["--novelty-seen", "1"],
        lambda off, on: on.status == off.status == 3 and len(on.stdout) < len(off.stdout),
        BAG,
        ("--rules", "novelty", "--novelty-words", "100"),
    ),
    "stream_threshold": Option(
        ["--stream-threshold", "5"],
        lambda off, on: (len(off.stdout), len(on.stdout)) == (72, 120),
        b"I look at the log again\n" * 9,
        ("--rules", "prose"),
    ),
    "max_response_chars": Option(
        ["--max-response-chars", "9"],
        lambda off, on: (off.status, on.status, on.stdout) == (0, 4, CLEAN[:10]),
    ),
    "hold": Option(
        ["--hold"],
        lambda off, on: (len(off.stdout), on.stdout, on.status) == (12261, b"", 3),
        LOOP,
        tuple(GG),
    ),
    "dry_run": Option(
        ["--dry-run"],
        lambda off, on: (len(off.stdout), on.stdout, on.status) == (12261, LOOP, 3),
        LOOP,
        tuple(GG),
    ),
    "emit": Option(
        ["--emit", "text"],
        lambda off, on: (off.stdout, on.stdout) == (SSE_CLEAN, CLEAN),
        SSE_CLEAN,
    ),
    "trim": Option(
        ["--trim"],
        lambda off, on: (off.stdout, on.stdout) == (b"", b"Well.\n"),
        b"Well.\n" + b"round and round, " * 60,
        ("--hold",),
    ),
    "trip_event": Option(
        ["--trip-event"],
        lambda off, on: (
            on.stdout.startswith(off.stdout)
            and b'"type":"model_response_loop"' in on.stdout[len(off.stdout) :]
        ),
        SSE_LOOP,
    ),
    "strict": Option(["--strict"], lambda off, on: (off.status, on.status) == (0, 5), SSE_CUT),
    "idle_timeout": Option(
        ["--idle-timeout", "never"], lambda off, on: (off.status, on.status) == (0, 2)
    ),
    "timeout": Option(["--timeout", "never"], lambda off, on: (off.status, on.status) == (0, 2)),
    "report": Option(
        ["--report", "/dev/stderr"],
        lambda off, on: off.stderr == "" and on.stderr.startswith('{"type":"begin"'),
    ),
    "json_": Option(
        ["--json"],
        lambda off, on: (
            SENTENCE in off.stderr
            and [json.loads(line)["type"] for line in lines(on.stderr)]
            == ["begin", "verdict", "end"]
        ),
        LOOP,
        tuple(GG),
    ),
    # On a terminal only; test_progress_on_a_terminal shows what it draws there.
    "progress": Option(["--progress"], lambda off, on: off.stderr == on.stderr == ""),
    "quiet": Option(
        ["--quiet"],
        lambda off, on: (SENTENCE in off.stderr, on.stderr) == (True, ""),
        LOOP,
        tuple(GG),
    ),
    "verbose": Option(
        ["--verbose"],
        lambda off, on: (
            off.stderr == ""
            and "loop detection: armed" in lines(on.stderr)[0]
            and "5 words" in lines(on.stderr)[1]
        ),
    ),
    "color": Option(
        ["--color", "always"],
        lambda off, on: ("\x1b[" in off.stderr, "\x1b[" in on.stderr) == (False, True),
        LOOP,
    ),
    "observe": Option(
        ["--observe", "4"],
        lambda off, on: (acts(off)[0], acts(on)[0]) == ((2, "observe"), (4, "observe")),
        SAME_CALLS,
        (*TURNS, "--block", "0"),
    ),
    "steer": Option(
        ["--steer", "2"],
        lambda off, on: (acts(off)[0], acts(on)[0]) == ((2, "observe"), (2, "steer")),
        SAME_CALLS,
        TURNS,
    ),
    "escalate": Option(
        ["--escalate", "2"],
        lambda off, on: (acts(off)[0], acts(on)[0]) == ((2, "observe"), (2, "escalate")),
        SAME_CALLS,
        (*TURNS, "--escalation-advisor"),
    ),
    "block": Option(
        ["--block", "4"],
        lambda off, on: (acts(off)[1], acts(on)[1]) == ((3, "block"), (3, "observe")),
        SAME_CALLS,
        TURNS,
    ),
    "stop": Option(
        ["--stop", "4"],
        lambda off, on: (acts(off)[-1], acts(on)[-1]) == ((6, "stop"), (4, "stop")),
        SAME_CALLS,
        TURNS,
    ),
    "max_escalations": Option(
        ["--max-escalations", "1"],
        lambda off, on: (acts(off)[1], acts(on)[1]) == ((3, "escalate"), (3, "observe")),
        SAME_CALLS,
        ESCALATING,
    ),
    "escalation_model": Option(
        ["--escalation-model", "big"],
        lambda off, on: (acts(off)[0], acts(on)[0]) == ((2, "observe"), (2, "escalate")),
        SAME_CALLS,
        (*TURNS, "--escalate", "2", "--block", "0"),
    ),
    "escalation_advisor": Option(
        ["--escalation-advisor"],
        lambda off, on: (acts(off)[0], acts(on)[0]) == ((2, "observe"), (2, "escalate")),
        SAME_CALLS,
        (*TURNS, "--escalate", "2", "--block", "0"),
    ),
    "results": Option(
        ["--no-results"],
        lambda off, on: (off.status, on.status, acts(on)[-1]) == (0, 3, (6, "stop")),
        MOVING,
        TURNS,
    ),
    "loop_key": Option(
        ["--loop-key", "ls=path"],
        lambda off, on: (off.status, on.status, acts(on)[-1]) == (0, 3, (6, "stop")),
        NUMBERED,
        TURNS,
    ),
    "action": Option(
        ["--action", "ls=observe"],
        lambda off, on: (
            (off.status, on.status, set(acts(on)))
            == (
                3,
                0,
                {(n, "observe") for n in range(2, 10)},
            )
        ),
        SAME_CALLS,
        TURNS,
    ),
    "max_cycle": Option(
        ["--max-cycle", "0"],
        lambda off, on: (off.status, on.status) == (3, 0),
        ALTERNATING,
        TURNS,
    ),
    "max_period_tokens": Option(
        ["--max-period-tokens", "2"],
        lambda off, on: (peak(off, "tails"), peak(on, "tails")) == (6, 1),
        TAILING,
        TURNS,
    ),
    "min_repeats": Option(
        ["--min-repeats", "7"],
        lambda off, on: (off.status, on.status) == (3, 0),
        TAILING,
        TURNS,
    ),
    "min_covered_tokens": Option(
        ["--min-covered-tokens", "19"],
        lambda off, on: (off.status, on.status) == (3, 0),
        TAILING,
        TURNS,
    ),
    "max_window_tokens": Option(
        ["--max-window-tokens", "12"],
        lambda off, on: (peak(off, "tails"), peak(on, "tails")) == (6, 4),
        TAILING,
        TURNS,
    ),
    "state": Option(
        # Nothing can be made there: that it was tried is seen. What is remembered: see
        # tests/cli/test_sessions_filter.py.
        ["--state", "/dev/null/state"],
        lambda off, on: (off.status, on.status, "/dev/null/state" in on.stderr) == (0, 1, True),
        session(SAME),
        TURNS,
    ),
    "version": Option(["--version"], lambda off, on: on.stdout.startswith(b"loopcheck ")),
}
# What can only be asked for on the command line.
FLAGS_ONLY = {"version"}


def test_every_option_is_in_the_table() -> None:
    assert {param.name for param in cli.params} == set(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_changes_something(name: str) -> None:
    option = OPTIONS[name]
    reported = name != "report"
    off = run(option.base, option.stdin, report=reported)
    on = run([*option.base, *option.args], option.stdin, report=reported)
    assert option.check(off, on), (off, on)


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - FLAGS_ONLY))
def test_each_option_has_an_environment_variable(name: str) -> None:
    option = OPTIONS[name]
    flag, *value = option.args
    negated = flag.startswith("--no-")
    variable = "LOOPCHECK_" + flag.removeprefix("--no-").strip("-").replace("-", "_").upper()
    environ = {variable: value[0] if value else "0" if negated else "1"}
    reported = name != "report"
    off = run(option.base, option.stdin, report=reported)
    on = run(option.base, option.stdin, environ, report=reported)
    assert option.check(off, on), (off, on)


def test_some_names_are_no_settings() -> None:
    """They are likely names for something else."""
    extra = {"LOOPCHECK_VERSION": "0.1.0", "LOOPCHECK_HELP": "nowhere"}
    assert run([], CLEAN, extra)[:3] == (0, CLEAN, "")


def test_a_flag_goes_before_the_environment_before_the_preset() -> None:
    extra = {"LOOPCHECK_MAX_RESPONSE_CHARS": "5", "LOOPCHECK_EMIT": "text"}
    knobs = ["--max-response-chars", "7"]
    assert run(["--preset", "gg"], CLEAN, extra).stdout == CLEAN[:6]
    assert run(["--preset", "gg", *knobs], CLEAN, extra).stdout == CLEAN[:8]
    assert run(["--emit", "raw", *knobs], SSE_CLEAN, extra).stdout == event("a reply like ")
    assert run(["--preset", "gg"], LOOP).status == 3


def test_all_defects_of_knobs_are_told_together() -> None:
    args = ["--window-words", "0", "--min-offenders", "1.5", "--max-response-chars", "9" * 30]
    extra = {"LOOPCHECK_REPEAT_THRESHOLD": "many", "LOOPCHECK_MIN_OFFENDERS": "3"}
    found = run(args, CLEAN, extra)
    assert (found.status, found.stdout) == (2, b"")
    assert [line.removeprefix("loopcheck: ").split(" = ")[0] for line in lines(found.stderr)] == [
        "--window-words",
        "LOOPCHECK_REPEAT_THRESHOLD",
        "--min-offenders",
        "--max-response-chars",
    ]


def test_knobs_that_leave_only_the_backstop_earn_a_warning() -> None:
    found = run(["--min-offenders", "300", "--window-words", "64"], CLEAN)
    assert (found.status, found.stdout) == (0, CLEAN)
    assert found.stderr.startswith("loopcheck: warning: min-offenders (300) is larger than")
    assert "can never fire" in found.stderr


@pytest.mark.parametrize(
    ("stdin", "status", "out"),
    [
        (SSE_CLEAN, 0, SSE_CLEAN),
        (CLEAN, 0, CLEAN),
        (SSE_LOOP, 3, b""),
        (SSE_CLEAN + ERROR, 6, b""),
        (SSE_CLEAN + b"data: {nope\n\n", 5, b""),
    ],
)
def test_held_output_is_printed_when_the_reply_was_clean(
    stdin: bytes, status: int, out: bytes
) -> None:
    assert run(["--hold"], stdin)[:2] == (status, out)


def test_held_output_waits_for_the_end() -> None:
    with Open("--hold") as filter_:
        filter_.stdin.write(CLEAN)
        assert not select.select([filter_.stdout], [], [], 0.3)[0]
        filter_.stdin.close()
        assert filter_.take(len(CLEAN)) == CLEAN
        assert filter_.finish() == 0


def test_held_output_may_be_large() -> None:
    """More than is kept in memory."""
    data = b"".join(b"line %d\n" % i for i in range(1_000_000))
    found = run(["--hold", "--max-response-chars", "0"], data)
    assert (found.status, found.stdout == data) == (0, True)


@pytest.mark.parametrize("args", [["--hold", "--dry-run"], ["--dry-run"]])
def test_a_dry_run_never_cuts(args: list[str]) -> None:
    data = SSE_LOOP + ERROR + b"data: {nope\n\nthe rest"
    found = run(args, data)
    assert (found.status, found.stdout) == (5, data)


def test_emitted_text_is_the_first_choices_content() -> None:
    data = event("one ") + event("other ", 1) + event("zwei 🧱 ") + DONE
    assert run(["--emit", "text"], data).stdout == "one zwei 🧱 ".encode()
    assert run(["--emit", "text"], b"text \xff as it is").stdout == "text \ufffd as it is".encode()
    tripped = run([*GG, "--emit", "text"], SSE_LOOP)
    assert (tripped.status, tripped.stdout) == (3, LOOP[:12261])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_trip_event_is_an_event_of_its_own(end: bytes) -> None:
    stream = deltas(VOID * 2000, 100).replace(b"\n", end)
    cut = run(GG, stream).stdout
    found = run([*GG, "--trip-event"], stream)
    assert found.status == 3
    assert found.stdout.startswith(cut)
    first, second, rest = found.stdout[len(cut) :].split(b"\n\n")
    error = json.loads(first.removeprefix(b"data: "))["error"]
    assert (error["type"], second, rest) == ("model_response_loop", b"data: [DONE]", b"")
    assert SENTENCE in error["message"]
    # What a client downstream makes of it.
    again = run(GG, found.stdout, {"LOOPCHECK_MIN_OFFENDERS": "99"})
    assert (again.status, again.end["end"]) == (6, "failed")


def test_a_trip_event_after_an_event_without_a_blank_line() -> None:
    """The stream sends none at all: the event must not run into the last one."""
    stream = deltas(VOID * 2000, 100).replace(b"\n\n", b"\n")
    found = run([*GG, "--trip-event"], stream)
    assert found.status == 3
    again = run(GG, found.stdout, {"LOOPCHECK_MIN_OFFENDERS": "99"})
    assert (again.status, again.end["end"]) == (6, "failed")


def test_a_trip_on_the_very_last_event_gets_its_event_too() -> None:
    """The blank line that would complete it never came."""
    stream = deltas(VOID * 2000, 16_000).removesuffix(b"\n\n")
    found = run(["--trip-event"], stream)
    assert found.status == 3
    assert b'"type":"model_response_loop"' in found.stdout
    assert found.stdout.endswith(b"\n\n" + DONE)


def test_a_trip_event_adds_nothing_to_plain_text_or_to_a_clean_stream() -> None:
    found = run([*GG, "--trip-event"], LOOP)
    assert found.stdout == LOOP[:12261]
    assert "warning: --trip-event" in found.stderr
    assert run(["--trip-event"], SSE_CLEAN).stdout == SSE_CLEAN


def test_a_bad_data_line_ends_neither_the_judging_nor_the_copying() -> None:
    data = SSE_CUT + b"data: {nope\n\n" + SSE_LOOP
    found = run([], data)
    assert (found.status, len(found.of("verdict"))) == (5, 1)
    assert data.startswith(found.stdout)
    assert len(found.stdout) < len(data)
    assert [problem["line"] for problem in found.of("problem")] == [3]


def test_one_choice_of_two_loops() -> None:
    stream = b"".join(event(f"word{i} ") + event(VOID, 1) for i in range(2000))
    found = run(GG, stream)
    (verdict,) = found.of("verdict")
    assert (found.status, verdict["choice"], verdict["words"]) == (3, 1, 3065)
    assert "choice 1: 2 words repeated" in found.stderr


def test_saturation_judges_content_and_period_every_channel_unless_told_otherwise() -> None:
    thought = [{"reasoning_content": VOID}, {"tool_calls": [{"index": 0, "function": {}}]}]
    thought[1]["tool_calls"][0]["function"] = {"name": "f", "arguments": VOID}
    for delta, channel in zip(thought, ("reasoning", "tool-args"), strict=True):
        choice = {"index": 0, "delta": delta}
        record = b"data: " + json.dumps({"id": "g", "choices": [choice]}).encode() + b"\n\n"
        stream = record * 2000 + DONE
        found = run(GG, stream)
        assert (found.status, found.end["words"], found.end["chars"]) == (0, 0, 0)
        found = run([], stream)
        assert (found.status, found.end["chars"]) == (3, 648)
        assert [(v["rule"], v["channel"]) for v in found.of("verdict")] == [("period", channel)]
        assert run(["--watch", "content"], stream).status == 0
        assert run([*GG, "--watch", channel], stream).of("verdict")[0]["words"] == 3065


@pytest.mark.parametrize(
    ("args", "extra", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_when_messages_are_coloured(args: list[str], extra: dict[str, str], colored: bool) -> None:
    assert ("\x1b[" in run(args, LOOP, extra).stderr) is colored


def on_a_terminal(args: list[str], *stdin: bytes) -> str:
    """What the filter writes to a terminal that is its standard error."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 100))
    written = b""
    with Open(*args, stderr=slave) as filter_:
        os.close(slave)
        for piece in stdin:
            filter_.stdin.write(piece)
            filter_.take(len(piece))
            time.sleep(0.15)  # a drawing that comes sooner is left out
        filter_.stdin.close()
        filter_.finish()
        # The other side is closed, which a terminal tells by an error.
        with contextlib.suppress(OSError):
            while data := os.read(master, 65536):
                written += data
    os.close(master)
    return written.decode()


def test_progress_on_a_terminal() -> None:
    pieces = [deltas(VOID * 300, 100) for _ in range(4)] + [DONE]
    drawn = on_a_terminal([*GG, "--progress"], *pieces)
    # Which of the reads are drawn is a matter of time; 65 words come before the run.
    figures = re.findall(
        r"([\d,]+) words, ([\d,]+) characters, saturation ([\d,]+) of 3,000", drawn
    )
    numbers = [[int(figure.replace(",", "")) for figure in row] for row in figures]
    assert numbers
    assert all((chars, run) == (words * 4, words - 65) for words, chars, run in numbers)
    assert drawn.endswith("\r")  # wiped
    assert on_a_terminal(GG, *pieces) == ""


def test_a_terminal_gets_colour_by_itself() -> None:
    assert "\x1b[" in on_a_terminal([], SSE_CUT)
    assert "\x1b[" not in on_a_terminal(["--color", "never"], SSE_CUT)


# --- Descriptors that are closed -----------------------------------------------------------------


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND],
        capture_output=True,
        env=environment(),
        cwd=cwd,
        timeout=PATIENCE,
        check=False,
    )


def test_the_report_never_takes_the_place_of_a_closed_stdout(tmp_path: Path) -> None:
    """A file that is opened gets the lowest free number, which would be 1."""
    done = shell('echo data | "$@" --report report >&-', tmp_path)
    assert done.returncode == 1
    records = (tmp_path / "report").read_bytes().splitlines()
    assert b"data" not in records
    assert all(json.loads(record) for record in records)


def test_a_closed_stderr_costs_nothing(tmp_path: Path) -> None:
    done = shell('echo data | "$@" --report report --verbose 2>&-', tmp_path)
    assert (done.returncode, done.stdout) == (0, b"data\n")
    done = shell('echo data | "$@" --nope 2>&-', tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")


def test_help_for_a_reader_that_has_gone() -> None:
    """As `loopcheck --help | true`: dies by SIGPIPE like everything else, without a word."""
    with open(closed_pipe(), "wb") as pipe:
        done = subprocess.run(
            [*COMMAND, "--help"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")
