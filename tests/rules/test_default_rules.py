"""The default rules, and period with novelty: what ends a stream early, and what never does."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from helpers import cut, text_event
from processes import PATIENCE
from samples import PROSE, QUIET, YES

from fixtures.shapes import Shape, code_block, prose, shapes
from loopcli.detector import Detector
from loopcli.events import Channel, Lane
from loopcli.rules.table import configs
from loopcli.settings.arming import DEFAULT_RULES, Settings
from loopcli.verdicts import Verdict

SHAPES = shapes(seed=3)
STDLIB = Path(sysconfig.get_paths()["stdlib"])
NEW = ("period", "novelty")


def judge(
    text: str, rules: tuple[str, ...], sizes: list[int] | None = None, lane: Lane | None = None
) -> Verdict | None:
    """The first verdict on a text that comes whole or in pieces, without its place in a piece."""
    detector = Detector(Settings(tuple(rules), configs({}), None).rules())
    for piece in cut(text, sizes or []):
        if verdicts := detector.update(text_event(piece, lane)):
            return verdicts[0]._replace(offset=0)
    return None


# --- What ends a stream --------------------------------------------------------------------------

PIPES = {
    "a word a line": "{ cat program.js; yes 'The'; }",
    "a call": r"yes 'a();' | tr -d '\n'",
    "an endless Chinese sentence": r"yes '请把门关好再走一次。' | tr -d '\n'",
    "blanks": r"yes ' ' | tr -d '\n'",
    "empty lines": "yes ''",
    "a block of code": "while cat block.js; do :; done",
    "an open code fence": r"{ printf 'Here it is:\n\n```js\n'; yes 'void 0;'; }",
}
SAID = {
    "a word a line": '"The\\n"',
    "a call": '"a();"',
    "an endless Chinese sentence": '"请把门关好再走一次。"',
    "blanks": '" "',
    "empty lines": '"\\n"',
    "an open code fence": '"void 0;\\n"',
}


@pytest.mark.parametrize("name", PIPES)
def test_an_endless_pipe_is_ended_and_told(name: str, tmp_path: Path) -> None:
    program, block = code_block(80), code_block(92)
    (tmp_path / "program.js").write_text(program)
    (tmp_path / "block.js").write_text(block)
    done = subprocess.run(
        [
            "bash",
            "-c",
            f'{PIPES[name]} 2>/dev/null | "$@"',
            "bash",
            sys.executable,
            "-m",
            "loopcli",
        ],
        capture_output=True,
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if not k.startswith("LOOPCHECK_")}
        | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"},
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 3
    onset = len(program) if "program" in PIPES[name] else 0
    period = len(block) if "block.js" in PIPES[name] else 1
    assert len(done.stdout.decode()) - onset <= max(8000, 3 * period)
    said = done.stderr.decode()
    assert "stopped a loop (period, " in said
    assert SAID.get(name, " since character ") in said


@pytest.mark.parametrize("name", YES)
def test_early_in_every_channel(name: str) -> None:
    lead, unit, times = YES[name]
    for channel in Channel:
        verdict = judge(lead + unit * times, DEFAULT_RULES, lane=Lane(channel))
        assert verdict is not None
        assert verdict.rule == "period"
        assert verdict.lane.channel is channel


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.want == "early"], ids=lambda s: s.name)
def test_early_shapes_at_the_same_character_however_cut(shape: Shape) -> None:
    text = shape.text[: shape.onset + max(4000, 4 * shape.period)]
    whole = judge(text, DEFAULT_RULES)
    assert whole is not None
    assert whole.chars - shape.onset <= max(2000, 3 * shape.period)
    rng = random.Random(shape.name)
    sizes = ([1] * len(text), [4096] * 99, [rng.randint(1, 999) for _ in range(len(text))])
    assert [judge(text, DEFAULT_RULES, pieces) for pieces in sizes] == [whole] * 3


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.want == "late"], ids=lambda s: s.name)
def test_late_shapes_are_found_late_or_by_the_novelty_rule(shape: Shape) -> None:
    verdict = judge(shape.text, NEW)
    assert verdict is None or verdict.chars - shape.onset > 2000
    # Forty short lines, and a paragraph cut twelve times, are over too soon.
    assert (verdict is None) == (shape.name in {"A13 four forms", "A14 paragraph cut"})


# --- What does not -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUIET)
def test_period_and_novelty_are_quiet(name: str) -> None:
    assert judge(QUIET[name], NEW) is None
    # The default set adds nothing to what the saturation rule's own figures demand.
    assert judge(QUIET[name], DEFAULT_RULES) == judge(QUIET[name], ("saturation",))


def test_the_largest_tilemap_trips_by_saturation_alone() -> None:
    verdict = judge(QUIET["tilemap 64x64"], DEFAULT_RULES)
    assert verdict is not None
    assert verdict.rule == "saturation"
    assert judge(QUIET["tilemap 55x55"], DEFAULT_RULES) is None


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.want == "no"], ids=lambda s: s.name)
def test_shapes_that_are_no_loops(shape: Shape) -> None:
    assert judge(shape.text, NEW) is None
    assert judge(shape.text, DEFAULT_RULES) == judge(shape.text, ("saturation",))


def test_the_standard_library_is_quiet() -> None:
    """All of it but its tests; no file of it is periodic."""
    alarms, files = [], 0
    for path in sorted(STDLIB.rglob("*.py")):
        parts = path.relative_to(STDLIB).parts
        if not {"site-packages", "test", "tests"} & set(parts):
            files += 1
            if judge(path.read_bytes().decode("utf-8", "replace"), NEW) is not None:
                alarms.append("/".join(parts))
    assert files > 500
    assert alarms == []


def test_licence_texts_are_quiet() -> None:
    root = Path(__file__).parents[2]
    folders = [Path("/usr/share/common-licenses"), root]
    found = [path for folder in folders for path in folder.glob("[A-Z]*") if path.is_file()]
    for path in found:
        assert judge(path.read_bytes().decode("utf-8", "replace"), NEW) is None, path


def test_good_text_around_a_loop_is_not_named() -> None:
    lead = PROSE + prose(random.Random(9), 300)
    verdict = judge(lead + "mend the gate, " * 200, DEFAULT_RULES)
    assert verdict is not None
    assert verdict.onset_char is not None
    assert 0 <= len(lead) - verdict.onset_char <= 2
    assert verdict.facts["good_chars"] == verdict.onset_char + 15
