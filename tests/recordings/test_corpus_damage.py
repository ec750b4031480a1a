"""What damage costs: the damaged part and nothing else, in little memory whatever the size."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from pathlib import Path

import pytest
import zstandard
from corpora import ROOT, python, texts

from loopcli.recordings import corpus
from loopcli.recordings.corpus import CorpusSettings, File, Transcript, Trouble
from loopcli.recordings.unpack import Unpacked
from loopcli.status import Status

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
    sizes = [len(piece) for piece in Unpacked(io.BytesIO(packed).read)]
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
    items = list(corpus.read(File(str(path)), CorpusSettings()))
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


def test_a_malformed_stream_gives_what_it_said_around_the_damage(tmp_path: Path) -> None:
    (text,), (trouble,) = texts(ROOT / "fixtures" / "streams" / "malformed.sse")
    assert text == "Up to here all is well, and from here on it is, too."
    assert (trouble.position, trouble.status) == ("line 13", Status.MALFORMED)


def test_who_does_not_want_the_text_still_hears_of_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(WORDS.encode())[:-9])
    items = [type(item) for item in corpus.read(File(str(path)), CorpusSettings())]
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
from loopcli.recordings import corpus
count = 0
for found in corpus.read(corpus.File(sys.argv[1]), corpus.CorpusSettings()):
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


@pytest.mark.parametrize("depth", [200, 300, 990, 100_000])
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.json", "", ""),
        ("a.jsonl", '{"text": "one"}\n{"x":', "}\n"),
        ("a.json", '{"choices": [{"message": {"content": "one", "x":', "}}]}"),
        ("a.json", '{"candidates": [{"content": {"parts": [{"functionCall": {"args":', "}}]}}]}"),
        ("a.yaml", "version: 1\ninteractions:\n- response:\n    body: ", "\n"),
    ],
)
def test_what_is_nested_too_deeply_is_told_in_plain_words(
    tmp_path: Path, depth: int, name: str, before: str, after: str
) -> None:
    path = tmp_path / name
    path.write_text(before + "[" * depth + "]" * depth + after)
    _, troubles = texts(path)
    told = " ".join(trouble.message for trouble in troubles)
    assert "recursion" not in told
    if depth > 1000:
        assert "nest" in told
        assert {trouble.status for trouble in troubles} == {Status.MALFORMED}


@pytest.mark.parametrize("name", ["a.jsonl", "a.yaml"])
def test_a_number_of_too_many_digits_is_told_in_plain_words(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    number = "9" * 5000
    path.write_text(
        f'{{"text": "one"}}\n{{"text": "two", "n": {number}}}\n'
        if name == "a.jsonl"
        else f"version: 1\ninteractions:\n- response:\n    body: {number}\n"
    )
    _, (trouble,) = texts(path)
    assert trouble.message.endswith("a number has too many digits")
