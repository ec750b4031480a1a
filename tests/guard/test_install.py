"""Installing the hook changes one place in the settings, and uninstalling restores them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hooks import claude, gemini
from processes import PATIENCE, environ, loopcheck

from loopcli.guard.programs import MARK, PROGRAMS

JSON_PROGRAMS = [name for name, program in PROGRAMS.items() if program.event]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def guard(tmp_path: Path) -> Run:
    """`loopcheck guard` in an empty home, with a `loopcheck` on the path."""
    script = tmp_path / "bin" / "loopcheck"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m loopcli "$@"\n')
    script.chmod(0o755)
    variables = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"), "")
    variables |= {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    variables["PATH"] = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return lambda *arguments, **more: loopcheck("guard", *arguments, **(variables | more))


def settings_of(home: Path, name: str) -> Path:
    return home / PROGRAMS[name].folder / PROGRAMS[name].file


def commands(settings: Any, name: str) -> list[str]:
    return [
        hook["command"]
        for group in settings["hooks"][PROGRAMS[name].event]
        for hook in group["hooks"]
    ]


OTHERS: dict[str, Any] = {
    "model": "big",
    "count": 2**70,
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}],
        "BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]}],
        "Stop": [],
    },
    "odd": ["\u00e9", None],
}
BEFORE = {
    "empty": "",
    "settings": "{}",
    "others": json.dumps(OTHERS, indent=7) + "\n\n",
    "compact": json.dumps(OTHERS, separators=(",", ":")),
}


def test_without_write_nothing_is_written(guard: Run, tmp_path: Path) -> None:
    for name in PROGRAMS:
        done = guard("install", name)
        assert (done.returncode, bool(done.stdout)) == (0, True)
        assert not settings_of(tmp_path, name).exists()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_that_was_not_there_is_gone_again(name: str, guard: Run, tmp_path: Path) -> None:
    printed = guard("install", name).stdout
    assert guard("install", name, "--write").returncode == 0
    assert settings_of(tmp_path, name).read_text() == printed
    assert guard("uninstall", name).returncode == 0
    assert not settings_of(tmp_path, name).exists()
    assert "there is no hook" in guard("uninstall", name).stderr


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", JSON_PROGRAMS)
def test_a_file_is_restored_byte_for_byte(
    name: str, before: str, guard: Run, tmp_path: Path
) -> None:
    file = settings_of(tmp_path, name)
    file.parent.mkdir()
    file.write_text(BEFORE[before])
    file.chmod(0o600)
    assert guard("install", name, "--write").returncode == 0
    assert guard("install", name, "--write", "--threshold", "4").returncode == 0
    settings = json.loads(file.read_text())
    (command,) = [one for one in commands(settings, name) if one != "mine"]
    assert command.endswith("/loopcheck guard hook --threshold 4 2>/dev/null || true")
    kept = {key: value for key, value in settings.items() if key != "hooks"}
    wanted = json.loads(BEFORE[before] or "{}")
    assert kept == {key: value for key, value in wanted.items() if key != "hooks"}
    assert file.stat().st_mode & 0o777 == 0o600
    guard("uninstall", name)
    assert file.read_text() == BEFORE[before]


@pytest.mark.parametrize("name", JSON_PROGRAMS)
def test_a_file_that_was_changed_since_loses_only_the_hook(
    name: str, guard: Run, tmp_path: Path
) -> None:
    file = settings_of(tmp_path, name)
    file.parent.mkdir()
    file.write_text(json.dumps(OTHERS))
    guard("install", name, "--write")
    changed = json.loads(file.read_text()) | {"new": 1}
    file.write_text(json.dumps(changed))
    guard("install", name, "--write")
    file.write_text(file.read_text() + " ")
    assert "only the hook was taken out" in guard("uninstall", name).stderr
    assert json.loads(file.read_text()) == OTHERS | {"new": 1}


@pytest.mark.parametrize(
    "content",
    ["// a note\n{}", "[]", "{", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', "\udcff"],
)
def test_a_file_that_cannot_be_changed_safely_is_left(
    content: str, guard: Run, tmp_path: Path
) -> None:
    file = settings_of(tmp_path, "claude-code")
    file.parent.mkdir()
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    done = guard("install", "claude-code", "--write")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert str(file) in done.stderr
    assert file.read_bytes() == content.encode("utf-8", "surrogateescape")


def test_a_plugin_of_somebody_else_is_not_replaced(guard: Run, tmp_path: Path) -> None:
    file = settings_of(tmp_path, "opencode")
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    assert guard("install", "opencode", "--write").returncode == 2
    assert "there is no hook" in guard("uninstall", "opencode").stderr
    assert file.read_text() == "mine"


def test_a_plugin_that_was_changed_is_not_deleted(guard: Run, tmp_path: Path) -> None:
    file = settings_of(tmp_path, "opencode")
    guard("install", "opencode", "--write")
    file.write_text(f"{MARK}\nmore")
    assert guard("uninstall", "opencode").returncode == 2
    assert file.exists()


def test_the_folder_of_the_program_is_respected(guard: Run, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    guard("install", "codex", "--write", CODEX_HOME=str(folder))
    assert [path.name for path in folder.iterdir()] == ["hooks.json"]


def test_codex_needs_trust(guard: Run) -> None:
    assert "/hooks" in guard("install", "codex", "--write").stderr


def test_status_shows_where_the_hook_is(guard: Run, tmp_path: Path) -> None:
    guard("install", "claude-code", "--write")
    guard("install", "gemini-cli", "--write")
    (tmp_path / "bin" / "loopcheck").unlink()
    settings_of(tmp_path, "codex").parent.mkdir()
    settings_of(tmp_path, "codex").write_text("{")
    lines = guard("status").stdout.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["claude-code", "installed, but its program is missing"],
        ["codex", "not readable"],
        ["gemini-cli", "installed, but its program is missing"],
        ["opencode", "no hook"],
    ]


@pytest.mark.parametrize(("name", "question"), [("claude-code", claude), ("gemini-cli", gemini)])
def test_the_command_that_is_written_refuses_the_third_call(
    name: str, question: Callable[[int], str], guard: Run, tmp_path: Path
) -> None:
    guard("install", name, "--write")
    (command,) = commands(json.loads(settings_of(tmp_path, name).read_text()), name)
    variables = environ(XDG_STATE_HOME=str(tmp_path), PATH=os.environ["PATH"])

    def ask(number: int) -> tuple[int, str, str]:
        done = subprocess.run(
            ["sh", "-c", command],
            input=question(number),
            capture_output=True,
            text=True,
            env=variables,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout, done.stderr

    assert [ask(1), ask(2)] == [(0, "", "")] * 2
    status, answer, errors = ask(3)
    assert (status, errors, "[ANTI-LOOP]" in answer) == (0, "", True)
    # A program that is gone lets every call run.
    (tmp_path / "bin" / "loopcheck").unlink()
    assert ask(4) == (0, "", "")


PLAYER = """
import { LoopcheckGuard } from "PLUGIN"
const hook = (await LoopcheckGuard())["tool.execute.before"]
for (const command of ["ls", "ls", "ls", "pwd"]) {
  const input = { tool: "bash", sessionID: "ses_1", callID: String(Math.random()) }
  try { await hook(input, { args: { command } }); console.log("ran") }
  catch (error) { console.log(error.message.split(" ")[0]) }
}
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is missing")
@pytest.mark.parametrize(
    ("gone", "wanted"),
    [(False, ["ran", "ran", "[ANTI-LOOP]", "ran"]), (True, ["ran"] * 4)],
)
def test_the_plugin_throws_for_the_third_call(
    gone: bool, wanted: list[str], guard: Run, tmp_path: Path
) -> None:
    guard("install", "opencode", "--write")
    if gone:
        (tmp_path / "bin" / "loopcheck").unlink()
    plugin = shutil.copy(settings_of(tmp_path, "opencode"), tmp_path / "plugin.mjs")
    player = tmp_path / "player.mjs"
    player.write_text(PLAYER.replace("PLUGIN", str(plugin)))
    done = subprocess.run(
        ["node", player],
        capture_output=True,
        text=True,
        env=environ(XDG_STATE_HOME=str(tmp_path)),
        timeout=PATIENCE,
    )
    assert (done.stdout.split(), done.stderr) == (wanted, "")


def test_the_context_is_a_text_for_the_agent(guard: Run) -> None:
    assert "[ANTI-LOOP]" in guard("context").stdout
