"""What other programs wrote comes to every sink harmless: every field of every event is tried."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from io import BytesIO, StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from xml.etree import ElementTree

import pytest

from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import Place, ReplayRow
from loopcli.analyze.session_replay import Repeat, Rung, SessionFacts
from loopcli.detector import Detector
from loopcli.events import Event, EventMarks, Marks
from loopcli.filter import driver
from loopcli.filter.driver import Filter
from loopcli.filter.settings import FilterSettings
from loopcli.lenient_json import dump_line
from loopcli.output import escape
from loopcli.output.console import Console
from loopcli.output.formats import table
from loopcli.output.jsonl import JsonLinesRenderer
from loopcli.output.junit import junit
from loopcli.output.report import Report
from loopcli.output.text import TextRenderer
from loopcli.session_verdicts import JudgedRound, SessionConfig, SessionTotals
from loopcli.system.output import Output
from loopcli.verdicts import Label, Region, Verdict
from loopcli.watch import PlacedVerdict, Watch

PAYLOADS = {
    "controls": "a\x1b[2Jb\x07\x00\x7fc",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "one-byte controls": "\x9b2J\x9d52;c;ZQ==\x9c",
    "bidi": "\u202etxt.exe\u202c\u2066x\u2069\u200f\u061c",
    "invisible": "a\u200bb\ufeffc\xadd\u2060e",
    "lines": "first\nFAKE: line\r\nthird\rfourth\u2028fifth\u2029sixth\x85seventh\x0b\x0c",
    "formula": "=cmd|' /C calc'!A0",
    "other formulas": "+1\t@SUM(1)",
    "minus": "-2+3",
    "at": "@SUM(1)",
    "tab": "\t=1",
    "script": "<script>alert(1)</script>",
    "link": "[click](http://evil.example/) ![i](javascript:1) https://evil.example",
    "bare link": "www.evil.example mailto:x@evil.example",
    "markup": "`**x** | _y_ ~~z~~ # h &lt; \\",
    "quotes": "\"'><img src=x onerror=alert(1)>",
    "entities": "&amp;]]>\x02",
    "lone surrogate": "a\ud83dz",
    "long": "x" * 100_000,
}
each_payload = pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)


# --- Anything, filled with one text --------------------------------------------------------------


def filled(kind: Any, text: str) -> Any:
    """A value of a type; every string in it is `text`."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return filled(next(one for one in inner if one is not NoneType), text)
    if origin is not None and isinstance(origin, type):
        if issubclass(origin, tuple):
            return (filled(inner[0], text),)
        if issubclass(origin, Mapping):  # the name of the main agent is empty
            return {key: filled(inner[1], text) for key in ("", text)}
        return [filled(inner[0], text)]
    if kind in (Any, object, str):
        return text
    if kind is Marks:
        return EventMarks([text], [1])
    if kind in (int, float, bool):
        return kind(1)
    if issubclass(kind, Enum):
        return next(iter(kind))
    hints = get_type_hints(kind, localns={"SessionFacts": SessionFacts})
    fields = {name: hints[name] for name in kind._fields}
    # A class without fields is a helper, which the default does without.
    known = {name: hint for name, hint in fields.items() if not is_helper(hint)}
    return kind(**{name: filled(hint, text) for name, hint in known.items()})


def is_helper(hint: Any) -> bool:
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not NoneType]
    return any(
        isinstance(kind, type)
        and kind.__module__.startswith("loopcli")
        and not (hasattr(kind, "_fields") or kind is Marks or issubclass(kind, Enum))
        for kind in kinds
    )


def events(text: str) -> list[Event]:
    return [filled(kind, text) for kind in get_args(Event)]


class Once:
    """A reader that gives some events, whatever it reads."""

    name = framing = "chat"
    progress = 0

    def __init__(self, given: list[Event]) -> None:
        self._given = given

    def feed(self, data: bytes) -> list[Event]:
        given, self._given = self._given, []
        return given

    def close(self) -> list[Event]:
        return []


# --- What a sink must hold -----------------------------------------------------------------------


def terminal_is_safe(printed: str, lines: int | None = None) -> None:
    assert printed == "" or printed.endswith("\n")
    told = printed.split("\n")[:-1]
    assert all(line.isprintable() for line in told), printed
    if lines is not None:
        assert len(told) == lines


def json_is_safe(raw: bytes) -> list[Any]:
    """Every line is JSON, and harmless where it is printed as it is."""
    text = raw.decode("utf-8")
    assert all(line.isprintable() for line in text.split("\n"))
    return [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]


def csv_is_safe(raw: bytes) -> None:
    text = raw.decode("utf-8")
    csv.field_size_limit(10_000_000)
    for row in csv.reader(StringIO(text)):
        for value in row:
            assert not value.startswith(("=", "+", "-", "@")) or re.fullmatch(r"-?[\d.]+", value)


def markdown_is_safe(raw: bytes) -> None:
    text = raw.decode("utf-8")
    assert all(line.isprintable() for line in text.split("\n"))
    bare = re.sub(r"\\.|&#46;", "", text)  # without what is escaped
    assert not re.search(r"[<>\[\]`~]|^#|https?:|www\.|\*", re.sub(r"```[^`]*```", "", bare))
    for block in bare.split("\n\n"):  # a table each
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def xml_is_safe(raw: bytes, elements: set[str]) -> None:
    assert {element.tag for element in ElementTree.fromstring(raw).iter()} <= elements
    assert all(line.isprintable() for line in raw.decode("utf-8").split("\n"))


# --- The filter ----------------------------------------------------------------------------------


def judged(given: list[Event], tmp_path: Path) -> tuple[str, bytes]:
    """What the filter says of some events, for people and as a report."""
    people, report = StringIO(), BytesIO()
    with tempfile.TemporaryFile() as source, (tmp_path / "sink").open("wb") as sink:
        source.write(b"x")
        source.seek(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "STDIN", source.fileno())
            output = Output(os.dup(sink.fileno()))
            renderers = [
                TextRenderer(Console(people), verbose=True),
                JsonLinesRenderer(report),
            ]
            watch = Watch(Once(given), Detector([]))  # type: ignore[arg-type]
            info = {"version": "0", "input": "chat", "watch": [], "rules": {}, "armed": ""}
            Filter(watch, FilterSettings(), renderers, output).run(info, [], None)
    return people.getvalue(), report.getvalue()


@each_payload
def test_every_event(payload: str, tmp_path: Path) -> None:
    kinds = get_args(Event)
    assert len(kinds) > 12
    for event in events(payload):
        people, report = judged([event], tmp_path)
        terminal_is_safe(people)
        assert all(len(line) < 3500 for line in people.splitlines())
        json_is_safe(report)


@each_payload
def test_all_events_together(payload: str, tmp_path: Path) -> None:
    people, report = judged(events(payload), tmp_path)
    terminal_is_safe(people)
    json_is_safe(report)


def verdict(text: str) -> PlacedVerdict:
    return filled(PlacedVerdict, text)._replace(verdict=filled(Verdict, text))  # type: ignore[no-any-return]


def everything(text: str) -> Iterator[Callable[[TextRenderer | JsonLinesRenderer], None]]:
    yield lambda renderer: renderer.verdict(verdict(text), 1)
    for kind in ("malformed", "output", "upstream"):
        yield lambda renderer, kind=kind: renderer.problem(text, line=3, kind=kind)  # type: ignore[misc]
    yield lambda renderer: renderer.warning(text)
    yield lambda renderer: renderer.begin({"armed": text, "rules": {}, text: text})
    for kind in (SessionConfig, JudgedRound, SessionTotals):
        yield lambda renderer, kind=kind: renderer.session(filled(kind, text), 1)  # type: ignore[misc]


@each_payload
def test_every_call_of_a_renderer(payload: str) -> None:
    for call in everything(payload):
        people, report = StringIO(), BytesIO()
        call(TextRenderer(Console(people), verbose=True))
        terminal_is_safe(people.getvalue())
        call(JsonLinesRenderer(report))
        json_is_safe(report.getvalue())


def test_a_message_of_five_megabytes_is_cut(tmp_path: Path) -> None:
    for event in events("x" * 5_000_000):
        people, _ = judged([event], tmp_path)
        assert all(len(line) < 1200 for line in people.splitlines()), type(event)


# --- analyze -------------------------------------------------------------------------------------


# What loopcheck itself names in a row; everything else may come from a file.
OWN = {
    "label": Label.LOOP,
    "rule": "period",
    "channel": "content",
    "trip_channel": "content",
    "verdict": "repetition",
    "finding": "ended",
}


def report_of(text: str) -> Report:
    region = filled(Region, text)._replace(kind="letters")
    places = (Place("content", 3, region),) * 4
    row = filled(ReplayRow, text)._replace(**OWN, places=places)
    rungs = (Rung("steer", 3, 1), Rung("stop", 5, None))
    repeats = [
        filled(Repeat, text)._replace(rule="streaks", detection="call", rungs=rungs, streak=4)
    ]
    session = row.session._replace(repeats=tuple(repeats))
    rows = [row._replace(session=None), row._replace(session=session, rule="streaks")]
    failures = [filled(Failure, text)._replace(gate="labels", rule="period")]
    return Report([*rows, rows[0]._replace(id=text + "2")], [text], failures, None)


SAFE: dict[str, Callable[[bytes], object]] = {
    "table": lambda raw: terminal_is_safe(raw.decode("utf-8")),
    "json": lambda raw: json.loads(raw, parse_constant=pytest.fail),
    "jsonl": json_is_safe,
    "csv": csv_is_safe,
    "markdown": markdown_is_safe,
}


def test_every_format_has_a_check() -> None:
    assert set(table.NAMES) == set(SAFE)


@pytest.mark.parametrize("name", table.NAMES)
@each_payload
def test_every_format_of_a_report(name: str, payload: str) -> None:
    raw = table.load(name).report(report_of(payload))
    SAFE[name](raw)
    assert all(line.isprintable() for line in raw.decode("utf-8").split("\n"))


@each_payload
def test_junit(payload: str) -> None:
    report = report_of(payload)
    raw = junit(report.rows, report.failures, report.troubles)
    elements = {"testsuites", "testsuite", "testcase", "failure", "error"}
    xml_is_safe(raw, elements)


@each_payload
def test_html_has_the_escape_of_xml(payload: str) -> None:
    assert not set("<>") & set(escape.xml(payload))
    assert '"' not in escape.xml(payload)


@each_payload
def test_what_is_escaped_is_the_text_still(payload: str) -> None:
    """Ordinary text stays as it is, and JSON gives the very same back."""
    assert json.loads(dump_line({"a": payload})) == {"a": payload}
    plain = "An id-1, a path/x.txt: 50 %"
    assert {sink(plain) for sink in (escape.cell, escape.terminal, escape.xml)} == {plain}
    assert escape.markdown(plain) == plain
