"""`loopcheck analyze` over damaged and large corpora, in several processes, and interrupted."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from analyzing import COMMAND, ROOT, VOID, environment, run
from processes import PATIENCE, until_asleep

GOOD = "good words here\n"

# --- Damage --------------------------------------------------------------------------------------


class Damage(NamedTuple):
    """What is wrong beside a good file; the status, a line on stderr, and the replies left."""

    make: Callable[[Path], None]
    status: int
    line: str
    replies: int


def truncated(folder: Path) -> None:
    packed = gzip.compress("".join(f"word{n} " for n in range(20_000)).encode())
    (folder / "a.txt.gz").write_bytes(packed[:-900])


def broken_line(folder: Path) -> None:
    lines = [json.dumps({"text": f"reply {n} "}) for n in range(10_000)]
    lines[4321] = lines[4321][:7]
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")


def huge_line(folder: Path) -> None:
    # Mostly blanks, which are quickly read.
    with (folder / "a.txt").open("wb") as file:
        for number in range(1000):
            file.write((b"one line of words %d, and another, " % number).ljust(1_000_000))


DAMAGES = {
    "truncated gzip": Damage(truncated, 1, "a.txt.gz: the gzip data is truncated", 2),
    "invalid UTF-8": Damage(
        lambda folder: (folder / "a.txt").write_bytes(b"caf\xe9 \xff\xfe ") and None, 0, "", 2
    ),
    "a broken line among 10,000": Damage(broken_line, 5, "a.jsonl: line 4322: not JSON: ", 10_000),
    "an unreadable file": Damage(
        lambda folder: (folder / "a.txt").symlink_to("nowhere"),
        1,
        "a.txt: cannot read: No such file or directory",
        1,
    ),
    "an empty folder": Damage(
        lambda folder: (folder / "empty").mkdir(), 1, "empty: no files in this folder", 1
    ),
    "a symlink loop": Damage(
        lambda folder: (folder / "again").symlink_to(folder),
        1,
        "again: a symbolic link back to a folder above it; not followed",
        1,
    ),
    "no recording": Damage(
        lambda folder: (folder / "a.bin").write_bytes(bytes(range(32)) * 99) and None,
        1,
        "a.bin: unknown format: binary data",
        1,
    ),
    "an upstream error": Damage(
        lambda folder: (
            (folder / "a.sse").write_text(
                'data: {"error": {"message": "out of luck", "code": 502}}\n\n'
            )
            and None
        ),
        6,
        "a.sse: line 1: upstream error 502: out of luck",
        1,
    ),
}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", DAMAGES)
def test_damage_costs_a_line_a_status_and_nothing_else(
    name: str, jobs: str, tmp_path: Path
) -> None:
    damage = DAMAGES[name]
    damage.make(tmp_path)
    (tmp_path / "good.txt").write_text(GOOD)
    paths = ["empty", "."] if name == "an empty folder" else ["."]
    found = run(["--format", "jsonl", "--jobs", jobs, *paths], tmp_path)
    assert found.status == damage.status, found.stderr
    assert damage.line in found.stderr
    # That a folder has been read before is worth a line, too.
    lines = [line for line in found.stderr.splitlines() if "read already" not in line]
    assert len(lines) == bool(damage.line)
    assert len(found.rows) == damage.replies
    assert found.rows[-1]["id"].endswith("good.txt#1")


def test_the_worst_of_several_statuses_wins(tmp_path: Path) -> None:
    for name in ("truncated gzip", "an upstream error"):
        DAMAGES[name].make(tmp_path)
    assert run(["."], tmp_path).status == 1
    (tmp_path / "a.txt.gz").unlink()
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "a.txt").write_text(GOOD)
    assert run(["--check", "loop"], tmp_path).status == 3
    assert run(["--check", "."], tmp_path).status == 6


MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(done.returncode, kilobytes, done.stdout.decode())
"""


def test_a_line_of_a_gigabyte_takes_the_memory_of_a_small_one(tmp_path: Path) -> None:
    huge_line(tmp_path)
    args = [*COMMAND, "--format", "jsonl", "--max-response-chars", "0", "a.txt"]
    args += ["--rules", "saturation"]
    found = subprocess.run(
        [sys.executable, "-c", MEASURED, *args],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=True,
    )
    status, kilobytes, row = found.stdout.decode().split(maxsplit=2)
    assert status == "0"
    assert json.loads(row)["chars"] == (tmp_path / "a.txt").stat().st_size
    assert int(kilobytes) < 100 * 1024


# --- Several processes ---------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A corpus of several tasks: files of every size, among them some that make trouble."""
    for number in range(300):
        folder = tmp_path / ("loop" if number % 7 == 0 else "clean")
        folder.mkdir(exist_ok=True)
        text = (VOID if number % 7 == 0 else f"file {number} has words ") * (number * 5)
        (folder / f"{number}.txt").write_text(text)
    truncated(tmp_path)
    broken_line(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--format", "jsonl"],
        ["--check", "--format", "json"],
        ["--sweep", "min-saturated-run=300,600", "--sweep", "window-words=64,128"],
        ["--suggest", "--format", "json"],
        ["--rules", "novelty", "--sweep", "novelty-words=300,900", "--suggest", "--format", "json"],
        ["--rules", "period", "--sweep", "period-letters=300,900"],
    ],
)
def test_any_number_of_processes_gives_the_same(args: list[str], many: Path) -> None:
    alone = run([*args, "--jobs", "1", "."], many)
    assert alone.stdout
    for jobs in ("2", "5"):
        assert run([*args, "--jobs", jobs, "."], many) == alone


def test_standard_input_among_files_in_several_processes(many: Path) -> None:
    data = (VOID * 2000).encode()
    alone = run(["--format", "jsonl", "loop", "-", "clean"], many, stdin=data)
    several = run(["--format", "jsonl", "--jobs", "3", "loop", "-", "clean"], many, stdin=data)
    assert alone == several
    assert "<stdin>#1" in {row["id"] for row in several.rows}


JSONL = ("--format", "jsonl")
DYING = """
import os, signal, sys
from loopcli.recordings import corpus
from loopcli.cli import main
read = corpus.read
def dying(file, settings):
    if "7.txt" in file.path and file.path.endswith("/77.txt"):
        os.kill(os.getpid(), signal.SIGKILL)
    return read(file, settings)
corpus.read = dying
sys.exit(main(["analyze", *sys.argv[1:]]))
"""


def test_a_worker_that_dies_takes_one_file_with_it(many: Path) -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            DYING,
            "--rules",
            "saturation",
            "--jobs",
            "2",
            *JSONL,
            "loop",
            "clean",
        ],
        cwd=many,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert found.returncode == 1
    line = "loop/77.txt: not analysed: the process that read it ended by signal 9"
    assert found.stderr.splitlines() == [f"loopcheck: {line}"]
    assert len(found.stdout.splitlines()) == 299


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_workers_end_with_their_parent(by: signal.Signals, tmp_path: Path) -> None:
    for name in "ab":  # pipes that nobody writes to: no worker gets done by itself
        os.mkfifo(tmp_path / name)
    with subprocess.Popen(
        [*COMMAND, "--jobs", "2", "a", "b"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        until_asleep(child.pid)
        child.send_signal(by)
        try:
            out, _ = child.communicate(timeout=PATIENCE)  # it ends when nobody holds it open
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    assert (child.returncode, out) == (-by, b"")


# --- Interruption --------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("args", [[], ["--sweep", "min-saturated-run=100,200"]])
def test_ctrl_c_ends_with_what_there_is(jobs: str, args: list[str], tmp_path: Path) -> None:
    # The second file is a pipe that nobody writes to, so the run cannot end by itself.
    (tmp_path / "a.txt").write_text(VOID * 2000)
    os.mkfifo(tmp_path / "b")
    with subprocess.Popen(
        [*COMMAND, "--jobs", jobs, *args, "a.txt", "b", "a.txt", "c"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        until_asleep(child.pid)
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == -signal.SIGINT  # a shell says 130
    assert "Traceback" not in err
    assert "interrupted: " in err
    if not args:
        assert "a.txt#1" in out
        assert "1 transcript (" in out
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
        pytest.fail("a worker was left behind")


def test_who_reads_no_more_ends_it(many: Path) -> None:
    command = f"{sys.executable} -m loopcli analyze --format jsonl . 2>&- | head -n 1"
    found = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        cwd=many,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines()[-1] in {"141", "5", "1"}
    full = f"{sys.executable} -m loopcli analyze --format jsonl loop > /dev/full"
    done = subprocess.run(
        ["bash", "-c", full], cwd=many, env=environment(), capture_output=True, check=False
    )
    assert (done.returncode, b"<stdout>: No space left on device" in done.stderr) == (1, True)


def test_a_bar_on_a_terminal_only(many: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "--jobs", "2", "loop"],
        cwd=many,
        env=environment({"TERM": "xterm"}),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as child:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # how a terminal says that it is over
            while data := os.read(ours, 4096):
                seen += data
        child.wait(PATIENCE)
    os.close(ours)
    assert b"files/s" in seen
    assert b"/43" in seen


# --- What is imported ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "absent"),
    [
        (["--format", "jsonl"], {"numpy", "tabulate", "tqdm", "multiprocessing"}),
        (["--format", "table"], {"numpy", "tqdm", "multiprocessing"}),
    ],
)
def test_a_report_imports_what_it_needs(args: list[str], absent: set[str]) -> None:
    program = (
        "import sys; from loopcli.cli import main\n"
        f"status = main(['analyze', 'fixtures/replies', *{args!r}])\n"
        "print(status, *sorted(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    status, *loaded = done.stderr.splitlines()[-1].split()
    assert status == "0"
    assert absent & set(loaded) == set()


@pytest.mark.parametrize(
    "numpy", ["sys.modules['numpy'] = None", "sys.path.insert(0, 'broken')"], ids=["none", "broken"]
)
def test_a_sweep_without_numpy_says_what_is_missing(numpy: str, tmp_path: Path) -> None:
    without_numpy(tmp_path / "broken")
    program = (
        f"import sys; {numpy}\n"
        "from loopcli.cli import main\n"
        "sys.exit(main(['analyze', '--suggest', '.']))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'loopcheck[sweep]'" in done.stderr


def test_a_large_corpus_needs_no_numpy_that_works(many: Path) -> None:
    without_numpy(many / "broken")
    program = (
        "import sys\n"
        "from loopcli.analyze import survey; survey._WORTH_NUMPY = 0\n"
        "from loopcli.cli import main\n"
        "sys.exit(main(['analyze', '--jobs', sys.argv[1], '--format', 'jsonl', 'loop', 'clean']))"
    )
    found = []
    for jobs, path in (("1", ""), ("1", "broken"), ("2", "broken")):
        done = subprocess.run(
            [sys.executable, "-c", program, jobs],
            cwd=many,
            env=environment() | {"PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)]))},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        found.append(done.stdout)
    assert found[0] == found[1] == found[2] != ""


def without_numpy(folder: Path) -> None:
    """Put a numpy into a folder that was built for something else."""
    (folder / "numpy").mkdir(parents=True)
    (folder / "numpy" / "__init__.py").write_text("raise ImportError('another Python')\n")
