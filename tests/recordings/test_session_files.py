"""Files of agents' sessions: each reply of the model is a reply, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_logs import FORMS, SAMPLE
from agent_sessions import Form

from loopcli.recordings import corpus
from loopcli.recordings.corpus import File, Trouble
from loopcli.status import Status

# Of formats without a program's signs the conversation is read as it always was.
READ = [form for form in FORMS if form.text and form.name != "inspect"]


def replies(path: Path) -> list[dict[str, str]]:
    """The words of each reply in a file, by channel."""
    read = []
    for item in corpus.read(File(str(path))):
        assert not isinstance(item, Trouble), item
        said: dict[str, str] = {}
        for lane, pieces in item.lanes:
            said[lane.channel] = said.get(lane.channel, "") + "".join(pieces)
        read.append(said)
    return read


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("form", READ, ids=lambda form: f"{form.name}.{form.suffix}")
def test_every_reply_of_a_session_is_read(form: Form, tmp_path: Path) -> None:
    path = written(tmp_path, f"session.{form.suffix}", form.write(SAMPLE))
    texts = [said["content"].strip() for said in replies(path) if said.get("content")]
    want = [turn.text for turn in SAMPLE.turns]
    if form.name == "litellm":
        want = want[-1:]  # the answer; the messages before it were asked for elsewhere
    if form.name == "mini-swe-agent":
        texts = [text.partition("\n```")[0] for text in texts]
    if form.name == "agent-steps":
        texts = [text.partition("[shell(")[0] for text in texts]
    assert texts == want


@pytest.mark.parametrize("form", READ, ids=lambda form: f"{form.name}.{form.suffix}")
def test_what_others_wrote_is_never_judged(form: Form, tmp_path: Path) -> None:
    path = written(tmp_path, f"session.{form.suffix}", form.write(SAMPLE))
    said = "".join(text for each in replies(path) for text in each.values())
    assert "red" not in said.split()
    assert "*** failed" not in said
    assert "AAAA" not in said


def test_arguments_are_lanes_of_the_reply_that_holds_their_call(tmp_path: Path) -> None:
    form = next(form for form in FORMS if form.name == "claude-code-jsonl")
    first, second, _ = replies(written(tmp_path, "s.jsonl", form.write(SAMPLE)))
    assert first["tool-args"] == "cat logs/build.txt\n"
    assert second["tool-args"] == "grep -n x main.c\nmake\n"


def test_a_broken_record_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    form = next(form for form in FORMS if form.name == "pi-session")
    lines = form.write(SAMPLE).split("\n")
    path = written(tmp_path, "s.jsonl", "\n".join([*lines[:2], '{"type": "mess', *lines[2:]]))
    items = list(corpus.read(File(str(path))))
    (trouble,) = [item for item in items if isinstance(item, Trouble)]
    assert (trouble.position, trouble.status) == ("line 3", Status.MALFORMED)
    assert len(items) == 4


def test_a_member_that_the_user_names_is_read_and_nothing_else(tmp_path: Path) -> None:
    form = next(form for form in FORMS if form.name == "agent-steps")
    path = written(tmp_path, "s.jsonl", form.write(SAMPLE))
    settings = corpus.CorpusSettings(text_field="task")
    items = list(corpus.read(File(str(path)), settings))
    assert len(items) == len(SAMPLE.turns)
