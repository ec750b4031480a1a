"""What a corpus gave before: a file to keep, and what has changed since.

The file is JSON with a line for each reply, so that version control shows what
an update changed. It holds no text of any reply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from loopcli.errors import ConfigError
from loopcli.gates import Failure
from loopcli.replay import Row

_FORMAT = 1
GATE = "baseline"
# What is shown for a verdict that is none.
_NO_TRIP = "no trip"

Settings = Mapping[str, Any]


class Mark(NamedTuple):
    """What one rule said of one reply."""

    peak: int
    verdict: str | None


class Baseline(NamedTuple):
    """``settings`` are the rules with their knobs and the channels; marks go by id and rule."""

    settings: Settings
    marks: Mapping[str, Mapping[str, Mark]]


def of(rows: Iterable[Row], settings: Settings) -> Baseline:
    """Return what rows are to be remembered by."""
    marks: dict[str, dict[str, Mark]] = {}
    for row in rows:
        marks.setdefault(row.id, {})[row.rule] = Mark(row.peak, row.verdict)
    return Baseline(settings, marks)


def load(path: str) -> Baseline:
    """Read a baseline; raises ``ConfigError`` if that cannot be done."""
    try:
        with open(path, encoding="utf-8") as file:
            doc = json.load(file)
        if doc["format"] != _FORMAT:
            raise ConfigError(f"{path}: a baseline of another version; make it anew")
        marks = {
            ident: {rule: Mark(int(mark["peak"]), mark["verdict"]) for rule, mark in rules.items()}
            for ident, rules in doc["transcripts"].items()
        }
        return Baseline(dict(doc["settings"]), marks)
    except OSError as error:
        hint = "; --update-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        raise ConfigError(f"{path}: cannot read: {error.strerror}{hint}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not a baseline of loopcheck") from error


def save(path: str, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all; raises ``OSError``."""
    lines = [
        f"{json.dumps(ident)}: {json.dumps({rule: mark._asdict() for rule, mark in rules.items()})}"
        for ident, rules in sorted(baseline.marks.items())
    ]
    text = f'{{\n"format": {_FORMAT},\n"settings": {json.dumps(baseline.settings)},\n'
    text += '"transcripts": {\n' + ",\n".join(lines) + "\n}\n}\n"
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def failures(old: Baseline, new: Baseline) -> Iterator[Failure]:
    """Yield what became worse, or different in kind.

    Other knobs fail by themselves: peaks under other knobs cannot be compared.
    """
    for name in sorted({*old.settings, *new.settings}):
        yield from _settings(name, old.settings.get(name), new.settings.get(name))
    for ident, rules in new.marks.items():
        for rule, mark in rules.items():
            was = old.marks.get(ident, {}).get(rule)
            if was is None:
                continue
            if mark.peak > was.peak:
                message = f"the peak of {rule} rose: {was.peak} -> {mark.peak}"
                yield Failure(ident, GATE, rule, message)
            if mark.verdict != was.verdict:
                change = f"{was.verdict or _NO_TRIP} -> {mark.verdict or _NO_TRIP}"
                yield Failure(ident, GATE, rule, f"the verdict of {rule} changed: {change}")


def _settings(name: str, old: Any, new: Any) -> Iterator[Failure]:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        if old != new:
            yield Failure("settings", GATE, "", f"{name}: {_shown(old)} -> {_shown(new)}")
        return
    for knob in [*new, *(knob for knob in old if knob not in new)]:
        was, now = old.get(knob), new.get(knob)
        if was != now:
            change = f"{_shown(was)} -> {_shown(now)}"
            yield Failure("settings", GATE, name, f"{name}: {knob.replace('_', '-')}: {change}")


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "none" if value is None else str(value)


def notes(old: Baseline, new: Baseline) -> Iterator[str]:
    """Yield what is worth knowing and fails nothing."""
    added = len(new.marks.keys() - old.marks.keys())
    gone = len(old.marks.keys() - new.marks.keys())
    fallen = sum(
        rule in (was := old.marks.get(ident, {})) and mark.peak < was[rule].peak
        for ident, rules in new.marks.items()
        for rule, mark in rules.items()
    )
    if added:
        yield f"{added} of the transcripts are not in the baseline"
    if gone:
        yield f"{gone} of the baseline's transcripts were not found"
    if fallen:
        yield f"{fallen} of the peaks fell"
