"""The one class that prints message lines for people."""

from __future__ import annotations

from io import StringIO

import pytest

from loopcli.output.console import RED, Console


def test_a_line_names_the_program_and_what_it_is_about() -> None:
    stream = StringIO()
    console = Console(stream)
    console.line("it failed", source="a.txt", color=RED)
    console.warning("it may fail")
    assert stream.getvalue() == "loopcheck: a.txt: it failed\nloopcheck: warning: it may fail\n"


def test_nothing_that_a_peer_wrote_reaches_the_terminal_as_it_is() -> None:
    stream = StringIO()
    Console(stream, color=True).line("a\x1b[2Jb\nc", source="d\re", color=RED)
    assert stream.getvalue() == "\x1b[1;31mloopcheck: d\\re: \x1b[0ma\\u001b[2Jb\\nc\n"


@pytest.mark.parametrize("color", [False, True])
def test_what_stands_before_a_warning_is_coloured_on_demand(color: bool) -> None:
    stream = StringIO()
    Console(stream, color=color).warning("careful")
    before, after = ("\x1b[33m", "\x1b[0m") if color else ("", "")
    assert stream.getvalue() == f"{before}loopcheck: {after}warning: careful\n"


def test_whoever_does_not_listen_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    closed = StringIO()
    closed.close()
    for console in (Console(None), Console(closed), Console(StringIO(), quiet=True)):
        console.line("lost")
    full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115
    Console(full).line("lost")
    with pytest.raises(OSError, match="No space left"):
        full.close()
    assert capsys.readouterr() == ("", "")
