"""The front door for programs: what it says is what the filter would have said."""

from __future__ import annotations

import subprocess
import sys
from itertools import cycle
from pathlib import Path

import orjson
import pytest
from helpers import cut
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcli.detector import Detector
from loopcli.errors import ConfigError
from loopcli.events import Channel, EventMarks, Lane, Text
from loopcli.monitor import StreamMonitor, TextMonitor, arm
from loopcli.rules.base import Armed
from loopcli.watch import End

ROOT = Path(__file__).parent.parent
REPLIES, STREAMS = ROOT / "fixtures" / "replies", ROOT / "fixtures" / "streams"
VOID = "Here is the level:\n" + "void 0;\n" * 400
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=8)


def feed(monitor: TextMonitor, text: str, sizes: list[int], channel: str = "content") -> None:
    for piece in cut(text, cycle(sizes)):
        monitor.feed(piece, channel)


# Quiet


@pytest.mark.parametrize("path", sorted(REPLIES.glob("clean/pro*")), ids=str)
def test_a_good_reply_passes(path: Path) -> None:
    monitor = TextMonitor()
    for line in path.read_text("utf-8").splitlines(keepends=True):
        assert monitor.feed(line) is None
    assert monitor.verdict is None
    assert monitor.detector.totals()[0] > 100


def test_a_loop_on_a_channel_that_nobody_watches_is_let_pass() -> None:
    monitor = TextMonitor(arm("period", watch=["reasoning", "tool-args"]))
    feed(monitor, VOID, [100])
    assert monitor.verdict is None
    feed(monitor, VOID, [100], "reasoning")
    assert monitor.verdict is not None
    assert monitor.verdict.lane == Lane(Channel.REASONING)


def test_lanes_do_not_add_up() -> None:
    monitor = TextMonitor()
    for turn in range(60):
        monitor.feed("void 0;\n", choice=turn % 2)
        monitor.feed("void 0;\n", "reasoning")
        monitor.feed("void 0;\n", block=turn % 2 + 1)
    assert monitor.verdict is None


# Loud


@given(SIZES)
@settings(max_examples=30)
def test_where_deltas_are_cut_never_matters(sizes: list[int]) -> None:
    whole, pieces = TextMonitor(), TextMonitor()
    verdict = whole.feed(VOID)
    feed(pieces, VOID, sizes)
    assert verdict is not None
    assert pieces.verdict is not None
    assert pieces.verdict._replace(offset=0) == verdict._replace(offset=0)
    assert (verdict.rule, verdict.chars, verdict.onset_char) == ("period", 666, 18)


def test_the_verdict_stays_and_nothing_more_is_judged() -> None:
    monitor = TextMonitor()
    verdict = monitor.feed(VOID)
    totals = monitor.detector.totals()
    assert monitor.feed("Something else entirely.") is verdict
    assert monitor.detector.totals() == totals


def test_tool_arguments_are_judged_unescaped() -> None:
    monitor = TextMonitor()
    arguments = orjson.dumps({"path": "game.js", "text": "\U0001f600\n" * 2000}).decode()
    escaped = arguments.replace("\U0001f600", "\\ud83d\\ude00")
    for piece in cut(escaped, cycle([7])):
        if monitor.feed(piece, "tool-args", block=2, tool="write"):
            break
    assert monitor.verdict is not None
    assert monitor.verdict.lane == Lane(Channel.TOOL_ARGS, 0, 2, "write")
    assert monitor.verdict.repeated == ("\U0001f600\n",)


def test_an_unknown_channel_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a valid Channel"):
        TextMonitor().feed("a", "contents")


def test_a_detector_says_the_same() -> None:
    detector, monitor = Detector(arm()), TextMonitor()
    verdicts = detector.update(Text(Lane(), VOID, EventMarks([VOID], [len(VOID)])))
    assert monitor.feed(VOID) == verdicts[0]
    assert monitor.detector.gauges() == detector.gauges()


# Bytes


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=5))
@settings(max_examples=20)
def test_where_bytes_are_cut_never_matters(sizes: list[int]) -> None:
    data = (STREAMS / "void-loop.sse").read_bytes()
    whole, pieces = StreamMonitor(), StreamMonitor()
    assert whole.feed(data) is not None
    at = 0
    for size in cycle(sizes):
        if at >= len(data) or pieces.feed(data[at : at + size]):
            break
        at += size
    assert whole.verdict is not None
    assert pieces.verdict is not None
    assert pieces.verdict._replace(offset=0) == whole.verdict._replace(offset=0)
    assert pieces.cut == whole.cut
    assert pieces.close() is whole.close() is End.TRIPPED


def test_the_cut_is_that_of_the_filter() -> None:
    data = (STREAMS / "void-loop.sse").read_bytes()
    filtered = subprocess.run(
        [sys.executable, "-m", "loopcli", "-q"], input=data, capture_output=True, check=False
    )
    monitor = StreamMonitor()
    monitor.feed(data)
    assert monitor.cut == len(filtered.stdout)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("chat.sse", End.DONE),
        ("cut.sse", End.CUT),
        ("finish-length.sse", End.CAPPED),
        ("error-midstream.sse", End.FAILED),
        ("malformed.sse", End.MALFORMED),
    ],
)
def test_how_a_stream_ended(name: str, end: End) -> None:
    monitor = StreamMonitor()
    assert monitor.feed((STREAMS / name).read_bytes()) is None
    assert monitor.close() is end
    assert (monitor.verdict, monitor.cut) == (None, None)


def test_a_repetition_that_the_server_stopped_needs_no_cut() -> None:
    chunk = {"choices": [{"delta": {"content": "a"}, "finish_reason": "repetition"}]}
    monitor = StreamMonitor()
    verdict = monitor.feed(b"data: " + orjson.dumps(chunk) + b"\n\n")
    assert verdict is not None
    assert (verdict.rule, monitor.cut) == ("server", None)


def test_what_is_held_back_until_the_end_is_judged_there() -> None:
    monitor = StreamMonitor()
    assert monitor.feed(b'{"choices": [{"message": {"content": "' + b"No! " * 300) is None
    monitor.feed(b'"}}]}')
    assert monitor.close() is End.TRIPPED
    assert monitor.verdict is not None


def test_a_format_can_be_forced_and_an_unknown_one_is_refused() -> None:
    text = b"data: " + b"void 0;\n" * 400
    monitor = StreamMonitor(input_format="text")
    assert monitor.feed(text) is not None
    with pytest.raises(ConfigError, match="unknown format `smoke`"):
        StreamMonitor(input_format="smoke")


# Arming


def test_the_rules_of_the_command_are_the_default() -> None:
    assert [armed.make().name for armed in arm()] == ["saturation", "period"]
    assert [armed.make().name for armed in arm("novelty", "period")] == ["novelty", "period"]
    assert [armed.make().name for armed in arm(preset="gg")] == ["saturation"]


def test_knobs_are_set_by_name() -> None:
    (armed,) = arm("period", period_letters=400)
    assert armed.make().ceiling == 400


def test_all_defects_are_named() -> None:
    with pytest.raises(ConfigError) as refused:
        arm(window_words=0, period_letters=-1)
    assert len(refused.value.defects) == 2
    with pytest.raises(ConfigError, match="unknown knob `window`"):
        arm(window=3)
    with pytest.raises(ConfigError, match="rules: unknown rule `periods`"):
        arm("periods")
    with pytest.raises(ConfigError, match="watch: unknown channel `answer`"):
        arm(watch=["answer"])


def test_a_knob_that_changes_nothing_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="novelty_words changes nothing"):
        arm("period", novelty_words=3)


def test_a_rule_past_its_trip_goes_on_measuring() -> None:
    monitor = TextMonitor(arm("period", past_trip=True))
    monitor.feed(VOID)
    assert monitor.detector.gauges()["period"].peak.value > 3000


def test_a_program_brings_its_own_rule() -> None:
    (period,) = arm("period")
    monitor = TextMonitor([Armed(period.make, frozenset({Channel.REASONING}))])
    assert monitor.feed(VOID) is None
    assert monitor.feed(VOID, "reasoning") is not None
