"""The ladder: thresholds as written, what decides, and which combinations cannot work."""

from __future__ import annotations

import math
from typing import Any

import pytest

from loopcli.actions import Action
from loopcli.ladder import Escalation, Ladder, count, hazards, saved_streak

RUNGS = ("observe", "steer", "escalate", "block", "stop")
OFF = dict.fromkeys(RUNGS, False)


@pytest.mark.parametrize(
    ("value", "default", "threshold"),
    [
        (False, 6, None),
        (4, 6, 4),
        (4.9, 6, 4),
        (1, 6, 1),
        (0, 6, 6),
        (0.5, 6, 6),
        (-1, 6, 6),
        ("3", 6, 6),
        (True, 6, 6),
        (None, 6, 6),
        (math.nan, 6, 6),
        (math.inf, 6, 6),
        ([3], 6, 6),
    ],
)
def test_what_is_no_threshold_is_the_default(
    value: Any, default: int, threshold: int | None
) -> None:
    assert Ladder.from_options({"stop": value}).stop == threshold
    assert Ladder().stop == default


@pytest.mark.parametrize("options", [None, {}, [], "ladder", 5, True])
def test_no_options_are_the_defaults(options: object) -> None:
    assert Ladder.from_options(options) == Ladder()
    assert Ladder().to_json() == OFF | {"observe": 2, "block": 3, "stop": 6}


def test_the_strongest_rung_that_is_reached_decides() -> None:
    ladder = Ladder(2, 3, 4, 5, 6)
    decided = [ladder.decide(streak) for streak in range(1, 8)]
    assert decided == [
        None,
        (Action.OBSERVE, 2),
        (Action.STEER, 3),
        (Action.ESCALATE, 4),
        (Action.BLOCK, 5),
        (Action.STOP, 6),
        (Action.STOP, 6),
    ]


def test_what_cannot_be_blocked_falls_to_a_weaker_rung() -> None:
    ladder = Ladder(2, 3, 4, 5, None)
    assert ladder.decide(9, can_block=False) == (Action.ESCALATE, 4)
    assert ladder.decide(9, can_block=False, can_escalate=False) == (Action.STEER, 3)
    assert ladder.decide(9, can_escalate=False) == (Action.BLOCK, 5)
    assert Ladder(None, None, None, 2, None).decide(4, can_block=False) is None


MODEL = {"model": "large"}


@pytest.mark.parametrize(
    ("ladder", "escalation", "warnings"),
    [
        ({}, None, 0),
        ({"stop": False}, None, 1),
        ({"observe": 5, "block": 2}, None, 1),
        ({"observe": 3}, None, 1),
        ({"observe": 6, "block": 6, "stop": 6}, None, 2),
        ({"steer": 3}, None, 1),
        ({"escalate": 3}, None, 2),
        ({}, MODEL, 1),
        (OFF, None, 0),
        ({"observe": 1}, None, 0),
        ({"escalate": 3, "block": 5, "stop": 8}, MODEL, 0),
    ],
)
def test_hazards(ladder: dict[str, Any], escalation: Any, warnings: int) -> None:
    found = list(hazards(Ladder.from_options(ladder), Escalation.from_options(escalation)))
    assert len(found) == warnings


def test_hazards_come_in_order_and_name_the_weakest_rung_that_wins() -> None:
    ladder = Ladder.from_options({"observe": 4, "steer": 4, "block": 4, "stop": False})
    unbounded, observe, steer = hazards(ladder, None)
    assert "`stop` is off" in unbounded
    assert "`observe` (4) can never act, because the stronger `steer` (4)" in observe
    assert "`steer` (4) can never act, because the stronger `block` (4)" in steer


@pytest.mark.parametrize(
    ("options", "escalation"),
    [
        (None, None),
        ({}, None),
        ({"advisor": False}, None),
        ({"maxEscalations": 5}, None),
        (MODEL, Escalation("large")),
        ({"advisor": True}, Escalation("", True)),
        (
            {"advisor": {"effort": "high"}, "maxEscalations": 3.7},
            Escalation("", {"effort": "high"}, 3),
        ),
        (MODEL | {"maxEscalations": 0}, Escalation("large", None, 2)),
        (MODEL | {"maxEscalations": "9"}, Escalation("large", None, 2)),
    ],
)
def test_an_escalation_needs_a_mechanism(options: Any, escalation: Escalation | None) -> None:
    assert Escalation.from_options(options) == escalation


def test_an_escalation_is_written_as_the_document_does() -> None:
    assert Escalation("large", True, 3).to_json() == {
        "model": "large",
        "advisor": True,
        "maxEscalations": 3,
    }
    assert Escalation("large").to_json() == {"model": "large", "maxEscalations": 2}


def test_counts_from_elsewhere() -> None:
    assert [count(value) for value in (3, 3.9, 0, -1, "3", None, True, math.inf)] == [3, 3] + [
        0
    ] * 6
    assert [saved_streak(value) for value in (5, 0, -7, 10**9, 10**400)] == [5, 1, 1, 10**6, 10**6]
    assert [saved_streak(value) for value in (None, "5", True, math.nan, -math.inf)] == [None] * 5
