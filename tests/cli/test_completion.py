"""What a shell completes: commands, options, the names that they take, and files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopcli.commands.completion import Bash
from tests.support.processes import PATIENCE, environ, loopcheck

ROOT = Path(__file__).parents[2]
COMMANDS = ["analyze", "completion", "config", "guard", "help", "journal", "rules", "run"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two files and a ``loopcheck`` on the path."""
    (tmp_path / "reply.sse").touch()
    (tmp_path / "turns two.jsonl").touch()
    program = tmp_path / ".bin" / "loopcheck"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m loopcli "$@"\n')
    program.chmod(0o755)
    return tmp_path


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words; it splits at an equals sign."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        compopt() {{ :; }}  # works only where a person types
        eval "$(loopcheck completion bash)"
        COMP_WORDS=(loopcheck {quoted}); COMP_CWORD={len(words)}
        _loopcheck_completion loopcheck
        [[ ${{#COMPREPLY[@]}} = 0 ]] || printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environ(PATH=f"{folder}/.bin:{os.environ['PATH']}", PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="bash is missing")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["--min-s"], ["--min-saturated-run"]),
        (["analyze", "--max-r"], ["--max-response-chars"]),
        (["ru"], ["rules", "run"]),
        (["re"], ["reply.sse"]),
        (["reply.sse", "r"], ["reply.sse"]),  # behind a file no command may stand
        (["reply.sse", "--rul"], ["--rules"]),
        (["--rules", "per"], ["period"]),
        (["--rules", "=", "per"], ["period"]),
        (["--rules", "="], ["saturation", "period", "novelty", "prose", "streaks", "tails"]),
        (["--rules", "period,nov"], ["period,novelty"]),
        (["--watch", "content,re"], ["content,reasoning"]),
        (["analyze", "--watch", "a"], ["all"]),
        (["analyze", "--sweep", "window"], ["window-words="]),
        (["analyze", "tur"], ["turns two.jsonl"]),
        (["journal", "tur"], ["turns two.jsonl"]),
        (["--config", "rep"], ["reply.sse"]),
        (["run", "--journal", "tur"], ["turns two.jsonl"]),
        (["config", "rep"], ["reply.sse"]),
        (["help", "j"], ["journal"]),
        (["completion", "z"], ["zsh"]),
        (["rules", "x"], []),
    ],
    ids=str,
)
def test_bash(words: list[str], offered: list[str], folder: Path) -> None:
    assert completed(folder, *words) == offered


def test_bash_offers_commands_and_files(folder: Path) -> None:
    offered = completed(folder, "")
    assert offered[: len(COMMANDS)] == COMMANDS
    assert set(offered[len(COMMANDS) :]) == {"reply.sse", "turns two.jsonl", ".bin"}


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -F"), ("zsh", "#compdef"), ("fish", "complete --no")]
)
def test_each_shell_has_a_script(shell: str, mark: str) -> None:
    done = loopcheck("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert mark in done.stdout
    assert f"{shell}_complete" in done.stdout
    page = (ROOT / "man" / "loopcheck.1").read_text("ascii")
    assert f"loopcheck completion {shell}" in page


@pytest.mark.parametrize(
    ("shell", "words", "offered"),
    [
        ("zsh", "loopcheck --rules per", "plain\nperiod\n_\n"),
        ("zsh", "loopcheck --rules=per", "plain\n--rules=period\n_\n"),
        ("zsh", "loopcheck analyze rep", "file\nrep\n_\n"),
        ("zsh", "loopcheck --config=rep", "file\nrep\n_\n"),
        ("fish", "loopcheck --rules per", "plain,period"),
        ("fish", "loopcheck --rules=per", "plain,--rules=period"),
        ("fish", "loopcheck --watch content,rea", "plain,content,reasoning"),
    ],
)
def test_zsh_and_fish_ask_for_the_same(shell: str, words: str, offered: str) -> None:
    last = words.split()[-1]
    done = loopcheck(
        _LOOPCHECK_COMPLETE=f"{shell}_complete",
        COMP_WORDS=words if shell == "zsh" else words.rpartition(" ")[0],
        COMP_CWORD=str(len(words.split()) - 1) if shell == "zsh" else last,
    )
    assert done.stdout.strip() == offered.strip()


@pytest.mark.parametrize(
    ("shell", "what"),
    [
        ("zsh", "compset -P '--*='; _path_files -f"),  # what stands before the name stays
        ("fish", 'echo "$option$path"'),
        ("fish", 'string split -m 1 ","'),  # a list with commas is one value
    ],
)
def test_the_script_takes_a_value_for_what_it_is(shell: str, what: str) -> None:
    assert what in loopcheck("completion", shell).stdout


def test_another_shell() -> None:
    done = loopcheck("completion", "tcsh")
    assert done.returncode == 2
    assert "tcsh" in done.stderr


def test_the_equals_sign_of_bash_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", "loopcheck\n--rules\n=\nper")
    monkeypatch.setenv("COMP_CWORD", "3")
    from loopcli.cli import cli

    words = Bash(cli, {}, "loopcheck", "_X").get_completion_args()
    assert words == (["--rules"], "per")
