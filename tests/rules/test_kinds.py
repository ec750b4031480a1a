"""What a unit is made of is the same for each of its rotations."""

from __future__ import annotations

import pytest

from loopcli.rules.period.kinds import counter_kind, kind_of


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("so ", "letters"),
        ("的", "letters"),
        ("be ", "letters"),
        ("a();", "letters"),
        ("9r+:", "letters"),
        ("Hm.\n\n", "letters"),
        ("no, ", "letters"),
        ("?!", "signs"),
        ("|---", "signs"),
        ("\\n", "signs"),
        ("\\u00a0", "signs"),
        ("\n\n\t", "signs"),
        ("0", "signs"),
        (",000", "signs"),
        ("= 9 - 27 + 27 ", "signs"),
        ("0, ", "data"),
        ("-1,\n", "data"),
        ("0x00, ", "data"),
        ("null,\n", "data"),
        ("ff ", "data"),
        ("1.5e-3, ", "data"),
        ("\\x00", "data"),
        ("State.ERROR, ", "data"),
        ("+--+\n|  |\n", "art"),
        ("X O X O X\n", "art"),
        ("e|------|\n", "art"),
        ("| ok | no |\n", "table"),
        ("open,3,shut\n", "table"),
        ("<td></td>\n", "table"),
        ("<br>", "letters"),
        ("</div>\n", "letters"),
    ],
)
def test_kind_is_that_of_every_rotation(unit: str, kind: str) -> None:
    assert {kind_of(unit[at:] + unit[:at]).value for at in range(len(unit))} == {kind}


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("Case 00: the sum is 0. ", "counter"),
        ("For n = 000, d = 0000. ", "counter"),
        ("<|user|>\nGate 00\n<|end|>\n", "dialogue"),
        ("| 00 | open |\n", "record"),
        ('{"id": 00}, ', "record"),
        ("shelf00 = fit(00)\n", "record"),
        ("wall 0.0m, wide 0.0m\n", "record"),
        ("id: 00\nname: shelf 00\n", "record"),
        ("2000-00-00,gate 0,open\n", "record"),
        ("round and round. ", "record"),
    ],
)
def test_counter_kind_is_that_of_every_rotation(unit: str, kind: str) -> None:
    assert {counter_kind(unit[at:] + unit[:at]).value for at in range(len(unit))} == {kind}
