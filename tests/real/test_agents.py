"""The coding agents themselves, against a model that loops: each ends as the manual says.

``LOOPCHECK_AGENTS`` names a folder in which they were installed with npm (Claude Code, Codex,
Gemini CLI, OpenCode). The fake model stands beside the recorded data. What is missing is
skipped, with the reason.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import until

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA") or ROOT.parent / "shared" / "data")
MODEL = DATA.parent / "tools" / "fake_model.py"
PROGRAMS = Path(os.environ.get("LOOPCHECK_AGENTS", "/nonexistent")) / "node_modules" / ".bin"
TASK = "List the files here."
SECONDS = 150  # what the slowest needs for its start, many times over


def claude(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    command = ["claude", "-p", TASK, "--output-format", "stream-json", "--verbose"]
    environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy"}
    environ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    return [*command, "--allowedTools", "Bash"], environ


def codex(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        'model = "fake-model"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    )
    command = ["codex", "exec", "--json", "--skip-git-repo-check"]
    command += ["--dangerously-bypass-approvals-and-sandbox", "-c", "analytics.enabled=false"]
    return [*command, TASK], {"FAKE_KEY": "dummy"}


def gemini(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    (home / ".gemini").mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "model": {"disableLoopDetection": True},
    }
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    command = ["gemini", "-p", TASK, "--output-format", "stream-json", "--yolo"]
    environ = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url}
    return [*command, "-m", "gemini-2.5-flash"], environ | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


def opencode(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    (home / ".config" / "opencode").mkdir(parents=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"fake-model": {}},
    }
    settings = {"provider": {"fake": provider}}
    (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(settings))
    command = ["opencode", "run", "--format", "json", "-m", "fake/fake-model", TASK]
    return command, {"OPENCODE_DISABLE_MODELS_FETCH": "1"}


AGENTS = {"claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode}
pytestmark = pytest.mark.skipif(not MODEL.is_file(), reason=f"no fake model: {MODEL}")


class Ran(NamedTuple):
    """How a program ended that ran under loopcheck, and what it left."""

    status: int
    out: bytes
    err: str
    left: list[str]


def processes(mark: str) -> list[str]:
    """The command lines of the living processes whose environment has a mark."""
    living = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"AGENT_UNDER_TEST={mark}".encode() in (path / "environ").read_bytes().split(b"\0"):
                living.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:80])
        except OSError:
            continue
    return [line for line in living if line]


@contextmanager
def model(*options: str) -> Iterator[str]:
    """A fake model; its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(MODEL), "--port", str(port), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        try:
            until(listens, "the fake model listens")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def run(
    agent: Callable[[Path, str], tuple[list[str], dict[str, str]]], tmp_path: Path, *options: str
) -> Ran:
    """Run an agent under ``loopcheck run --agent-stream`` in an empty home."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "notes.txt").write_text("notes\n")
    with model(*options) as url:
        command, environ = agent(home, url)
        if not (PROGRAMS / command[0]).exists():
            pytest.skip(f"not installed: {command[0]} (LOOPCHECK_AGENTS)")
        mark = str(tmp_path)
        environ |= {"HOME": str(home), "AGENT_UNDER_TEST": mark, "PYTHONPATH": str(ROOT)}
        environ["PATH"] = f"{PROGRAMS}:{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "-m", "loopcli", "run", "--agent-stream", "--", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=work,
            env=environ,
            timeout=SECONDS,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode()[-2000:], processes(mark))


@pytest.mark.parametrize("name", AGENTS)
def test_a_tool_loop_is_ended_and_nothing_is_left(name: str, tmp_path: Path) -> None:
    ran = run(AGENTS[name], tmp_path, "--scenario", "tool-loop")
    print(f"{name}: status {ran.status}, {ran.out.count(bytes([10]))} lines; {ran.err[-300:]}")
    assert ran.left == []
    assert ran.status == 123, ran
    assert "stopped the session: Doom loop suspected" in ran.err


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("scenario", ["clean", "poll"])
def test_an_agent_that_gets_on_is_left_alone(name: str, scenario: str, tmp_path: Path) -> None:
    ran = run(AGENTS[name], tmp_path, "--scenario", scenario)
    print(f"{name}: status {ran.status}, {ran.out.count(bytes([10]))} lines; {ran.err[-300:]}")
    assert ran.left == []
    assert ran.status == 0, ran


@pytest.mark.parametrize("name", AGENTS)
def test_a_loop_of_words_is_ended(name: str, tmp_path: Path) -> None:
    # But for Gemini CLI they print a message once it is whole.
    ran = run(AGENTS[name], tmp_path, "--scenario", "text-loop", "--limit", "60")
    print(f"{name}: status {ran.status}, {ran.out.count(bytes([10]))} lines; {ran.err[-300:]}")
    assert ran.left == []
    assert ran.status == 123, ran
