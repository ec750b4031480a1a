"""A rule is added by its folder and a line in the table, and every command has it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import environ
from toy_rule.config import ShoutConfig
from toy_rule.entry import SHOUT

from loopcli.rules import registration, table
from loopcli.rules.registration import Judged, RuleEntry
from loopcli.settings.arming import FileSettings, resolve
from loopcli.settings.sessions import SessionSettings

ROOT = Path(__file__).parents[2]
# The line in the table, and then the command line as it is.
PROGRAM = """
import sys
from loopcli.rules import registration, table
from toy_rule.entry import SHOUT
table.RULES = registration.listed(*table.RULES.values(), SHOUT)
from loopcli.cli import main
sys.exit(main(sys.argv[1:]))
"""
GOOD = "No! Really! And then it said: oh! " * 3
LOUD = "Well, " + "! " * 12 + "and so on"


def loopcheck(*args: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    path = f"{ROOT}:{ROOT / 'tests' / 'support'}"
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *args],
        input=stdin,
        capture_output=True,
        text=True,
        env=environ(PYTHONPATH=path, **more),
        timeout=120,
        check=False,
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    replies = [
        {"text": GOOD, "label": "clean"},
        {"text": "Oh!! Oh!! " * 3, "label": "clean"},
        {"text": LOUD, "label": "loop", "onset": 6},
        {"text": "Ha! " + "!" * 8 + " yes", "label": "loop", "onset": 4},
    ]
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return path


def test_the_filter_arms_it_with_its_knobs() -> None:
    clean = loopcheck("--rules", "shout", stdin=GOOD)
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, GOOD, "")
    cut = loopcheck("--rules", "period,shout", "--verbose", stdin=LOUD)
    assert (cut.returncode, cut.stdout) == (3, LOUD[:25])
    assert "; or after 10 exclamation marks in a row" in cut.stderr
    assert "10 exclamation marks in a row" in cut.stderr.splitlines()[-2]
    apart = loopcheck("--rules", "shout", "--shout-gap", "0", stdin=LOUD)
    assert apart.returncode == 0
    set_outside = loopcheck(stdin=LOUD, LOOPCHECK_RULES="shout", LOOPCHECK_SHOUT_MARKS="4")
    assert (set_outside.returncode, set_outside.stdout) == (3, LOUD[:13])


def test_the_filter_judges_what_is_written_for_its_knobs() -> None:
    refused = loopcheck("--shout-marks", "0", "--shout-gap", "many")
    assert refused.returncode == 2
    assert "--shout-marks = `0`: every reply shouts" in refused.stderr
    assert "--shout-gap = `many`: not a whole number" in refused.stderr
    odd = loopcheck("--rules", "shout", "--shout-gap", "2000")
    assert "shout-gap (2000) is a page of text" in odd.stderr
    idle = loopcheck("--shout-gap", "2")
    assert "--shout-gap changes nothing, because the shout rule is not armed" in idle.stderr


def test_a_file_sets_its_knobs(tmp_path: Path) -> None:
    file = tmp_path / "loopcheck.toml"
    file.write_text('rules = ["shout"]\n[shout]\nshout-marks = 3\n')
    shown = loopcheck("config", str(file))
    assert "shout: shout-marks 3, shout-gap 1" in shown.stdout
    assert loopcheck("--config", str(file), stdin="!!!").returncode == 3
    file.write_text("[shout]\nshout-mark = 3\n")
    assert "(there is: shout-marks, shout-gap)" in loopcheck("config", str(file)).stderr


def test_analyze_reports_it(corpus: Path) -> None:
    report = loopcheck("analyze", "-f", "jsonl", "--rules", "shout", str(corpus))
    rows = [json.loads(line) for line in report.stdout.splitlines()]
    figures = [(row["peak"], row["ceiling"], row["verdict"]) for row in rows if "peak" in row]
    assert figures == [(1, 10, None), (2, 10, None), (12, 10, "repetition"), (9, 10, None)]
    drawn = loopcheck("analyze", "--rules", "shout", "--trace", f"{corpus}#3", str(corpus))
    assert (drawn.returncode, "shout" in drawn.stdout) == (0, True)


def test_analyze_sweeps_it(corpus: Path) -> None:
    args = ("--rules", "shout", "--sweep", "shout-marks=2,8,10", str(corpus))
    swept = loopcheck("analyze", "-f", "jsonl", *args)
    rows = [json.loads(line) for line in swept.stdout.splitlines()]
    names = ("shout_marks", "shout_gap", "clean_trips", "caught", "clean_peak")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (2, 1, 1, 2, 2),
        (8, 1, 0, 2, 2),
        (10, 1, 0, 1, 2),
    ]
    shown = loopcheck("analyze", *args)
    assert shown.stdout.split()[:3] == ["marks", "clean", "peak"]


def test_analyze_suggests_its_knobs(corpus: Path) -> None:
    suggested = loopcheck("analyze", "--rules", "shout", "--suggest", str(corpus))
    assert suggested.returncode == 0
    assert "--rules shout --shout-marks 4 --shout-gap 1" in suggested.stdout
    assert "[shout]\nshout-marks = 4\nshout-gap = 1\n" in suggested.stdout


def test_rules_and_help_show_it() -> None:
    rules = loopcheck("rules").stdout
    assert "shout: exclamation marks in a row\n  source: a test" in rules
    assert "--shout-marks (default 10)" in rules
    assert "- capital letters" in rules
    help_ = " ".join(loopcheck("--help").stdout.split())
    assert "for period and novelty all; for shout content and reasoning" in help_


def completed(*words: str) -> list[str]:
    done = loopcheck(
        _LOOPCHECK_COMPLETE="bash_complete",
        COMP_WORDS=" ".join(("loopcheck", *words)),
        COMP_CWORD=str(len(words)),
    )
    assert done.returncode == 0
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_a_shell_completes_it() -> None:
    assert completed("--sho") == ["--shout-marks", "--shout-gap"]
    assert completed("analyze", "--shout-m") == ["--shout-marks"]
    assert completed("--rules", "s") == ["saturation", "streaks", "shout"]
    assert completed("--rules", "period,sh") == ["period,shout"]


def test_an_entry_without_a_field_fails_at_once() -> None:
    for field in SHOUT._fields:
        fields = SHOUT._asdict()
        del fields[field]
        with pytest.raises(TypeError, match=field):
            RuleEntry(**fields)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"knobs": SHOUT.knobs[:1]}, "not the fields of its config"),
        ({"knobs": SHOUT.knobs[::-1]}, "not the fields of its config"),
        ({"ceiling_knob": "shout_mark"}, "not among its knobs: {'shout_mark'}"),
        ({"sweep": SHOUT.sweep._replace(columns=("gap",))}, "not among its knobs: {'gap'}"),
        ({"channels": SHOUT.watches[:1]}, "watches what it cannot watch"),
    ],
    ids=str,
)
def test_an_entry_that_contradicts_itself_fails_at_once(change: dict[str, Any], why: str) -> None:
    with pytest.raises(TypeError, match=why):
        registration.listed(SHOUT._replace(**change))


def test_no_name_is_registered_twice() -> None:
    with pytest.raises(TypeError, match="registered twice"):
        registration.listed(SHOUT, SHOUT)
    with pytest.raises(TypeError, match="registered twice"):
        registration.listed(SHOUT, SHOUT._replace(name="cry"))


def test_a_rule_of_sessions_does_not_judge_text(monkeypatch: pytest.MonkeyPatch) -> None:
    of_sessions = SHOUT._replace(judges=Judged.SESSION)
    monkeypatch.setattr(table, "RULES", registration.listed(*table.RULES.values(), of_sessions))
    settings = resolve(FileSettings(), rules="period,shout", sessions=SessionSettings())
    assert settings.configs["shout"] == ShoutConfig()
    assert [armed.make().name for armed in settings.rules()] == ["period"]
    assert "shout" not in table.judging(Judged.TEXT)
