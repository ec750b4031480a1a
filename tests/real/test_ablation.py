"""What each part of the period rule buys on recorded replies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ablations import PARTS, AblationText, alarms, effect

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOPCHECK_DATA", ROOT.parent / "shared" / "data")) / "replies"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no recordings in {DATA}")

# Loops that are missed, and loops that are detected more than 50 characters later. No
# clean reply is cut without a part: what those parts are for, the shapes of
# tests/rules/test_ablation.py show.
MISSED = {"the far probe": 2, "masked digits": 2, "mending": 1}
LATER = {"the near probe": 12, "mending behind": 1}


def replies() -> dict[str, AblationText]:
    texts = {
        f"{label}/{path.stem}": AblationText(path.read_bytes().decode(), onset)
        for label, onset in (("loop", 0), ("clean", None))
        for path in sorted((DATA / label).glob("*.txt"))
    }
    rows = (DATA / "clean-sample.jsonl").read_bytes().split(b"\n")
    for reply in (json.loads(row) for row in rows if row):
        texts[f"clean/{reply['id']}"] = AblationText(reply["text"], None)
    return texts


def test_what_each_part_buys(capsys: pytest.CaptureFixture[str]) -> None:
    texts = replies()
    whole = alarms(texts)
    changes = {part: effect(part, texts, whole) for part in PARTS}
    with capsys.disabled():
        print(f"\n{sum(at is not None for at in whole.values())} of {len(texts)} replies trip")
        for part, (missed, later, cut) in changes.items():
            print(f"  without {part:28}{len(missed)} missed, {len(later)} later, {len(cut)} cut")
    assert {part: len(each.missed) for part, each in changes.items() if each.missed} == MISSED
    assert {part: len(each.later) for part, each in changes.items() if each.later} == LATER
    assert all(name.startswith("loop/") for each in changes.values() for name in each.cut)
