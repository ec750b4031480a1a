"""The baseline: a file that keeps the peaks and verdicts of a corpus, to compare later ones with.

The file is JSON with a line for each reply, so that version control shows what
an update changed. It contains no text of any reply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ReplayRow
from loopcli.errors import ConfigError
from loopcli.system import writing

_FORMAT = 1
_MEMBERS = {"format", "settings", "transcripts"}
_INVALID = "not a baseline of loopcheck"
GATE = "baseline"
# Stands for the id in a failure about other knobs, which is not one of a reply.
_SETTINGS = "settings"
_NO_TRIP = "no trip"

Settings = Mapping[str, Any]


class Mark(NamedTuple):
    """What one rule gave for one reply: its peak, and its verdict if it tripped."""

    peak: int
    verdict: str | None


class Baseline(NamedTuple):
    """``settings`` are the rules with their knobs and channels; ``marks`` go by id and rule."""

    settings: Settings
    marks: Mapping[str, Mapping[str, Mark]]


def of(rows: Iterable[ReplayRow], settings: Settings) -> Baseline:
    """Return the baseline of rows."""
    marks: dict[str, dict[str, Mark]] = {}
    for row in rows:
        marks.setdefault(row.id, {})[row.rule] = Mark(row.peak, row.verdict)
    return Baseline(settings, marks)


def load(path: str) -> Baseline:
    """Read a baseline. Raises ``ConfigError`` if it is not one, ``OSError`` if reading fails."""
    doc = _document(path)
    if doc["format"] != _FORMAT:
        raise ConfigError(
            f"{path}: a baseline of another version; write it again with --update-baseline"
        )
    if not _are_settings(doc["settings"]):
        raise ConfigError(f"{path}: {_INVALID}")
    try:
        marks = {
            ident: {rule: _mark(mark) for rule, mark in rules.items()}
            for ident, rules in doc["transcripts"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: {_INVALID}") from error
    return Baseline(doc["settings"], marks)


def refuse_other(path: str) -> None:
    """Raise ``ConfigError`` if a baseline would overwrite a file that is not one."""
    writing.refuse_unwritable(path)
    if writing.replaces(path) and os.path.exists(path) and os.path.getsize(path):
        try:
            _document(path)
        except ConfigError as error:
            raise ConfigError(f"{error}, so it is not overwritten") from error


def _document(path: str) -> dict[str, Any]:
    """Read a baseline of any version. Raises ``ConfigError`` if the file is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            doc = json.load(file)
    except OSError as error:
        hint = "; --update-baseline creates it" if isinstance(error, FileNotFoundError) else ""
        raise OSError(error.errno, f"cannot read: {error.strerror}{hint}", path) from error
    except (ValueError, RecursionError):
        doc = None
    if not (isinstance(doc, dict) and doc.keys() >= _MEMBERS):
        raise ConfigError(f"{path}: {_INVALID}")
    return doc


def _are_settings(settings: object) -> bool:
    """Return whether settings are knobs by rule, which a failure can print."""
    return isinstance(settings, dict) and all(
        isinstance(knobs, dict) and all(map(_is_setting, knobs.values()))
        for knobs in settings.values()
    )


def _is_setting(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, int)


def _mark(mark: Mapping[str, Any]) -> Mark:
    peak, verdict = mark["peak"], mark["verdict"]
    if type(peak) is not int or not isinstance(verdict, str | None):
        raise TypeError
    return Mark(peak, verdict)


def dump(baseline: Baseline) -> bytes:
    """Return the bytes of a baseline's file."""
    lines = [
        f"{json.dumps(ident)}: {json.dumps({rule: mark._asdict() for rule, mark in rules.items()})}"
        for ident, rules in sorted(baseline.marks.items())
    ]
    text = f'{{\n"format": {_FORMAT},\n"settings": {json.dumps(baseline.settings)},\n'
    text += '"transcripts": {\n' + ",\n".join(lines) + "\n}\n}\n"
    return text.encode("ascii")


def failures(old: Baseline, new: Baseline) -> Iterator[Failure]:
    """Yield peaks that rose, verdicts that changed, and knobs that are not the same.

    Peaks under other knobs cannot be compared, so other knobs are a failure of their own.
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
    if old is None or new is None:
        what = "is armed, and was not" if old is None else "was armed, and is not"
        yield Failure(_SETTINGS, GATE, name, f"{name} {what}")
        return
    for knob in [*new, *(knob for knob in old if knob not in new)]:
        was, now = old.get(knob), new.get(knob)
        if was != now:
            change = f"{_shown(was)} -> {_shown(now)}"
            yield Failure(_SETTINGS, GATE, name, f"{name}: {knob.replace('_', '-')}: {change}")


def _shown(value: int | list[str] | None) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return "none" if value is None else str(value)


def in_common(old: Baseline, new: Baseline) -> bool:
    """Return whether both have a mark of the same rule for the same reply."""
    return any(
        rule in old.marks.get(ident, {}) for ident, rules in new.marks.items() for rule in rules
    )


def notes(old: Baseline, new: Baseline) -> Iterator[str]:
    """Yield differences that do not fail the gate."""
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
        yield f"{gone} of the baseline's transcripts are missing"
    if fallen:
        yield f"{fallen} of the peaks fell"
