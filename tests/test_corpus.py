"""A corpus on disk: which files are found, and what damage does not cost."""

from __future__ import annotations

import gzip
import io
import os
import random
import socket
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard

from loopcli import corpus
from loopcli.corpus import File, Settings, Transcript, Trouble, find
from loopcli.status import Status
from loopcli.unpack import Unpacked

ROOT = Path(__file__).parent.parent


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


def texts(path: Path | str) -> tuple[list[str], list[Trouble]]:
    """All text of each transcript, and the troubles."""
    replies, troubles = [], []
    for item in corpus.read(File(str(path)), Settings()):
        if isinstance(item, Trouble):
            troubles.append(item)
        else:
            replies.append("".join("".join(pieces) for _, pieces in item.lanes))
    return replies, troubles


# --- Finding -------------------------------------------------------------------------------------


def test_a_folder_is_walked_sorted_and_without_what_is_hidden(here: Path) -> None:
    put("d/b/2.txt", "d/b/10.txt", "d/a.txt", "d/.hidden/x", "d/b/.x", "d/c/e/f/g.txt")
    assert found("d") == ["d/a.txt", "d/b/10.txt", "d/b/2.txt", "d/c/e/f/g.txt"]
    assert found("d/.hidden") == ["d/.hidden/x"]
    assert found("d/b/.x") == ["d/b/.x"]


def test_files_of_a_folder_are_not_named_ones(here: Path) -> None:
    put("d/a.json", data='{"a": 1}')
    (inside,) = find(["d"])
    (named,) = find(["d/a.json"])
    assert (inside, named) == (File("d/a.json", named=False), File("d/a.json", named=True))
    told = {}
    for item in (inside, named):
        assert isinstance(item, File)
        (trouble,) = corpus.read(item, Settings())
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
    wanted = ["a.txt", "new\nline.txt", "['': an empty name is no file]", "d/b.txt", "st*r.txt"]
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
from loopcli import corpus
for item in corpus.find(sys.argv[1:]):
    for found in corpus.read(item, corpus.Settings()) if isinstance(item, corpus.File) else [item]:
        if isinstance(found, corpus.Trouble): print(found)
        else: print(found.id, [list(pieces) for _, pieces in found.lanes])
"""


def python(program: str, *args: str, data: bytes = b"") -> str:
    command = [sys.executable, "-c", program, *args]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, input=data, env=env, check=True, capture_output=True
    ).stdout.decode()


def test_standard_input_is_read_once() -> None:
    assert python(STDIN, "-", "-", data=b"some words") == (
        "<stdin>#1 [['some words']]\n<stdin>: standard input can be read once only\n"
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
        "[d/pipe: not a regular file; name it if it is to be read]",
        "[d/socket: not a regular file; name it if it is to be read]",
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


# --- Damage --------------------------------------------------------------------------------------

WORDS = " ".join(f"word{number}" for number in range(40_000))


def test_a_truncated_gzip_is_analysed_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(WORDS.encode())[:-2000])
    (text,), troubles = texts(path)
    assert len(text) > len(WORDS) * 0.9
    assert WORDS.startswith(text)
    assert troubles == [Trouble(str(path), "", "the gzip data is truncated")]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:9], "the gzip data is truncated"),
        (lambda data: data[:-1], "the gzip data is truncated"),
        (lambda data: data[:-8] + bytes(8), "the gzip data is damaged: Error -3"),
        (lambda data: data[:5000] + bytes(5000) + data[10000:], "the gzip data is damaged: "),
        (lambda data: data + b"rest", "the gzip data is damaged: "),
    ],
)
def test_damaged_gzip(tmp_path: Path, damage: object, message: str) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(damage(gzip.compress(WORDS.encode())))  # type: ignore[operator]
    replies, (trouble,) = texts(path)
    assert trouble.message.startswith(message)
    assert trouble.status is Status.TROUBLE
    assert all(WORDS.startswith(text[:1000]) for text in replies)


def test_gzip_of_several_members_and_padding(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(
        gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two") + bytes(99)
    )
    assert texts(path) == (["one two"], [])


def test_zstd_frames_truncated_and_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.zst"
    data = zstandard.compress(WORDS.encode())
    path.write_bytes(data + zstandard.compress(b" end"))
    assert texts(path) == ([WORDS + " end"], [])
    path.write_bytes(data[: len(data) // 2])
    replies, troubles = texts(path)
    assert WORDS.startswith(replies[0])
    assert troubles == [Trouble(str(path), "", "the zstd data is truncated")]
    path.write_bytes(data[:4] + b"\xff" * 99)
    assert texts(path)[1][0].message.startswith("the zstd data is damaged: ")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_comes_in_small_pieces(pack: object) -> None:
    packed = pack(bytes(200_000_000))  # type: ignore[operator]
    sizes = [len(piece) for piece in Unpacked(io.BytesIO(packed))]
    assert sum(sizes) == 200_000_000
    assert max(sizes) <= 16 * 1024 * 1024


def test_a_packed_file_needs_no_suffix(tmp_path: Path) -> None:
    path = tmp_path / "reply"
    path.write_bytes(gzip.compress(b"some words"))
    assert texts(path) == (["some words"], [])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tiny_files(tmp_path: Path, size: int) -> None:
    for data in (
        b"abc"[:size],
        b"\x1f\x8b\x08"[:size],
        b"\x28\xb5\x2f"[:size],
        b"\xef\xbb\xbf"[:size],
    ):
        path = tmp_path / "a"
        path.write_bytes(data)
        texts(path)  # says something or nothing, but ends


def test_invalid_utf_8_is_judged_as_replacement_characters(tmp_path: Path) -> None:
    plain, lines = tmp_path / "a.txt", tmp_path / "a.jsonl"
    plain.write_bytes(b"caf\xe9 \xff\xfe au lait")
    lines.write_bytes(b'{"text": "caf\xe9"}\n{"text": "th\xc3\xa9"}\n')
    assert texts(plain) == (["caf\ufffd \ufffd\ufffd au lait"], [])
    assert texts(lines) == (["caf\ufffd", "thé"], [])


def test_a_broken_line_among_ten_thousand(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"text": "reply {number}"}}\n' for number in range(1, 10_001)]
    lines[6788] = lines[6788][:9] + "\n"
    path.write_text("".join(lines))
    items = list(corpus.read(File(str(path)), Settings()))
    (trouble,) = [item for item in items if isinstance(item, Trouble)]
    assert (trouble.position, trouble.status) == ("line 6789", Status.MALFORMED)
    assert trouble.message.startswith("not JSON: ")
    ids = [item.id for item in items if isinstance(item, Transcript)]
    assert len(ids) == 9_999
    # The broken line keeps its number.
    assert ids == [f"{path}#{n}" for n in range(1, 10_001) if n != 6789]


def test_a_broken_first_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x\n{"text": "y"}\n{"text": "z"}\n')
    replies, troubles = texts(path)
    assert replies == ["y", "z"]
    assert [trouble.position for trouble in troubles] == ["line 1"]


def test_a_malformed_stream_gives_what_it_said_before(tmp_path: Path) -> None:
    (text,), (trouble,) = texts(ROOT / "fixtures" / "streams" / "malformed.sse")
    assert text == "Up to here all is well, "
    assert (trouble.position, trouble.status) == ("line 13", Status.MALFORMED)


def test_who_does_not_want_the_text_still_hears_of_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(WORDS.encode())[:-9])
    items = [type(item) for item in corpus.read(File(str(path)), Settings())]
    assert items == [Transcript, Trouble]


def test_random_bytes_and_random_damage_raise_nothing(tmp_path: Path) -> None:
    dice = random.Random(4)
    originals = sorted((ROOT / "fixtures" / "corpus").iterdir())
    path = tmp_path / "a"
    for number in range(400):
        source = originals[number % len(originals)]
        data = bytearray(source.read_bytes())
        if number % 3 == 0:
            data = data[: dice.randrange(len(data))]
        else:
            for _ in range(1 + number % 9):
                data[dice.randrange(len(data))] = dice.randrange(256)
        path = tmp_path / source.name
        path.write_bytes(bytes(data))
        texts(path)
    for size in range(200):
        path.write_bytes(dice.randbytes(size))
        texts(path)


# --- Size ----------------------------------------------------------------------------------------

MEASURE = """
import resource, sys
from loopcli import corpus
count = 0
for found in corpus.read(corpus.File(sys.argv[1]), corpus.Settings()):
    if isinstance(found, corpus.Trouble): print(found, file=sys.stderr); continue
    for _, pieces in found.lanes:
        for piece in pieces: count += len(piece)
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def measured(path: Path) -> tuple[int, float]:
    """The characters read from a file, and the most memory that took, in MB."""
    count, kilobytes = python(MEASURE, str(path)).split()
    return int(count), int(kilobytes) / 1024


@pytest.mark.parametrize("start", ["word ", "[1] "])
def test_a_huge_line_takes_no_more_memory_than_a_small_one(tmp_path: Path, start: str) -> None:
    small, huge = tmp_path / "small.txt", tmp_path / "huge.txt"
    small.write_text(start + "word " * 1000)
    size = 300
    with huge.open("w") as file:
        file.write(start)
        for _ in range(size):
            file.write("word " * 209_715)
    _, base = measured(small)
    count, peak = measured(huge)
    assert count == huge.stat().st_size
    # What may be JSON is held until it is too long for that, twice while it grows.
    assert peak - base < (8 if start == "word " else 160)


def test_a_huge_line_in_gzip(tmp_path: Path) -> None:
    small, huge = tmp_path / "small.txt.gz", tmp_path / "huge.txt.gz"
    small.write_bytes(gzip.compress(b"word " * 1000))
    engine = zlib.compressobj(1, wbits=31)
    with huge.open("wb") as file:
        for _ in range(200):
            file.write(engine.compress(b"word " * 209_715))
        file.write(engine.flush())
    _, base = measured(small)
    count, peak = measured(huge)
    assert count == 200 * 209_715 * 5
    assert peak - base < 8


def test_many_lines_take_the_memory_of_one(tmp_path: Path) -> None:
    small, huge = tmp_path / "small.jsonl", tmp_path / "huge.jsonl"
    line = '{"text": "' + "word " * 2000 + '"}\n'
    small.write_text(line)
    huge.write_text(line * 5000)
    _, base = measured(small)
    count, peak = measured(huge)
    assert count == 5000 * 10_000
    assert peak - base < 8
