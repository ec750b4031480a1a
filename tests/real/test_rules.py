"""The rules on recorded replies: recall, false alarms and delay, as the manual page tells them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers import text_event
from period_oracle import longest

from loopcli.detector import Detector
from loopcli.rules.table import configs
from loopcli.settings.arming import DEFAULT_RULES, Settings
from loopcli.verdicts import Verdict

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA", ROOT.parent / "shared" / "data")) / "replies"
MAN = (ROOT / "man" / "loopcheck.7").read_text("ascii")

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no recordings in {DATA}")


class Figures(NamedTuple):
    """What a set of rules did; the delay is the median, in characters after the onset."""

    found: int
    false_alarms: int
    delay: int | None

    @property
    def row(self) -> str:
        """A row of the manual page's table."""
        delay = "\\-" if self.delay is None else f"{self.delay:,}"
        return f"\t{self.found}\t{self.false_alarms}\t{delay}\n"


SETS = {
    "saturation": ("saturation",),
    "period": ("period",),
    "novelty": ("novelty",),
    "saturation, period": DEFAULT_RULES,
}


def texts(folder: str) -> dict[str, str]:
    paths = sorted((DATA / folder).glob("*.txt"))
    return {path.stem: path.read_bytes().decode("utf-8") for path in paths}


@cache
def clean() -> dict[str, str]:
    rows = (DATA / "clean-sample.jsonl").read_bytes().split(b"\n")
    sample = [json.loads(row) for row in rows if row]
    return texts("clean") | {row["id"]: row["text"] for row in sample}


def judge(text: str, rules: tuple[str, ...], size: int = 0) -> Verdict | None:
    """The first verdict on a text that comes whole, or in pieces of a size."""
    detector = Detector(Settings(tuple(rules), configs({}), None).rules())
    for at in range(0, len(text), size or len(text)):
        if verdicts := detector.update(text_event(text[at : at + (size or len(text))])):
            return verdicts[0]
    return None


@cache
def onsets() -> dict[str, int]:
    return {name: longest(text).onset for name, text in texts("loop").items()}


def figures(rules: tuple[str, ...]) -> Figures:
    fired = {name: judge(text, rules) for name, text in texts("loop").items()}
    delays = [v.chars - onsets()[name] for name, v in fired.items() if v is not None]
    alarms = [name for name, text in clean().items() if judge(text, rules) is not None]
    delay = round(statistics.median(delays)) if delays else None
    return Figures(len(delays), len(alarms), delay)


def test_recall_false_alarms_and_delay(capsys: pytest.CaptureFixture[str]) -> None:
    loops = len(texts("loop"))
    measured = {name: figures(rules) for name, rules in SETS.items()}
    with capsys.disabled():
        print(f"\n{loops} looping and {len(clean())} clean replies: {DATA}")
        for name, (found, alarms, delay) in measured.items():
            print(f"  {name:20}{found:3} of {loops}, {alarms} false alarms, median delay {delay}")
    assert (loops, len(clean())) == (33, 606)
    assert all(figure.false_alarms == 0 for figure in measured.values())
    default = measured["saturation, period"]
    assert default.found >= 31
    assert default.delay is not None
    assert default.delay <= 800
    for name, figure in measured.items():
        assert name + figure.row in MAN


@pytest.mark.parametrize("name", sorted(texts("loop")) if DATA.is_dir() else [])
def test_reads_of_any_size_give_the_same_verdict(name: str) -> None:
    text = texts("loop")[name]
    whole = judge(text, DEFAULT_RULES)
    for size in (4096, 997):
        again = judge(text, DEFAULT_RULES, size)
        assert (again and again._replace(offset=0)) == (whole and whole._replace(offset=0))


def analyzed(*args: str) -> list[dict[str, Any]]:
    """What `analyze` says of recordings. What cannot be read is for other tests."""
    command = [sys.executable, "-m", "loopcli", "analyze", "--format", "jsonl", *args]
    env = {k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")}
    env |= {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=DATA.parent, env=env, capture_output=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_no_recorded_stream_trips_but_the_loop_among_them() -> None:
    rows = analyzed("--rules", "saturation,period,novelty", "--watch", "all", "streams")
    replies = {row["id"] for row in rows}
    tripped = {(row["id"], row["rule"]) for row in rows if row["verdict"] is not None}
    print(f"{len(replies)} recorded replies in streams; trips: {tripped}")
    assert len(replies) > 90
    assert {Path(ident).name for ident, _ in tripped} == {"alephalpha-loop.yaml#1"}


def test_recorded_loops_last_to_the_end_of_their_reply() -> None:
    """But for two that found their way back to other text."""
    rows = analyzed("--rules", "period", "replies")
    assert len(rows) == 639
    found = Counter((row["label"], row["finding"]) for row in rows)
    assert found == {
        ("clean", None): 606,
        ("loop", "loop"): 30,
        ("loop", "ended"): 2,
        ("loop", None): 1,
    }
