"""What a person sees: the reply and the messages on one terminal of 80 columns."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import termios

import pytest

from tests.support.processes import PATIENCE, environ

LOOP = "Well.\n" + "round and round, " * 60


def chat(*texts: str, end: bool = True) -> str:
    """A chat stream of these deltas."""
    deltas = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    events = [f"data: {json.dumps(delta)}\n\n" for delta in deltas]
    return "".join(events) + ("data: [DONE]\n\n" if end else "")


def shown(*arguments: str, stdin: str) -> tuple[str, int]:
    """What the filter shows on a terminal that is its output and its standard error."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "loopcli", *arguments],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env=environ(TERM="dumb"),
    )
    os.close(theirs)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(stdin.encode())
    written = b""
    with contextlib.suppress(OSError):  # a terminal whose other side is closed
        while data := os.read(ours, 65536):
            written += data
    os.close(ours)
    return written.decode().replace("\r\n", "\n"), process.wait(PATIENCE)


def test_a_clean_reply_ends_with_a_new_line() -> None:
    assert shown("--emit", "text", stdin=chat("All ", "is well.")) == ("All is well.\n", 0)


def test_a_clean_reply_that_ends_a_line_gets_no_other() -> None:
    assert shown("--emit", "text", stdin=chat("All is well.\n")) == ("All is well.\n", 0)


def test_no_reply_is_no_line() -> None:
    assert shown("--emit", "text", stdin=chat()) == ("", 0)


@pytest.mark.parametrize("arguments", [["--emit", "text"], ["--input", "text"]])
def test_a_trip_is_reported_below_the_text(arguments: list[str]) -> None:
    stdin = chat(LOOP) if "--emit" in arguments else LOOP
    screen, status = shown(*arguments, stdin=stdin)
    text, _, message = screen.rpartition("\nloopcheck: ")
    assert status == 3
    assert LOOP.startswith(text)
    assert len(text) > 600
    place = " in chat over sse" if "--emit" in arguments else ""
    assert message == (
        f'stopped a loop{place} (period, letters): "round and round, " × 38 since character 6; '
        "not a loop? --period-letters 1300\n"
    )


def test_an_upstream_error_is_reported_below_the_text() -> None:
    error = f"data: {json.dumps({'error': {'message': 'overloaded'}})}\n\n"
    screen, status = shown("--emit", "text", stdin=chat("Half a", end=False) + error)
    text, _, message = screen.partition("\nloopcheck: ")
    assert (status, text) == (6, "Half a")
    assert "overloaded" in message
    assert message.endswith("\n")


def test_of_two_messages_only_the_first_ends_a_line() -> None:
    error = f"data: {json.dumps({'error': {'message': 'overloaded'}})}\n\n"
    screen, _ = shown("--emit", "text", stdin=chat("Half", end=False) + error + error)
    assert "\n\n" not in screen


def test_a_reply_that_is_not_on_the_terminal_is_left_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loopcli", "--emit", "text"],
        input=chat("All is well.").encode(),
        capture_output=True,
        env=environ(),
        timeout=PATIENCE,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"All is well.", b"")


def test_in_one_pipe_the_message_follows_the_bytes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loopcli", "--input", "text"],
        input=LOOP.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environ(),
        timeout=PATIENCE,
        check=False,
    )
    text, _, message = done.stdout.decode().partition("loopcheck: ")
    assert LOOP.startswith(text)
    assert len(text) > 600
    assert message.endswith("\n")


def test_run_ends_the_line_of_a_clean_reply() -> None:
    screen = shown("run", "--emit", "text", "cat", stdin=chat("All ", "is well."))
    assert screen == ("All is well.\n", 0)


def test_run_reports_a_loop_below_the_text() -> None:
    screen, status = shown("run", "--stream", "--emit", "text", "cat", stdin=chat(LOOP))
    text, _, message = screen.rpartition("\nloopcheck: ")
    assert status == 123
    assert LOOP.startswith(text)
    assert len(text) > 600
    assert message.startswith("stopped a loop in chat over sse (period, letters): ")


def test_run_reports_a_discarded_loop_above_the_reply() -> None:
    stdin = chat(LOOP)
    screen, status = shown("run", "--retries", "0", "cat", stdin=stdin)
    assert status == 123
    assert screen.startswith("loopcheck: stopped a loop")
    assert len(screen.splitlines()) == 1


@pytest.mark.parametrize("size", [(24, 80), (0, 0)], ids=str)
@pytest.mark.parametrize("command", [["--progress"], ["run", "--progress", "cat"]], ids=" ".join)
def test_progress_is_shown_whatever_size_the_terminal_claims(
    command: list[str], size: tuple[int, int]
) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, size)
    process = subprocess.Popen(
        [sys.executable, "-m", "loopcli", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environ(TERM="xterm"),
    )
    os.close(theirs)
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(chat("All ", "is well.").encode())
    drawn = b""
    with contextlib.suppress(OSError):
        while data := os.read(ours, 65536):
            drawn += data
    os.close(ours)
    assert process.wait(PATIENCE) == 0
    assert "2 words, 12 characters, " in drawn.decode()
