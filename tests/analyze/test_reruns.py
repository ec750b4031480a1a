"""Sweeps of the period and the novelty rule against one run of the rule per combination."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import product
from math import inf
from pathlib import Path
from statistics import median

import pytest
from analyzing import ROOT, run
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import PROSE, QUIET
from strategies import loopy

from fixtures.shapes import bag, grid, prose, sentence
from loopcli.analyze.replay import replay
from loopcli.analyze.scoring import ScoredReply, detected, score
from loopcli.analyze.sweep import reruns as module
from loopcli.analyze.sweep.grid import RuleGrid, swept_rule
from loopcli.analyze.sweep.reruns import Reruns
from loopcli.analyze.sweep.rows import LABELS, SweepRow
from loopcli.analyze.sweep.suggest import suggest
from loopcli.errors import ConfigError
from loopcli.events import Channel, Lane
from loopcli.recordings import corpus
from loopcli.recordings.corpus import File, Transcript
from loopcli.rules.base import Armed
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.novelty.rule import NoveltyRule
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.period.rule import PeriodRule
from loopcli.rules.table import RULES
from loopcli.verdicts import Label
from loopcli.words import WordCounter

Config = PeriodConfig | NoveltyConfig
Reply = tuple[list[str], Label | None, int | None]
RNG = random.Random(3)
DEFAULTS: dict[str, Config] = {"period": PeriodConfig(), "novelty": NoveltyConfig()}
FORMS = [sentence(RNG, 4) + " " for _ in range(5)]
TEXTS = st.sampled_from(
    [
        "",
        PROSE,
        PROSE + "la " * 90 + PROSE,
        PROSE + "la " * 400 + PROSE,
        "?!" * 900,
        PROSE + prose(RNG, 60) * 4,
        grid(20, 20),
        "".join(f"Gate {n} is open, go on. " for n in range(90, 290)),
        "|  |/\n" * 300,
        bag(RNG, FORMS, 100),
        bag(RNG, FORMS, 400),
    ]
)
REPLIES = st.lists(
    st.tuples(
        st.lists(TEXTS | loopy(), max_size=2) | TEXTS.map(lambda text: [text]),
        st.sampled_from(LABELS),
        st.none() | st.integers(0, 400),
    ),
    max_size=4,
)
GRIDS = {
    "period": (
        "period-letters=240,640,1000",
        "period-signs=500,1200",
        "period-data=700",
        "period-counter=1500,4000",
        "period-copies=1,2",
    ),
    "novelty": ("novelty-words=30,200,1000", "novelty-seen=1,3"),
}


@cache
def once(text: str, knobs: Config) -> SweepRow:
    """The rule on one lane, as a report has it."""
    if isinstance(knobs, PeriodConfig):
        armed = Armed(lambda: PeriodRule(knobs, past_trip=True), frozenset(Channel))
    else:
        armed = Armed(lambda: NoveltyRule(knobs, past_trip=True), frozenset(Channel))
    (row,) = replay("a", [(Lane(), [text])], [armed])
    return row


def words(text: str, chars: int | None = None) -> int:
    return WordCounter().after(text, len(text) if chars is None else chars)


def expected(replies: Iterable[Reply], knobs: Config) -> SweepRow:
    """One row, from one run of the rule per lane."""
    lowest = once("", knobs).ceiling
    heights = [(0.0, 0, lowest)]
    trips = dict.fromkeys(LABELS, 0)
    caught = saved = clean = 0
    outcomes: list[ScoredReply] = []
    delay_words: list[int] = []
    for lanes, label, onset in replies:
        rows = [once(text, knobs) for text in lanes]
        lane = next((at for at, row in enumerate(rows) if row.verdict is not None), -1)
        alarm = rows[lane].trip_char if lane >= 0 else None
        trips[label] += alarm is not None
        if label is Label.CLEAN:
            clean += 1
            heights += [(row.share, row.peak, row.ceiling) for row in rows]
        elif alarm is not None:
            saved += len("".join(lanes[lane:])) - alarm
        if label is not None:
            total = sum(map(words, lanes))
            outcomes.append(ScoredReply(label is Label.LOOP, total, alarm, onset))
        if label is Label.LOOP and detected(alarm, onset):
            caught += 1
            if onset is not None:
                delay_words.append((rows[lane].trip_word or 0) - words(lanes[lane], onset))
    in_chars = score(outcomes)
    _, peak, ceiling = max(heights, key=lambda height: height[:2])
    return SweepRow(
        knobs=knobs,
        clean_peak=peak if clean else None,
        clean_ceiling=ceiling if clean else None,
        clean_trips=trips[Label.CLEAN],
        loop_trips=trips[Label.LOOP],
        other_trips=trips[None],
        length_trips=0,
        caught=caught,
        delay_chars=in_chars.delay,
        saved_chars=saved,
        score=replace(in_chars, delay=median(delay_words) if delay_words else None),
    )


@settings(max_examples=60)
@given(REPLIES, st.sampled_from(sorted(GRIDS)), st.integers(0, 4))
def test_rows_equal_one_run_per_combination(replies: list[Reply], rule: str, split: int) -> None:
    grid_ = RuleGrid.from_items(rule, GRIDS[rule], DEFAULTS[rule])
    parts = Reruns(grid_), Reruns(grid_)
    for index, reply in enumerate(replies):
        parts[index >= split].add(*reply)
    parts[0].merge(parts[1])
    assert list(parts[0].rows()) == [expected(replies, knobs) for knobs in grid_]


@pytest.mark.parametrize("rule", GRIDS)
def test_every_cell_of_every_fixture_and_of_what_is_to_stay_quiet(rule: str) -> None:
    replies: list[Reply] = [([text], Label.CLEAN, None) for text in QUIET.values()]
    for item in corpus.find([str(ROOT / "fixtures")]):
        for each in corpus.read(item) if isinstance(item, File) else ():
            if isinstance(each, Transcript):
                lanes = ["".join(pieces) for _, pieces in each.lanes]
                replies.append((lanes, each.label, each.onset))
    assert len(replies) > 100
    grid_ = RuleGrid.from_items(rule, GRIDS[rule], DEFAULTS[rule])
    # Each reply by itself: in a sum one cell could make up for another.
    for reply in replies:
        swept = Reruns(grid_)
        swept.add(*reply)
        assert list(swept.rows()) == [expected([reply], knobs) for knobs in grid_]


@settings(max_examples=30)
@given(REPLIES, st.sampled_from(sorted(GRIDS)), st.sampled_from([0.0, 1.0, 2.0]))
def test_a_suggestion_is_the_front_of_the_whole_grid(
    replies: list[Reply], rule: str, headroom: float
) -> None:
    grid_ = RuleGrid.from_items(rule, GRIDS[rule], DEFAULTS[rule])
    swept, costs = Reruns(grid_), {}
    for reply in replies:
        swept.add(*reply)
    for knobs in grid_:
        row = expected(replies, knobs)
        peak, ceiling = row.clean_peak or 0, row.clean_ceiling or 1
        if peak * headroom <= ceiling:
            loops = sum(label is Label.LOOP for _, label, _ in replies)
            delay = inf if row.score.delay is None else row.score.delay
            costs[knobs] = (loops - row.caught, row.clean_trips, delay, peak / ceiling)
    best = [
        knobs
        for knobs, cost in costs.items()
        if not any(
            other != cost and all(a <= b for a, b in zip(other, cost, strict=True))
            for other in costs.values()
        )
    ]
    found = suggest(swept.rows(), swept.count(Label.LOOP), headroom, DEFAULTS[rule])
    assert sorted(row.knobs for each in found for row in each.alike) == sorted(best)


def test_few_runs_stand_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    judged = module._judged
    monkeypatch.setattr(module, "_judged", lambda *args: made.append(1) or judged(*args))
    for rule, runs in (("period", 1), ("novelty", 5)):
        grid_ = RuleGrid.from_items(rule, RULES[rule].sweep.suggested, DEFAULTS[rule])
        assert DEFAULTS[rule] in set(grid_)
        made.clear()
        Reruns(grid_).add([PROSE], Label.CLEAN)
        assert (len(made), len(grid_) >= 60) == (runs, True)
    made.clear()
    grid_ = RuleGrid.from_items("period", RULES["period"].sweep.suggested, PeriodConfig())
    Reruns(grid_).add(["la " * 900], Label.LOOP)
    assert len(made) < 120


def test_only_reruns_over_one_grid_merge() -> None:
    one = RuleGrid.from_items("novelty", ["novelty-seen=2"], NoveltyConfig())
    other = RuleGrid.from_items("novelty", ["novelty-seen=3"], NoveltyConfig())
    with pytest.raises(ValueError, match="different grids"):
        Reruns(one).merge(Reruns(other))


def test_a_sweep_is_of_one_rule() -> None:
    assert swept_rule([]) is None
    assert swept_rule(["novelty-seen=2", "novelty-words=3"]) == "novelty"
    with pytest.raises(ConfigError, match="of one rule, and these knobs are of novelty and sat"):
        swept_rule(["novelty-seen=2", "window-words=3"])
    for item in ("period-letters=0", "period-letters=1:2", "period-nothing=3"):
        with pytest.raises(ConfigError, match="sweep"):
            swept_rule([item])
    with pytest.raises(ConfigError, match="20000 combinations, more than 10000"):
        RuleGrid.from_items("period", ["period-letters=1:20000:1"], PeriodConfig())


# --- As a process --------------------------------------------------------------------------------


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    for path, text in {
        "loop/a.txt": PROSE + "la " * 400,
        "loop/b.txt": PROSE + bag(random.Random(2), FORMS, 400),
        "clean/a.txt": PROSE + "la " * 80 + prose(random.Random(1), 80),
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    onsets = [{"id": f"loop/{name}.txt", "label": "loop", "onset": len(PROSE)} for name in "ab"]
    (tmp_path / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in onsets))
    return tmp_path


def test_a_sweep_in_every_format(labels: Path) -> None:
    args = ["--rules", "saturation,period", "--sweep", "period-letters=200:1400:400", "clean"]
    args += ["loop", "--labels", "labels.jsonl"]
    lines = run([*args, "--format", "jsonl", "--jobs", "2"], labels).rows
    assert [line["period_letters"] for line in lines] == [200, 600, 1000, 1400]
    assert [line["loop_trips"] for line in lines] == [1, 1, 1, 0]
    assert [line["recall"] for line in lines] == [0.5, 0.5, 0.5, 0]
    assert [line["clean_trips"] for line in lines] == [1, 0, 0, 0]
    # What is less than a third of the lowest ceiling is no peak.
    nearest = [(238, 200), (238, 600), (0, 1000), (0, 1200)]
    assert [(line["clean_peak"], line["clean_ceiling"]) for line in lines] == nearest
    # The first unit, with the blank before it, and then the ceiling.
    assert [line["delay_chars"] for line in lines[1:]] == [602, 1002, None]
    assert lines[1]["saved_chars"] == 1200 - 602
    document = json.loads(run([*args, "--format", "json"], labels).stdout)
    assert [{"type": "combination", **each} for each in document["combinations"]] == lines
    head, *cells = run([*args, "--format", "csv"], labels).stdout.splitlines()
    assert head.startswith("period_letters,period_signs,")
    assert len(cells) == 4
    table = run(args, labels).stdout
    assert table.split()[:5] == ["letters", "clean", "peak", "of", "clean"]
    assert "4 combinations" in table
    best = run([*args, "--format", "jsonl", "--top", "1"], labels).rows
    assert [line["period_letters"] for line in best] == [600]


def test_a_suggestion_is_printed_as_flags_and_as_a_block(labels: Path) -> None:
    for rule, missed in (("period", 1), ("novelty", 0)):
        args = ["--rules", rule, "clean", "loop", "--labels", "labels.jsonl"]
        document = json.loads(run([*args, "--suggest", "--format", "json"], labels).stdout)
        assert document["front"][0]["missed"] == missed
        best = document["suggested"]
        knobs = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in best.items())
        flags = f"--rules {rule} {knobs}"
        block = "\n".join(f"{name.replace('_', '-')} = {value}" for name, value in best.items())
        said = run([*args, "--suggest"], labels).stdout
        text = f'rules = ["{rule}"]\n\n[{rule}]\n{block}\n'
        assert f"\n{flags}\n\n{text}" in said
        assert {each["flags"].partition(" --")[0] for each in document["front"]} == {
            f"--rules {rule}"
        }
        (labels / "best.toml").write_text(text)
        judge = [*args[2:], "--format", "jsonl"]
        tried = run([*judge, *flags.split()], labels)
        from_file = run([*judge, "--rules", rule, "--config", "best.toml"], labels)
        assert tried == from_file
        assert sum(row["verdict"] is None for row in tried.rows) == missed + 1


def test_which_rule_is_swept_is_never_guessed_in_silence(labels: Path) -> None:
    refused = {
        ("--sweep", "novelty-words=9"): "the novelty rule is not armed (--rules)",
        ("--sweep", "period-copies=2", "--sweep", "window-words=9"): "a sweep is of one rule",
        ("--sweep", "period-letters=1:99999:1"): "99999 combinations, more than 10000",
    }
    for flags, message in refused.items():
        found = run(["--rules", "saturation,period", *flags, "."], labels)
        assert (found.status, found.stdout) == (2, "")
        assert message in found.stderr
        assert found.stderr.count("\n") == 1
    armed = ["--rules", "novelty,period"]
    first = json.loads(run([*armed, "--suggest", "--format", "json", "."], labels).stdout)
    assert set(first["suggested"]) == {"novelty_words", "novelty_seen"}
    idle = run([*armed, "--sweep", "period-copies=2", "--novelty-seen", "2", "."], labels)
    assert "--novelty-seen changes nothing, because the novelty rule is not swept" in idle.stderr
    idle = run([*armed, "--window-words", "2", "."], labels)
    assert "--window-words changes nothing, because the saturation rule is not armed" in idle.stderr
    twice = run([*armed, "--sweep", "period-copies=2", "--period-copies", "3", "."], labels)
    assert "--period-copies changes nothing, because it is swept" in twice.stderr


def test_a_sweep_judges_the_channels_of_its_rule(tmp_path: Path) -> None:
    delta = {"choices": [{"index": 0, "delta": {"reasoning_content": "la " * 400}}]}
    (tmp_path / "a.sse").write_text(f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n")
    sweep = ["--format", "jsonl", "--rules", "saturation,period", "--sweep", "period-copies=2"]
    for extra, trips in ((), 1), (("--watch", "content"), 0):
        (row,) = run([*sweep, *extra, "a.sse"], tmp_path).rows
        assert row["other_trips"] == trips


def test_combinations_run_with_the_last_knob_fastest() -> None:
    grid_ = RuleGrid.from_items("period", GRIDS["period"], PeriodConfig())
    assert [tuple(knobs) for knobs in grid_] == list(product(*grid_.axes))
    assert len(grid_) == 24
