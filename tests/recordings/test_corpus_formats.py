"""Every recorded format: what is in the fixtures comes out of them, and nothing else does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures import corpus_files
from loopcli.readers.detection.auto import AutoReader
from loopcli.recordings import base, corpus, detect
from loopcli.recordings.base import Defect, Hints, Reply
from loopcli.recordings.corpus import CorpusSettings, File, Transcript, Trouble
from loopcli.recordings.documents import Known
from loopcli.recordings.formats import httprr, jsonlines
from loopcli.status import Status

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = corpus_files.cases()


def spoken(lanes: base.Lanes) -> dict[str, str]:
    """The text of each channel, lanes of one channel after each other."""
    found: dict[str, str] = {}
    for lane, pieces in lanes:
        found[lane.channel] = found.get(lane.channel, "") + "".join(pieces)
    return found


def read(path: Path | str, **settings: Any) -> tuple[list[dict[str, str]], list[str]]:
    """The replies in a file, and its troubles as text."""
    replies, troubles = [], []
    for item in corpus.read(File(str(path)), CorpusSettings(**settings)):
        if isinstance(item, Trouble):
            troubles.append(str(item).removeprefix(f"{path}: "))
        else:
            replies.append(spoken(item.lanes))
    return replies, troubles


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.split("/")[1])
def test_each_format_gives_its_replies(path: str) -> None:
    replies, troubles = read(FIXTURES / path)
    assert (replies, troubles) == (CASES[path][1], [])


def test_what_others_wrote_is_never_judged() -> None:
    """Requests, users' turns, tools' results, signatures and web pages hold a decoy."""
    decoy = corpus_files.DECOY.strip()
    holders = [path for path in CASES if decoy.encode() in (FIXTURES / path).read_bytes()]
    assert len(holders) >= 19
    for path in holders:
        for item in corpus.read(File(str(FIXTURES / path)), CorpusSettings()):
            assert isinstance(item, Transcript)
            assert decoy not in str(spoken(item.lanes))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.split("/")[1])
def test_where_a_file_is_cut_into_pieces_does_not_matter(path: str) -> None:
    data = CASES[path][0]
    if path.endswith((".gz", ".zst")):
        return  # the pieces are those of the unpacked bytes
    suffix = Path(path).suffix
    for size in (1, 7, len(data)):
        pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
        found = [spoken(item.lanes) for item in detect.read(pieces, Hints(suffix)) if reply(item)]
        assert found == CASES[path][1], size


def reply(item: object) -> bool:
    return isinstance(item, Reply)


def test_records_carry_their_labels_and_ids_count_replies() -> None:
    path = str(FIXTURES / "corpus" / "records.jsonl")
    found = [
        item for item in corpus.read(File(path), CorpusSettings()) if isinstance(item, Transcript)
    ]
    assert [(t.id, t.label, t.onset) for t in found] == [
        (f"{path}#1", "clean", None),
        (f"{path}#2", "loop", len(corpus_files.MUD)),
    ]


@pytest.mark.parametrize(
    ("field", "wanted"),
    [("a", ["one"]), ("b.c", ["two"]), ("b.d", ["x", "y"]), ("e.f", ["dotted"]), ("b.none", [])],
)
def test_the_user_may_name_the_member(tmp_path: Path, field: str, wanted: list[str]) -> None:
    doc = '{"a":"one","b":{"c":"two","d":["x","y"]},"e.f":"dotted","text":"not this"}\n'
    for name, data in (("a.jsonl", doc * 2), ("a.json", doc)):
        replies, troubles = read(written(tmp_path, name, data), text_field=field)
        assert replies == [{"content": text} for text in wanted] * data.count("\n")
        assert bool(troubles) is not bool(wanted)


NOTHING = "no member of this record holds a reply (--text-field names one)"


@pytest.mark.parametrize(
    ("name", "data", "wanted", "troubles"),
    [
        # A model's reply may be JSON: the suffix decides what is a record.
        ("a.txt", '{"output": "x"}', ['{"output": "x"}'], []),
        ("a.txt", '{"output": "x"}\n{"output": "y"}\n', ['{"output": "x"}\n{"output": "y"}\n'], []),
        ("a.json", '{"output": "x"}', ["x"], []),
        ("a", '{"output": "x"}\n{"output": "y"}\n', ["x", "y"], []),
        ("a.txt", '{"messages": [{"role": "assistant", "content": "x"}]}', ["x"], []),
        ("a.txt", "{S. D.} said so", ["{S. D.} said so"], []),
        ("a.txt", "[1, 2, 3]", ["[1, 2, 3]"], []),
        ("a.txt", "version: 1\nname: b\n", ["version: 1\nname: b\n"], []),
        ("a.txt", "", [""], []),
        ("a.md", "\ufeffab", ["ab"], []),
        ("a.json", "{S. D.} said so", [], ["not JSON: "]),
        ("a.json", '{"a": 1}', [], ["unknown format: JSON in no known shape"]),
        ("a.json", "", [], ["unknown format: an empty file"]),
        ("a.json", "once upon", [], ["unknown format: not JSON"]),
        ("a.jsonl", '{"a": 1}\n{"a": 2}\n', [], ["unknown format: JSON Lines without"]),
        ("a.yaml", "name: b\n", [], ["unknown format: YAML that is not a cassette"]),
        ("a.yaml", "interactions:\n- {response: [}\n", [], ["line 2: not YAML: "]),
        ("a.yaml", "interactions: []\n", [], ["contains no reply of a model"]),
        ("a.har", '{"log": {"entries": []}}', [], ["contains no reply of a model"]),
        ("a.httprr", "httprr trace v1\nnonsense\n", [], ["exchange 1, byte 16: two lengths"]),
        ("a.bin", bytes(range(256)) * 4, [], ["unknown format: binary data"]),
        ("a.txt", "abc".encode("utf-16"), [], ["unknown format: UTF-16"]),
        # A NUL is no reason to refuse a text.
        ("a.txt", "x" * 50 + "\0", ["x" * 50 + "\0"], []),
        # Mixed and odd records.
        ("a.jsonl", '{"text": "x"}\n\n  \n{"text": "y"}', ["x", "y"], []),
        ("a.jsonl", '{"text": "x"}\r\n{"text": "y"}\r\n', ["x", "y"], []),
        ("a.jsonl", '\ufeff{"text": "x"}\n{"text": "y"}\n', ["x", "y"], []),
        ("a.jsonl", '{"text": "x"}\n{"a": 1}\n', ["x"], [f"line 2: {NOTHING}"]),
        ("a.jsonl", '{"text": null, "output": "x"}\n{"text": 3}\n', ["x"], [f"line 2: {NOTHING}"]),
        ("a.jsonl", '{"text": "x"}\n7\n', ["x"], [f"line 2: {NOTHING}"]),
        ("a.jsonl", '{"text": "\\ud83d"}\n{"text": "x"}\n', ["\ud83d", "x"], []),
        (
            "a.jsonl",
            '{"role":"user","content":"q"}\n{"role":"assistant","content":"x"}\n',
            ["x"],
            [],
        ),
        ("a.jsonl", '{"source":"environment","content":"q"}\n{"content":"x"}\n', ["x"], []),
        ("a.json", '[{"text": "x"}, {"a": 1}]', ["x"], [f"item 2: {NOTHING}"]),
        ("a.json", '[{"role": "user", "content": "q"}]', [], ["contains no reply of a model"]),
    ],
)
def test_what_a_file_is_taken_for(
    tmp_path: Path, name: str, data: bytes | str, wanted: list[str], troubles: list[str]
) -> None:
    replies, told = read(written(tmp_path, name, data))
    assert [reply.get("content", "") for reply in replies] == wanted
    assert len(told) == len(troubles)
    assert all(line.startswith(start) for line, start in zip(told, troubles, strict=True))


def test_a_failed_batch_request_is_the_provider_s_error(tmp_path: Path) -> None:
    line = '{"custom_id":"q","response":null,"error":{"code":"expired","message":"too late"}}\n'
    path = written(tmp_path, "a.jsonl", CASES["corpus/batch.jsonl"][0] + line.encode())
    found = list(corpus.read(File(str(path)), CorpusSettings()))
    assert [item for item in found if isinstance(item, Trouble)] == [
        Trouble(str(path), "line 3", "too late", Status.UPSTREAM)
    ]


def test_a_broken_line_keeps_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"text":"x"}\n{"text":\n{"text":"y"}\n')
    found = list(corpus.read(File(str(path)), CorpusSettings()))
    assert [item.id for item in found if isinstance(item, Transcript)] == [f"{path}#1", f"{path}#3"]


def test_many_broken_lines_are_told_of_once() -> None:
    lines = [b'{"text":"x"}\n', *[b"{broken\n"] * 250]
    found = list(jsonlines.read(iter(lines), Known()))
    told = [item for item in found if isinstance(item, Defect) and item.message]
    assert len(told) == jsonlines.MAX_DEFECTS + 1
    assert told[-1].message == "and 150 more lines that could not be read"
    assert sum(isinstance(item, Defect) and item.numbered for item in found) == 250


def test_a_line_that_is_too_long_is_passed_over() -> None:
    pieces = iter([b'{"text":"a"}\n{"text":"', b"b" * 99, b"b" * 99, b'"}\n{"text":"c"}'])
    found = list(jsonlines.read(pieces, Known(), max_line=100))
    assert [spoken(item.lanes) for item in found if isinstance(item, Reply)] == [
        {"content": "a"},
        {"content": "c"},
    ]
    assert [item for item in found if isinstance(item, Defect)] == [
        Defect("longer than 100 bytes", "line 2", numbered=True)
    ]


@pytest.mark.parametrize(
    ("module", "name"), [("yaml", "vcr-python.yaml"), ("zstandard", "plain.txt.zst")]
)
def test_a_missing_extra_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    replies, troubles = read(FIXTURES / "corpus" / name)
    assert replies == []
    assert len(troubles) == 1
    assert "pip install 'loopcheck[formats]'" in troubles[0]


def heads() -> list[bytes]:
    """How files begin that are streams, or nearly, or not at all."""
    files = [data for data, _ in CASES.values() if not data.startswith(httprr.MAGIC)]
    files += [path.read_bytes() for path in (FIXTURES / "streams").iterdir()]
    files += [path.read_bytes() for path in (FIXTURES / "replies").rglob("*.txt")]
    lines = (
        "data: {}",
        "event: x",
        "id: 1",
        ": ping",
        "error: {}",
        "HTTP/1.1 200 OK",
        "<!doctype html>",
    )
    lines += (
        '0:"a b"',
        "b48",
        "version: 1",
        "--- a",
        "- a b",
        "data is here",
        "[a b]",
        "a: b c",
        "x",
    )
    return files + [(pad + line + end).encode() for line in lines for pad in ("", "\ufeff", "\n ")
                    for end in ("", "\n", " x\ny z")]  # fmt: skip


def test_what_is_known_for_prose_at_once_is_text_to_the_readers_too() -> None:
    prose = [head for head in heads() if detect.PROSE.match(head)]
    assert len(prose) > 8
    for head in prose:
        reader = AutoReader()
        reader.feed(head)
        reader.close()
        assert reader.name == "text", head[:60]


def test_an_attempt_that_was_given_up_is_a_reply_of_its_own(tmp_path: Path) -> None:
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    said = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in ("first", "second")
    ]
    docs = [start, start, said[0], start, said[1], {"type": "message_stop"}]
    path = written(tmp_path, "a.sse", "".join(f"data: {corpus_files.js(doc)}\n\n" for doc in docs))
    assert read(path) == ([{"content": "first"}, {"content": "second"}], [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, "JSON in no known shape") for text in ("5", "null", '"str"', " -1.5e3\n", "true")),
        *((text, "not JSON") for text in ("5 apples", "nul", '"open', "'str'", "Hello there")),
        ("", "an empty file"),
        ("[" + "1," * 9 + "2]", "JSON in no known shape"),
    ],
)
def test_json_that_is_no_reply_is_still_json(text: str, why: str, tmp_path: Path) -> None:
    assert read(written(tmp_path, "a.json", text)) == ([], [f"unknown format: {why}"])
