"""Canonical JSON and fingerprints: golden values of the document, RFC 8785, and ECMAScript."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcli.identity import UnhashableError, canonical, fingerprint, material, number


def of(arguments: str, tool: str = "t") -> str:
    """The fingerprint of a call with these arguments, as the model wrote them."""
    return fingerprint(material(arguments).value, tool)


# What the document's engine gives for calls of the tool `t`.
GOLDEN = {
    "{}": "53483cb46c6e871463e91efe3683f0ad7de603f6fff8eafbb2c42f5fef6d124e",
    "[]": "0ae7259716c639abdd659f5971359c9d38439b856ad6587602c710b77c677e50",
    "null": "07be5a70b992fcdafc261361f796cb8c9895e587fe8b946227ff6854f351b107",
    "5": "b137946abe42f67bdea4f0316cb763711d5e6575870e829efe9a6dc849b1f97a",
    '"abc"': "4713448e5d3892e9fe070e025a441b883b25125edf90921221570f84b63ad205",
    '{"x":1.0}': "aeec2ae2d4a98ea8e41a2c66635587bdbe5af61a0f6323945d55f4cf7618578b",
    '{"x":1}': "aeec2ae2d4a98ea8e41a2c66635587bdbe5af61a0f6323945d55f4cf7618578b",
    '{"x":1e2}': "2408255d55e71de3eb89e87404f7200e50954578f05b566a45c8304221b3643b",
    '{"x":-0}': "8e492bd4b7b67f2fe20c65441a9c652b57c9e2240a8ff720225a1c51b89debef",
    '{"x":9007199254740993}': "4922d4bc961edf567e3542f1f2042ec9a14527493a9fe65452492b5556aba069",
    '{"x":12345678901234567890}': "b7f4baaa4615a44056e788b5b6de1e42"
    "2aef8cd73716177c26e93e0d33d032b1",
    '{"x":1e-7}': "cd2f8d4d13e488868c5f43ecab9bcf15ee0aa42ef8ca629867523180c4e411a6",
    '{"x":5e-324}': "3b8500c55e8379b45f79e41203a6aecceb002bd5502e3335d808f267d4d1e4d7",
    '{"a":1,"a":2}': "a157e1316e7a476f60ed6dc1bbf9f8f1e8f4ad5951713d524f26f3e14aaaa510",
    # Sorted by UTF-16 code units the emoji comes first.
    '{"\U0001f600":1,"\ufffd":2}': "a44f1b7ccdec012ea617adf2fef07292"
    "208e8fd24123b9b053e653efe9cfddf7",
    "{bad": "ff696decfc1d42871f50e82f0df2d6f692cd4550e8d2f3eabd96886cb2720def",
    '{"q":NaN}': "4355c075fc078a76bdfec4dd06373b2e444bbe5b5a1a25dc2e7af56ebac554dd",
    "[" * 64 + '"leaf"' + "]" * 64: "1a71fb4cc2bd75c2355e39a3a95be5af"
    "abc71ac0a907bc892524df820266f5f2",
}


@pytest.mark.parametrize("arguments", GOLDEN)
def test_golden_fingerprints_of_arguments(arguments: str) -> None:
    assert of(arguments) == GOLDEN[arguments]


GOLDEN_VALUES = [
    ("search", {"q": "x"}, "861414cc795606f5a6a29f37535a3a4c", "b77165791529bf6048f64e0fb66d831a"),
    ("list_tasks", {}, "b84a3e32", "d65d92"),
    ("web_search", {"query": "café 🎉"}, "a8bd7e02", "79b160"),
    ("calc", {"value": 1e21}, "53f17cc3", "dcaaff"),
    ("echo", {"s": "\ud800"}, "9d901512", "d8eb"),
    (None, "I am stuck.", "37c38ab5", "3911aa"),
    (None, "Retrying the same plan.", "764fb75d", "fe3df"),
]


@pytest.mark.parametrize(("tool", "value", "begin", "end"), GOLDEN_VALUES)
def test_golden_fingerprints_of_values(
    tool: str | None, value: object, begin: str, end: str
) -> None:
    digest = fingerprint(value, tool)
    assert (len(digest), digest.startswith(begin), digest.endswith(end)) == (64, True, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "{}"),
        ("   ", "{}"),
        ("\ufeff\xa0\u2028{}\n", "{}"),
        ('{"b":1,"a":2}', '{"a":2, "b":1}'),
        ('{"x":9007199254740993}', '{"x":9007199254740992}'),
        (r'{"x":"\u0041\/"}', '{"x":"A/"}'),
        (r'{"x":"\ud83c\udf89"}', '{"x":"🎉"}'),
    ],
)
def test_calls_that_are_the_same(one: str, other: str) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("null", "{}"),
        ("{bad", "{bad "),  # text that is no JSON is not trimmed
        ('{"q": ', '{"q":'),
        ("\x1c{}", "{}"),  # white space to Python, not to ECMAScript
        ("\x85{}", "{}"),
        ('{"x":"é"}', '{"x":"e\u0301"}'),  # no Unicode normalisation
        ('{"x":1}', '{"x":"1"}'),
        ('{"x":[1,2]}', '{"x":[2,1]}'),
    ],
)
def test_calls_that_differ(one: str, other: str) -> None:
    assert of(one) != of(other)


def test_the_name_of_the_tool_is_part_of_the_identity() -> None:
    assert of("{}", "a") != of("{}", "b")


@pytest.mark.parametrize(
    "arguments",
    [
        "{bad",
        '{"q":NaN}',
        '{"q":-Infinity}',
        '{"q":"a\nb"}',
        "{'q':1}",
        '{"q":1,}',
        "[01]",
        "[1.]",
        "\ufeff",
        "[" * 50_000,
        '"\ud800',
    ],
)
def test_what_is_no_json_stands_for_itself(arguments: str) -> None:
    found = material(arguments)
    if arguments == "\ufeff":
        assert found == ({}, True)
    else:
        assert found == (arguments, False)


def test_a_json_string_counts_as_text() -> None:
    assert material(' "abc" ') == ("abc", False)
    assert material("null") == (None, True)
    assert material("[1]") == ([1.0], True)


@pytest.mark.parametrize(
    "arguments",
    ['{"x":1e400}', '{"x":-1e400}', "1" * 400, "[" * 65 + "1" + "]" * 65, "[" * 9000 + "]" * 9000],
)
def test_what_cannot_be_hashed(arguments: str) -> None:
    with pytest.raises(UnhashableError):
        of(arguments)


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, {1: 2}, {"x": object()}, b"x"])
def test_values_that_are_no_json_cannot_be_hashed(value: object) -> None:
    with pytest.raises(UnhashableError):
        canonical(value)


# The numbers of RFC 8785, appendix B, by the bits of the double.
RFC_NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize("bits", RFC_NUMBERS)
def test_the_numbers_of_the_rfc(bits: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert number(value) == RFC_NUMBERS[bits]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(value: float) -> None:
    assert float(number(value)) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_canonical_text_means_the_same_and_is_its_own_canonical_form(value: object) -> None:
    text = canonical(value)
    read = json.loads(text, parse_int=float)
    assert read == value
    assert canonical(read) == text


@given(st.dictionaries(st.text(), st.integers(-3, 3)), st.randoms(use_true_random=False))
def test_the_order_of_the_keys_does_not_matter(value: dict[str, int], dice: random.Random) -> None:
    items = list(value.items())
    dice.shuffle(items)
    assert fingerprint(dict(items)) == fingerprint(value)


NODE = shutil.which("node")
CANONICAL_IN_NODE = """
const sorted = v => Array.isArray(v) ? v.map(sorted) : v && typeof v === "object"
  ? Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + written(v[k])) : v;
const written = v => Array.isArray(v) ? "[" + v.map(written).join(",") + "]"
  : v && typeof v === "object" ? "{" + sorted(v).join(",") + "}" : JSON.stringify(v);
const lines = require("fs").readFileSync(0, "utf8").trim().split("\\n");
console.log(JSON.stringify(lines.map(line => written(JSON.parse(line)))));
"""


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_ecmascript_writes_the_same() -> None:
    dice = random.Random(8785)
    values: list[object] = [*GOLDEN_VALUES[4][1:2], {"\ud83d": 1, "\ue000": 2, "a\udc00b": "\x7f"}]
    for _ in range(3000):
        (value,) = struct.unpack(">d", dice.randbytes(8))
        if math.isfinite(value):
            values.append(value)
        values.append(dice.randrange(10**22) / 10 ** dice.randrange(30))
        values.append({chr(dice.choice([9, 65, 0xE9, 0x2028, 0xFFFD, 0x1F600])) * 2: [None, True]})
    lines = "\n".join(map(json.dumps, values))
    assert NODE is not None
    command = [NODE, "-e", CANONICAL_IN_NODE]
    out = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    assert json.loads(out) == [canonical(value) for value in values]
