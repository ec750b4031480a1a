"""YAML that stands for more than it is: what is read, and what is refused before it is built."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from loopcli.recordings import yaml_documents
from loopcli.recordings.yaml_documents import YamlError

pytest.importorskip("yaml")

HEAD = "interactions:\n- request: {}\n  response:\n    "


def laughs(levels: int) -> str:
    lines = ["body: &b0 [x, x, x, x]"]
    for n in range(1, levels):
        lines.append(f"k{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 8)}]")
    return HEAD + "\n    ".join(lines) + "\n"


def merges(levels: int) -> str:
    lines = ["- response: &b0 {a: 1}"]
    lines += [
        f"- response: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 8)}]}}" for n in range(1, levels)
    ]
    return "interactions:\n" + "\n".join(lines) + "\n"


QUIET = {
    "plain": HEAD + "body: {string: hi}\n",
    "an anchor used a hundred times": HEAD
    + "body: &b {string: "
    + "x" * 10_000
    + "}\n"
    + "- response: {body: *b}\n" * 100,
    "a merge": merges(2),
    "as many values as may be": HEAD + "body: [" + "a," * 149_000 + "a]\n",
}
REFUSED = {
    "aliases of aliases": (laughs(12), "its aliases stand for"),
    "merges of merges": (merges(14), "its aliases stand for"),
    "a long text by alias": (
        HEAD + "body: &b " + "x" * 60_000 + "\n- {response: [" + "*b," * 20_000 + "]}\n",
        "its aliases stand for",
    ),
    "a list that holds itself": (HEAD + "body: &a [*a]\n", "its aliases stand for"),
    "nested": (HEAD + "body: " + "[" * 100_000, "nesting"),
    "too many values": (HEAD + "body: [" + "[]," * 200_000 + "a]\n", "more than 150000 values"),
}


@pytest.mark.parametrize("name", QUIET)
def test_what_recordings_hold_is_read(name: str) -> None:
    assert yaml_documents.load(QUIET[name].encode())["interactions"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_stands_for_too_much_is_refused(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(YamlError, match=message):
        yaml_documents.load(text.encode())


@pytest.mark.parametrize("name", ["bomb.yaml", "bomb.yaml.gz", "long.yaml.gz"])
def test_a_bomb_takes_no_memory(name: str, tmp_path: Path) -> None:
    data = laughs(12).encode()
    if name == "bomb.yaml.gz":
        data = gzip.compress((HEAD + "body: [" + "[]," * 5_000_000 + "a]\n").encode())
    if name == "long.yaml.gz":
        data = gzip.compress((HEAD + "body: [" + "[]," * 30_000_000 + "a]\n").encode())
    path = tmp_path / name
    path.write_bytes(data)
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'loopcli', 'analyze', sys.argv[1]])\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, kilobytes = map(int, done.stdout.split()[-2:])
    assert status in (1, 5)
    assert len(done.stderr.splitlines()) == 1
    # Kilobytes, but on macOS bytes.
    assert kilobytes < 100 * 1024 * (1024 if sys.platform == "darwin" else 1)
