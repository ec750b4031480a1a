"""The line that tells people that a rule fired: what was done, what repeats, what to raise."""

from __future__ import annotations

from loopcli.verdicts import LENGTH, Verdict
from loopcli.wording import counted, kebab, shown

# By rule, the knob to raise if the verdict was wrong. The period rule has one for each
# kind of unit, but none for the kinds that are missing here.
_CEILINGS = {
    "saturation": "min_saturated_run",
    "novelty": "novelty_words",
    "prose": "stream_threshold",
}
_PERIOD_KINDS = ("letters", "signs", "art", "table", "data", "counter")


def trip_line(
    verdict: Verdict, input_kind: str = "", *, dry_run: bool = False, advice: bool = False
) -> str:
    """Return the line for a verdict; with ``advice`` it ends with the knob to raise.

    ``input_kind`` is what the input was read as; plain text, which is what a newcomer pipes, is
    not named.

    >>> verdict = Verdict(
    ...     "period", "repetition", "", 3, 648, 8, 640, 640, None, 0, ("void 0;",),
    ...     {"unit_kind": "letters", "copies": 81},
    ... )
    >>> trip_line(verdict, advice=True)
    'stopped a loop (period, letters): "void 0;" × 81 since character 0; not a loop? \
--period-letters 1300'
    >>> trip_line(verdict, dry_run=True)
    'would have stopped a loop (period, letters): "void 0;" × 81 since character 0'
    >>> trip_line(verdict, "chat over sse")
    'stopped a loop in chat over sse (period, letters): "void 0;" × 81 since character 0'
    """
    if verdict.rule == "server":
        return verdict.message
    act = "would have stopped" if dry_run else "stopped"
    knob = _knob(verdict)
    ask = "longer on purpose?" if verdict.kind == LENGTH else "not a loop?"
    # The run may have passed its ceiling before the rule could fire.
    reached = verdict.ceiling if verdict.kind == LENGTH else verdict.gauge
    hint = f"; {ask} --{kebab(knob)} {_higher(reached)}" if advice and knob else ""
    place = "" if input_kind in ("", "text") else f" in {input_kind}"
    return f"{act} {_subject(verdict, place)}{hint}"


def _subject(verdict: Verdict, place: str) -> str:
    """Return what was stopped, what repeats, how often, and where that began."""
    if verdict.kind == LENGTH:
        return f"a long reply{place} (length): {verdict.message}"
    facts, units = verdict.facts, " ".join(map(shown, verdict.repeated))
    since = f"since character {verdict.onset_char}"
    if verdict.rule == "period":
        alike = ", its numbers change," if facts["unit_kind"] in ("counter", "dialogue") else ""
        rule = f"(period, {facts['unit_kind']})"
        return f"a loop{place} {rule}: {units} × {facts['copies']}{alike} {since}"
    if verdict.rule == "saturation":
        run = counted(verdict.gauge, "word")
        return f"a loop{place} (saturation): {units} repeated across {run} in a row {since}"
    return f"a loop{place} ({verdict.rule}): {verdict.message}; repeating {units} {since}"


def _knob(verdict: Verdict) -> str:
    if verdict.kind == LENGTH:
        return "max_response_chars"
    if verdict.rule == "period":
        kind = verdict.facts["unit_kind"]
        return f"period_{kind}" if kind in _PERIOD_KINDS else ""
    return _CEILINGS.get(verdict.rule, "")


def _higher(reached: int) -> int:
    """Return twice what was reached, rounded up to two digits: far enough to matter, easy to read.

    >>> _higher(640), _higher(3000), _higher(1)
    (1300, 6000, 2)
    """
    twice = 2 * reached
    step: int = 10 ** max(len(str(twice)) - 2, 0)
    return -(-twice // step) * step
