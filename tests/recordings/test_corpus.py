"""A corpus on disk: which files are found, and what is said of those that cannot be."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path

import pytest
from corpora import python, texts

from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Trouble, find
from loopcli.status import Status


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, so that names are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*names: str, data: str = "x") -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(data)


def found(*paths: str, files0_from: str | None = None) -> list[str]:
    """The paths of what is found; a trouble is its text in brackets."""
    items = find(paths, files0_from=files0_from)
    return [item.path if isinstance(item, File) else f"[{item}]" for item in items]


# --- Finding -------------------------------------------------------------------------------------


def test_a_folder_is_walked_sorted_and_without_what_is_hidden(here: Path) -> None:
    put("d/b/2.txt", "d/b/10.txt", "d/a.txt", "d/.hidden/x", "d/b/.x", "d/c/e/f/g.txt")
    assert found("d") == ["d/a.txt", "d/b/10.txt", "d/b/2.txt", "d/c/e/f/g.txt"]
    assert found("d/.hidden") == ["d/.hidden/x"]
    assert found("d/b/.x") == ["d/b/.x"]


def test_the_same_file_is_read_once_however_its_path_is_spelled(here: Path) -> None:
    put("d/a.txt", "b.txt")
    assert found("d", f"{here}/d/a.txt", "b.txt", f"{here}/./b.txt", "d/../b.txt") == [
        "d/a.txt",
        "b.txt",
    ]
    # The ids stay as the path was given first.
    assert found(f"{here}/b.txt", "b.txt") == [f"{here}/b.txt"]


@pytest.mark.parametrize("pattern", ["d/**", "d/*", "d/[fs]*"])
def test_a_pattern_opens_no_fifo_and_no_socket(pattern: str, here: Path) -> None:
    put("d/file.txt")
    os.mkfifo("d/fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("d/socket")
        told = {line for line in found(pattern) if line.startswith("[")} - {
            "[d: this folder has been read already]"
        }
    why = "not a regular file; name it directly to read it"
    assert told == {f"[d/fifo: {why}]", f"[d/socket: {why}]"}
    # Who names it means it.
    assert found("d/fifo") == ["d/fifo"]


def test_files_of_a_folder_are_not_named_ones(here: Path) -> None:
    put("d/a.json", data='{"a": 1}')
    (inside,) = find(["d"])
    (named,) = find(["d/a.json"])
    assert (inside, named) == (File("d/a.json", named=False), File("d/a.json", named=True))
    told = {}
    for item in (inside, named):
        assert isinstance(item, File)
        (trouble,) = corpus.read(item, CorpusSettings())
        assert isinstance(trouble, Trouble)
        told[item.named] = trouble.status
    # To have other things in a folder is no fault; to name them is.
    assert told == {False: Status.CLEAN, True: Status.TROUBLE}


def test_nothing_is_found_twice(here: Path) -> None:
    put("d/a.txt", "d/e/b.txt")
    assert found("d/a.txt", "d", "./d/a.txt") == ["d/a.txt", "d/e/b.txt"]
    assert found("d", "d/e") == ["d/a.txt", "d/e/b.txt", "[d/e: this folder has been read already]"]


def test_patterns(here: Path) -> None:
    put("d/a.txt", "d/b.txt", "d/e/c.txt", "d/b.json", "odd[1].txt")
    assert found("d/*.txt") == ["d/a.txt", "d/b.txt"]
    assert found("d/**/*.txt") == ["d/a.txt", "d/b.txt", "d/e/c.txt"]
    assert found("d/*") == ["d/a.txt", "d/b.json", "d/b.txt", "d/e/c.txt"]
    # What is there by that very name is no pattern.
    assert found("odd[1].txt") == ["odd[1].txt"]
    assert found("d/*.md", "d/a.txt") == ["[d/*.md: no file matches this pattern]", "d/a.txt"]


def test_a_list_of_files(here: Path) -> None:
    put("a.txt", "new\nline.txt", "d/b.txt", "st*r.txt", "star.txt")
    Path("list").write_bytes(b"a.txt\0new\nline.txt\0\0d\0st*r.txt\0missing")
    wanted = [
        "a.txt",
        "new\nline.txt",
        "['': the name of the file is empty]",
        "d/b.txt",
        "st*r.txt",
    ]
    wanted.append("[missing: cannot read: No such file or directory]")
    assert found(files0_from="list") == wanted
    assert found(files0_from="none") == ["[none: cannot read: No such file or directory]"]


def test_a_list_longer_than_one_read(here: Path) -> None:
    put("a.txt")
    names = [f"{'./' * n}a.txt" for n in range(2000)]
    Path("list").write_bytes("\0".join(names).encode())
    assert found(files0_from="list") == ["a.txt"]


def test_names_that_are_not_utf_8(here: Path) -> None:
    Path(os.fsdecode(b"caf\xe9.txt")).write_text("x")
    (item,) = find(["."])
    assert isinstance(item, File)
    assert os.fsencode(item.path) == b"./caf\xe9.txt"
    assert texts(item.path)[0] == ["x"]


STDIN = """
import sys
from loopcli.recordings import corpus
for item in corpus.find(sys.argv[1:]):
    settings = corpus.CorpusSettings()
    for found in corpus.read(item, settings) if isinstance(item, corpus.File) else [item]:
        if isinstance(found, corpus.Trouble): print(found)
        else: print(found.id, [list(pieces) for _, pieces in found.lanes])
"""


def test_standard_input_is_read_once() -> None:
    assert python(STDIN, "-", "-", data=b"some words") == (
        "<stdin>#1 [['some words']]\n<stdin>: standard input can be read only once\n"
    )
    packed = gzip.compress(b'{"text":"a"}\n{"text":"b"}\n')
    assert python(STDIN, "-", data=packed) == "<stdin>#1 [['a']]\n<stdin>#2 [['b']]\n"


# --- What cannot be found ------------------------------------------------------------------------


def test_what_cannot_be_found_is_told_and_the_others_go_on(here: Path) -> None:
    put("d/a.txt", "d/z.txt")
    Path("empty").mkdir()
    Path("hidden").mkdir()
    put("hidden/.x")
    Path("d/dangling").symlink_to("nowhere")
    Path("d/itself").symlink_to("itself")
    Path("d/loop").symlink_to("../d")
    Path("d/e").mkdir()
    Path("d/e/up").symlink_to("../..")
    os.mkfifo("d/pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind("d/socket")
    server.close()
    assert found("missing", "empty", "hidden") == [
        "[missing: cannot read: No such file or directory]",
        "[empty: no files in this folder]",
        "[hidden: no files in this folder]",
    ]
    assert found("d") == [
        "d/a.txt",
        "[d/dangling: cannot read: No such file or directory]",
        "[d/e/up/d: a symbolic link back to a folder above it; not followed]",
        "[d/itself: cannot read: Too many levels of symbolic links]",
        "[d/loop: a symbolic link back to a folder above it; not followed]",
        "[d/pipe: not a regular file; name it directly to read it]",
        "[d/socket: not a regular file; name it directly to read it]",
        "d/z.txt",
    ]


def test_troubles_change_the_status_unless_they_are_only_worth_a_line(here: Path) -> None:
    put("d/a.txt")
    Path("d/loop").symlink_to(".")
    troubles = [item for item in find(["missing", "d", "d"]) if isinstance(item, Trouble)]
    assert [trouble.status.name for trouble in troubles] == ["TROUBLE", "TROUBLE", "CLEAN"]


def test_folders_deeper_than_the_stack(here: Path) -> None:
    depth = 1500
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    Path("a.txt").write_text("x")
    os.chdir(here)
    try:
        assert found("d") == ["d/" * depth + "a.txt"]
    finally:  # nor does Python remove so deep a tree by itself
        for at in range(depth):
            Path("d").rename(f"d{at}")
            if Path(f"d{at}/d").exists():
                Path(f"d{at}/d").rename("d")


def test_a_folder_that_vanishes_and_a_file_that_is_a_folder(here: Path) -> None:
    put("d/a.txt", "d/e/b.txt", "d/f.txt")
    items = find(["d"])
    assert next(items) == File("d/a.txt", named=False)
    Path("d/e/b.txt").unlink()
    Path("d/e").rmdir()
    Path("d/f.txt").unlink()
    assert list(items) == [
        Trouble("d/e", "", "cannot read: No such file or directory"),
        File("d/f.txt", named=False),
    ]
    assert texts("d/f.txt")[1] == [Trouble("d/f.txt", "", "cannot read: No such file or directory")]
    assert texts("d")[1] == [Trouble("d", "", "cannot read: Is a directory")]
