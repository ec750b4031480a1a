"""Agents' sessions through ``loopcheck analyze``: rows, gates, sweeps and the strip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_logs import FORMS
from agent_sessions import Call, Session, Turn
from processes import loopcheck
from session_options import SESSION_OPTIONS, SessionOption

FORM = next(form for form in FORMS if form.name == "claude-code-jsonl")


def call(command: str, result: str = "ok") -> Turn:
    return Turn(calls=(Call("Bash", {"command": command}, result),))


LOOP = Session("Go.", (*(call("ls") for _ in range(8)), Turn("Done.")))
POLL = Session("Go.", (*(call("date", str(n)) for n in range(9)), Turn("Done.")))
WORK = Session("Go.", (*(call(f"step {n}") for n in range(9)), Turn("Done.")))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A looping session, a clean one, and one that polls."""
    for name, session in (("loop/a", LOOP), ("clean/b", WORK), ("clean/c", POLL)):
        path = tmp_path / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(FORM.write(session), "utf-8")
    return tmp_path


def report(*args: str | Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(loopcheck("analyze", "-f", "json", *args).stdout)
    return document


def test_a_session_has_rows_beside_those_of_its_replies(corpus: Path) -> None:
    document = report(corpus / "loop")
    kinds = {row["id"].partition("a.jsonl")[2][0] for row in document["transcripts"]}
    assert kinds == {"#", "@"}
    (row,) = [r for r in document["transcripts"] if r["rule"] == "streaks"]
    (repeat,) = row["session"]["repeats"]
    assert (row["id"].endswith("a.jsonl@1"), row["peak"], row["ceiling"]) == (True, 8, 6)
    assert (repeat["tool"], repeat["what"], repeat["streak"]) == ("Bash", '{"command":"ls"}', 8)
    assert repeat["rungs"][-1] == {"action": "stop", "threshold": 6, "round": 6}
    assert document["totals"]["sessions"]["rounds"] == 9


def test_named_alone_only_sessions_are_judged(corpus: Path) -> None:
    document = report("--rules", "streaks", corpus)
    assert {row["rule"] for row in document["transcripts"]} == {"streaks"}
    assert document["totals"]["transcripts"] == 0
    assert document["totals"]["sessions"]["labels"] == {"loop": 1, "clean": 2, "none": 0}


def test_a_list_of_messages_is_a_session_only_where_rules_for_sessions_are_named(
    tmp_path: Path,
) -> None:
    openai = next(form for form in FORMS if form.name == "openai-messages")
    path = tmp_path / "talk.json"
    path.write_text(openai.write(LOOP), "utf-8")
    assert not [row for row in report(path)["transcripts"] if "session" in row]
    named = report("--rules", "period,streaks", path)["transcripts"]
    assert [row["peak"] for row in named if row["rule"] == "streaks"] == [8]


def test_the_gates_judge_sessions_by_their_label(corpus: Path) -> None:
    done = loopcheck("analyze", "--check", corpus)
    assert (done.returncode, done.stderr) == (0, "")
    wrong = loopcheck("analyze", "--check", "--no-results", corpus)
    assert wrong.returncode == 3
    assert "c.jsonl@1: labelled clean, and streaks stops it in round 6" in wrong.stderr
    missed = loopcheck("analyze", "--check", "--stop", "20", corpus)
    assert "a.jsonl@1: labelled loop, and nothing trips" in missed.stderr
    peak = loopcheck("analyze", "--max-peak", "streaks=1", corpus)
    assert "the peak of streaks is 2, more than 1" in peak.stderr


def test_the_labels_of_a_file_name_sessions(corpus: Path) -> None:
    labels = corpus / "labels.csv"
    labels.write_text("id,label\nloop/a.jsonl@1,clean\nclean/b.jsonl,loop\n", "utf-8")
    done = loopcheck("analyze", "--check", "--labels", labels, corpus)
    assert "a.jsonl@1: labelled clean, and streaks" in done.stderr
    assert "b.jsonl@1: labelled loop, and nothing trips" in done.stderr
    assert "no reply has the id" not in done.stderr


def test_a_baseline_holds_sessions(corpus: Path) -> None:
    baseline = corpus / "baseline.json"
    args = "analyze", "--rules", "streaks", "--baseline", baseline, corpus
    assert loopcheck(*args, "--update-baseline").returncode == 0
    assert loopcheck(*args).returncode == 0
    (corpus / "clean" / "b.jsonl").write_text(FORM.write(LOOP), "utf-8")
    worse = loopcheck(*args)
    assert worse.returncode == 3
    assert "the peak of streaks rose: 1 -> 8" in worse.stderr


def test_rungs_are_swept(corpus: Path) -> None:
    swept = report("--rules", "streaks", "--sweep", "stop=4,8,9", corpus)["combinations"]
    assert [(row["stop"], row["loop_trips"], row["clean_trips"]) for row in swept] == [
        (4, 1, 0),
        (8, 1, 0),
        (9, 0, 0),
    ]
    assert swept[0]["clean_peak"] == 2


def test_a_suggestion_follows_from_the_labels(corpus: Path) -> None:
    done = loopcheck("analyze", "--rules", "streaks", "--suggest", corpus)
    assert done.returncode == 0
    # The largest headroom that still catches the loop.
    assert "--rules streaks" in done.stdout
    assert "--stop 8" in done.stdout


def test_what_is_swept_does_not_depend_on_the_number_of_processes(corpus: Path) -> None:
    args = "--rules", "streaks", "--sweep", "stop=4,8,9", corpus
    assert report("-j", "1", *args) == report("-j", "2", *args)
    assert report("-j", "1", corpus) == report("-j", "2", corpus)


def test_the_trace_is_a_strip_of_rounds(corpus: Path) -> None:
    path = corpus / "loop" / "a.jsonl"
    done = loopcheck("analyze", "--trace", f"{path}@1", path, COLUMNS="200")
    _, _, user, loop, last = done.stdout.splitlines()
    assert user.split()[0] == "user"
    assert loop.split()[:2] == ["1-8", "4"]
    assert loop.endswith('8  observe@2 block@3 stop@6  Bash {"command":"ls"}')
    assert last.endswith('1  "Done."')
    missing = loopcheck("analyze", "--trace", f"{path}@2", path)
    assert (missing.returncode, "no session has the id" in missing.stderr) == (1, True)


def test_standard_input_is_read_once_and_judged_twice() -> None:
    done = loopcheck("analyze", "-f", "json", "-", stdin=FORM.write(LOOP))
    rows = json.loads(done.stdout)["transcripts"]
    assert {row["rule"] for row in rows} == {"saturation", "period", "streaks", "tails"}


def test_a_table_shows_what_repeats_and_each_rung(corpus: Path) -> None:
    table = loopcheck("analyze", "--rules", "streaks,tails", corpus).stdout
    head, _, first, *_ = table.splitlines()
    assert head.split()[-3:] == ["observe", "block", "stop"]
    assert first.split()[-6:] == ["round", "2", "round", "3", "round", "6"]
    assert "3 sessions, 29 rounds, 26 calls; 1 trip, highest peak 8 (streaks)" in table
    rows = loopcheck("analyze", "-f", "csv", "--rules", "streaks", corpus).stdout
    assert rows.splitlines()[0].endswith(",session")


# --- What each option for sessions changes ---------------------------------------------------


def seen(option: SessionOption, path: Path, args: list[str], **environ: str) -> object:
    rules = "--rules", "streaks,tails"
    base = [arg.replace("s.jsonl", str(path)) for arg in option.base]
    done = loopcheck("analyze", *rules, *base, *args, path, **environ)
    if "--trace" in option.base:
        return option.seen(done.stdout.splitlines())
    return option.seen(json.loads(done.stdout)["transcripts"])


@pytest.mark.parametrize("name", SESSION_OPTIONS)
def test_each_option_for_sessions_changes_something(name: str, tmp_path: Path) -> None:
    """As a flag, and as a variable."""
    option, path = SESSION_OPTIONS[name], tmp_path / "s.jsonl"
    path.write_text(option.session, "utf-8")
    assert seen(option, path, []) == option.off
    assert seen(option, path, option.args) == option.on
    _, *value = option.args
    variable = {f"LOOPCHECK_{name.upper()}": value[0] if value else str(int(name != "results"))}
    assert seen(option, path, [], **variable) == option.on
