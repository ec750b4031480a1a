"""Labels: who says what a transcript is, and what is wrong with a file of labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcli.recordings import corpus, labels
from loopcli.recordings.corpus import CorpusSettings, File, Transcript
from loopcli.recordings.labels import LabelsError

LINES = '{"text":"a"}\n{"text":"b","label":"clean"}\n{"text":"c","label":"loop","onset":1}\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, text: str = LINES) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def said(path: str, table: str | None = None) -> list[tuple[str | None, int | None]]:
    """The label and onset of each transcript in a file."""
    given = labels.load(table) if table else None
    found = corpus.read(File(path), CorpusSettings(labels=given))
    return [(item.label, item.onset) for item in found if isinstance(item, Transcript)]


def test_the_nearest_folder_labels() -> None:
    for path in (
        "x/loop/a.txt",
        "loop/clean/x/a.txt",
        "loopy/a.txt",
        "loop.txt",
        "clean/loop/y.txt",
    ):
        put(path, "words")
    assert said("x/loop/a.txt") == [("loop", None)]
    assert said("loop/clean/x/a.txt") == [("clean", None)]
    assert said("clean/loop/y.txt") == [("loop", None)]
    assert said("loopy/a.txt") == said("loop.txt") == [(None, None)]


def test_a_record_outranks_its_folder() -> None:
    put("loop/a.jsonl")
    assert said("loop/a.jsonl") == [("loop", None), ("clean", None), ("loop", 1)]


def test_labels_of_other_people_s_making_are_ignored() -> None:
    values = ('"toxic"', "1", "true", "null", '["loop"]', '{"loop": 1}')
    put("a.jsonl", "".join(f'{{"text":"x","label":{value}}}\n' for value in values))
    assert said("a.jsonl") == [(None, None)] * len(values)


def test_an_onset_is_of_a_loop_and_a_number() -> None:
    rows = ('"loop","onset":-1', '"loop","onset":"3"', '"loop","onset":true', '"clean","onset":3')
    put("a.jsonl", "".join(f'{{"text":"x","label":{row}}}\n' for row in rows))
    assert [onset for _, onset in said("a.jsonl")] == [None] * 4


@pytest.mark.parametrize(
    "table",
    [
        "id,label,onset\nloop/a.jsonl#1,loop,7\nloop/a.jsonl#2,unknown,\n",
        "loop/a.jsonl#1,loop,7\n\nloop/a.jsonl#2,unknown\n",
        "\ufeffonset,ID, Label\n7,loop/a.jsonl#1,loop\n,./loop//a.jsonl#2,unknown\n",
        '{"id":"loop/a.jsonl#1","label":"loop","onset":7}\n'
        '\n{"id":"loop/a.jsonl#2","label":"unknown","note":"?"}\n',
    ],
)
def test_a_file_of_labels_outranks_all(table: str) -> None:
    put("loop/a.jsonl")
    put("labels", table)
    assert said("loop/a.jsonl", "labels") == [("loop", 7), (None, None), ("loop", 1)]


def test_an_id_without_a_number_means_the_whole_file() -> None:
    put("d/a.jsonl")
    put("labels.csv", "d/a.jsonl,clean\nd/a.jsonl#3,loop,2\n")
    assert said("d/a.jsonl", "labels.csv") == [("clean", None), ("clean", None), ("loop", 2)]


def test_paths_may_be_relative_to_the_file_of_labels(here: Path) -> None:
    put("d/a.jsonl")
    put("d/labels.csv", "a.jsonl#1,loop\n")
    put("tables/labels.csv", "../d/a.jsonl#1,loop\n")
    for table in ("d/labels.csv", "tables/labels.csv", str(here / "d" / "labels.csv")):
        assert said("d/a.jsonl", table)[0] == ("loop", None)
        assert said(str(here / "d" / "a.jsonl"), table)[0] == ("loop", None)


def test_a_name_with_a_comma_or_a_number_sign() -> None:
    put("d#1/a,b.txt", "words")
    put("labels.csv", '"d#1/a,b.txt",loop\n')
    assert said("d#1/a,b.txt", "labels.csv") == [("loop", None)]


def test_labels_that_no_reply_bears_are_known() -> None:
    put("labels.csv", "id,label\na.jsonl#1,loop\na.jsonl#9,loop\na.jsonl,clean\nb.txt,clean\n")
    told = labels.load("labels.csv").unmatched(["a.jsonl#1", "a.jsonl#2"])
    assert told == [
        "labels.csv: line 3: no reply has the id a.jsonl#9",
        "labels.csv: line 5: no reply has the id b.txt",
    ]


@pytest.mark.parametrize(
    ("table", "defects"),
    [
        (
            "id,label,onset\na,lop\n,loop\nb,loop,soon\nc,clean,4\nd,loop,-1\ne\n",
            [
                "line 2: a label is loop, clean or unknown; not 'lop'",
                "line 3: an id is missing",
                "line 4: an onset is a number of characters, not 'soon'",
                "line 5: only a loop has an onset, and this is clean",
                "line 6: an onset is a number of characters, not '-1'",
                "line 7: a label is loop, clean or unknown; it is missing",
            ],
        ),
        (
            '{"id":"a","label":"loop"}\n{"id":\n[1]\n{"id":3,"label":"loop"}\n',
            ["line 2: not JSON: ", "line 3: not an object", "line 4: an id is missing"],
        ),
        ("a,loop\nb,clean\n./a,clean\n", ["line 3: a has another label in line 1"]),
        ("id\na\nb\n", ["line 1: there is only one column; the first line must"]),
        ("a;loop\nb;clean\n", ["line 1: there is only one column; the first line must"]),
        (
            '{"id":"a","label":' + "[" * 500 + "]" * 500 + "}\n"
            '{"id":"a","label":"loop","onset":[1]}\n'
            '{"id":"a","label":"loop","onset":' + "9" * 5000 + "}\n" + "[" * 100_000 + "\n",
            [
                "line 1: a label is loop, clean or unknown; not a list or an object",
                "line 2: an onset is a number of characters, not a list or an object",
                "line 3: not JSON: a number has too many digits",
                "line 4: not JSON: nested too deeply",
            ],
        ),
    ],
)
def test_every_defect_is_told_with_its_line(table: str, defects: list[str]) -> None:
    put("labels", table)
    with pytest.raises(LabelsError) as caught:
        labels.load("labels")
    told = str(caught.value).splitlines()
    assert len(told) == len(defects)
    assert all(
        line.startswith(f"labels: {start}") for line, start in zip(told, defects, strict=True)
    )


def test_the_same_label_twice_is_no_defect() -> None:
    put("labels", "a,loop,3\na,loop,3\n")
    assert labels.load("labels").of("a#1") is not None


def test_a_file_of_labels_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match="cannot read: No such file or directory: 'none'"):
        labels.load("none")
