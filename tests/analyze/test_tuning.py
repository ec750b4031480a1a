"""Sweeps and suggestions of the command against running the detector once per combination."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from statistics import median

from analyzing import ROOT, VOID, run
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXTS
from sweeping import judge

from loopcli.analyze.replay import replay
from loopcli.analyze.sweep.cells import sweep
from loopcli.analyze.sweep.grid import Grid
from loopcli.analyze.sweep.suggest import suggest
from loopcli.analyze.sweep.tally import Tally
from loopcli.analyze.sweep.tokens import tokenise
from loopcli.events import Channel, Lane
from loopcli.recordings import corpus
from loopcli.recordings.corpus import File, Transcript
from loopcli.rules.base import Armed
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.rules.saturation.rule import SaturationRule
from loopcli.rules.table import RULES
from loopcli.verdicts import Label

NOW = SaturationConfig(256, 32, 2, 3000, 250_000)


def transcripts() -> list[tuple[str, list[str]]]:
    """The id and the content lanes of every reply in the fixtures."""
    found = []
    for item in corpus.find([str(ROOT / "fixtures")]):
        for each in corpus.read(item) if isinstance(item, File) else ():
            if isinstance(each, Transcript):
                lanes = [(lane, "".join(pieces)) for lane, pieces in each.lanes]
                content = [text for lane, text in lanes if lane.channel is Channel.CONTENT]
                found.append((each.id, content))
    return found


def test_every_cell_of_every_fixture_equals_the_detector() -> None:
    grid = Grid((64, 256, 500), (8, 32), (1, 2, 3), (0, 100, 3000), (0, 9000, 250_000))
    texts = [text for _, lanes in transcripts() for text in lanes]
    assert len(texts) > 60
    result = sweep([tokenise(text) for text in texts], grid)
    peaks = result.peaks()
    trips: dict[tuple[int, int], tuple[int, int]] = {}
    limits = len(grid.max_response_chars)
    for limit in range(limits):
        found = result.trips(limit)
        for at, rule, words, chars in zip(
            found.transcript, found.rule, found.words, found.chars, strict=True
        ):
            trips[int(at), int(rule) * limits + limit] = int(words), int(chars)
    for combo, knobs in enumerate(grid):
        config = SaturationConfig(*knobs)
        for at, text in enumerate(texts):
            rule = SaturationRule(config, past_trip=True)
            armed = [Armed(lambda rule=rule: rule, frozenset(Channel))]
            (row,) = replay("a", [(Lane(), [text])], armed)
            assert peaks[at, combo // (len(grid) // grid.cells)] == row.peak
            wanted = None if row.verdict is None else (row.trip_word, row.trip_char)
            assert trips.get((at, combo)) == wanted


REPLIES = st.lists(
    st.tuples(TEXTS, st.sampled_from(Label), st.none() | st.integers(0, 60)),
    max_size=4,
)
GRID = Grid((3, 8), (1, 2, 4), (1, 2), (2, 6, 20), (0, 40))


@given(REPLIES, st.sampled_from([0.0, 1.0, 1.5, 2.0]))
def test_a_suggestion_is_the_front_of_the_whole_grid(
    replies: list[tuple[str, Label, int | None]], headroom: float
) -> None:
    tally = Tally(GRID)
    for text, label, onset in replies:
        tally.add([text], label, onset)
    loops = tally.count(Label.LOOP)
    found = suggest(tally.rows(), loops, headroom, NOW)
    named = sorted(row.knobs for each in found for row in each.alike)
    assert named == sorted(brute_force(replies, headroom))
    assert [each.cost for each in found] == sorted(each.cost for each in found)


def brute_force(
    replies: list[tuple[str, Label, int | None]], headroom: float
) -> list[SaturationConfig]:
    """The combinations with the headroom that no other one beats, from one run for each."""
    costs = {}
    for knobs in GRID:
        missed, alarms, peak, delays = 0, 0, 0, []
        for text, label, onset in replies:
            verdict = judge(text, knobs)
            if label is Label.CLEAN:
                alarms += verdict.kind is not None
                peak = max(peak, verdict.peak)
            elif verdict.kind is None or (onset is not None and verdict.chars <= onset):
                missed += 1
            elif onset is not None:
                delays.append(verdict.words - tokenise(text).words_at(onset))
        ceiling = knobs.min_saturated_run
        if peak * headroom <= ceiling:
            delay = median(delays) if delays else inf
            costs[knobs] = (missed, alarms, delay, peak / ceiling)
    return [
        knobs
        for knobs, cost in costs.items()
        if not any(
            other != cost and all(a <= b for a, b in zip(other, cost, strict=True))
            for other in costs.values()
        )
    ]


def test_the_grid_of_a_suggestion_holds_the_figures_of_the_document() -> None:
    assert NOW in set(Grid.from_items("saturation", RULES["saturation"].sweep.suggested, NOW))


def labelled(folder: Path) -> None:
    for path, text in {
        "loop/a.txt": VOID * 400,
        "loop/b.txt": "no such luck " * 300,
        "clean/a.txt": "one two three four five six seven " + "0, 1, " * 60,
    }.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)


def test_a_suggestion_is_printed_as_flags_and_as_a_block(tmp_path: Path) -> None:
    labelled(tmp_path)
    found = run(["--suggest", "."], tmp_path)
    assert found.status == 0
    assert found.stdout.startswith("2 loops, 1 clean reply; headroom 2;")
    document = json.loads(run(["--suggest", "--format", "json", "."], tmp_path).stdout)
    best = document["suggested"]
    flags = "--rules saturation " + " ".join(
        f"--{name.replace('_', '-')} {value}" for name, value in best.items()
    )
    assert f"\n{flags}\n" in found.stdout
    block = "\n".join(f"{name.replace('_', '-')} = {value}" for name, value in best.items())
    assert f'rules = ["saturation"]\n\n[saturation]\n{block}\n' in found.stdout
    assert "n/a" in found.stdout  # no onsets, so no delays
    tried = run([*flags.split(), "--check", "."], tmp_path)
    assert tried.status == (3 if document["front"][0]["missed"] else 0)
    assert best in document["front"][0]["combinations"]


def test_a_suggestion_needs_labels_and_room(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(VOID)
    found = run(["--suggest", "a.txt"], tmp_path)
    assert (found.status, "no transcript is labelled" in found.stderr) == (1, True)
    labelled(tmp_path)
    tight = ["--sweep", "min-saturated-run=10", "--sweep", "window-words=64"]
    found = run(["--suggest", *tight, "--sweep", "repeat-threshold=4", "."], tmp_path)
    assert (found.status, "leaves a headroom of 2" in found.stderr) == (1, True)


def test_a_sweep_in_every_format(tmp_path: Path) -> None:
    labelled(tmp_path)
    args = ["--sweep", "min-saturated-run=100:300:100", "--sweep", "min-offenders=2,3", "."]
    lines = run([*args, "--format", "jsonl"], tmp_path).rows
    assert [line["min_saturated_run"] for line in lines] == [100, 200, 300] * 2
    assert [line["loop_trips"] for line in lines] == [2, 2, 2, 1, 1, 1]
    assert {line["delay_words"] for line in lines} == {None}
    document = json.loads(run([*args, "--format", "json"], tmp_path).stdout)
    assert [{"type": "combination", **each} for each in document["combinations"]] == lines
    head, *cells = run([*args, "--format", "csv"], tmp_path).stdout.splitlines()
    assert head.startswith("window_words,repeat_threshold,")
    assert len(cells) == 6
    table = run(args, tmp_path).stdout
    assert "6 combinations" in table
    assert "n/a" in table
    best = run([*args, "--format", "jsonl", "--top", "1"], tmp_path).rows
    assert [line["loop_trips"] for line in best] == [2]


def test_a_table_of_a_sweep_is_cut_and_says_so(tmp_path: Path) -> None:
    labelled(tmp_path)
    args = ["--sweep", "min-saturated-run=1:150:1", "."]
    for form in ([], ["--format", "markdown"]):
        whole = run([*args, *form, "--top", "0"], tmp_path).stdout
        assert "not shown" not in whole
        cut = run([*args, *form], tmp_path).stdout
        assert "\n50 combinations after these are not shown (--top 0).\n150 comb" in cut
        assert len(whole.splitlines()) - len(cut.splitlines()) == 50 - 1
        # Those that are left are the best, and otherwise the values give the order.
        best = run([*args, *form, "--top", "100"], tmp_path).stdout
        assert cut == best
        assert set(cut.splitlines()[2:102]) < set(whole.splitlines()[2:152])
        one = run([*args, *form, "--top", "149"], tmp_path).stdout
        assert "\n1 combination after these is not shown (--top 0).\n" in one
    lines = run([*args, "--format", "jsonl"], tmp_path).rows
    assert [line["min_saturated_run"] for line in lines] == list(range(1, 151))
    assert run([*args, "--format", "jsonl", "--top", "0"], tmp_path).rows == lines
    alone = run(["--sweep", "min-saturated-run=9", "."], tmp_path).stdout
    assert alone.endswith("\n1 combination\n")


def test_a_front_is_cut_and_says_so(tmp_path: Path) -> None:
    labelled(tmp_path)
    tiles = ROOT / "fixtures" / "replies" / "clean" / "tilemap-47x32.txt"
    (tmp_path / "clean" / "b.txt").write_text(tiles.read_text("utf-8"))
    args = ["--suggest", "--headroom", "0", "--sweep", "min-saturated-run=300,3000", "."]
    front = run([*args, "--format", "jsonl"], tmp_path).rows
    assert len(front) > 1
    more = len(front) - 1
    cut = run([*args, "--top", "1"], tmp_path).stdout
    assert f"\n{more} suggestion{'s' * (more > 1)} after these " in cut
    assert "not shown" not in run(args, tmp_path).stdout
