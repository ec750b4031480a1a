"""When two tool calls, or two replies, are the same: canonical JSON and its fingerprint.

The document's detectors compare nothing but fingerprints, and an agent may
resume in one program what another saved. A fingerprint therefore has to be the
same byte for byte wherever it is computed:

- *material* is what identifies a call: its arguments as the model wrote them,
  read as JSON, or the part of them that a loop key picks out;
- *canonical* is the material as RFC 8785 writes it: no blanks, keys sorted by
  UTF-16 code units, numbers and strings as ECMAScript prints them;
- the *fingerprint* is the SHA-256 of that, behind the tool's name and a newline.

All numbers are doubles, as in ECMAScript: 9007199254740993 is the same number as
9007199254740992. Nothing is normalised as Unicode text.

Source: OpenRouter, Doom-loop detection; RFC 8785; ECMA-262 ``JSON.parse``,
``JSON.stringify`` and ``Number::toString``.
"""

from __future__ import annotations

import json
import math
import re
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any, NamedTuple

# ECMAScript's white space and line ends. Python's own notion differs: it has
# U+001C to U+001F and U+0085 too, and lacks U+FEFF.
SPACES = "\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_TRIM = re.compile(f"^[{SPACES}]+|[{SPACES}]+\\Z")

# The engine's figure. Arguments of real calls are a few levels deep.
MAX_DEPTH = 64

_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
# ECMAScript writes a number without an exponent from 1e-6 up to below 1e21.
_PLAIN_FROM, _PLAIN_TO = -6, 21


class UnhashableError(ValueError):
    """A value that RFC 8785 cannot represent, or that is nested too deeply."""


class Material(NamedTuple):
    """What identifies a call before any loop key: ``parsed`` if it was JSON, and not a string."""

    value: Any
    parsed: bool


def material(arguments: str) -> Material:
    """Return what a model's arguments mean; text that is no JSON stands for itself.

    Raises ``UnhashableError`` for JSON that is nested so deeply that Python cannot read it.

    >>> material(' {"x": 1.0} '), material("")
    (Material(value={'x': 1.0}, parsed=True), Material(value={}, parsed=True))
    >>> material('{"x": '), material('{"x": NaN}').parsed, material('"abc"')
    (Material(value='{"x": ', parsed=False), False, Material(value='abc', parsed=False))
    """
    text = _TRIM.sub("", arguments)
    if not text:
        return Material({}, True)
    try:
        value = json.loads(text, parse_int=float, parse_constant=_refuse)
    except RecursionError as error:
        if _is_balanced(text):
            raise UnhashableError("nested too deeply") from error
        return Material(arguments, False)
    except ValueError:
        return Material(arguments, False)
    return Material(value, not isinstance(value, str))


def _refuse(constant: str) -> None:
    """Refuse what Python would read: NaN and the infinities are no JSON."""
    raise ValueError(constant)


def _is_balanced(text: str) -> bool:
    """Return whether every bracket outside strings is closed: the nearest to a parse without one.

    Text that is deep and cut short, as a model's output cap leaves it, is no JSON.
    """
    brackets = [match[0] for match in _BRACKETS.finditer(text) if match[0][0] != '"']
    return 2 * sum(bracket in "[{" for bracket in brackets) == len(brackets)


def canonical(value: object) -> str:
    """Return a value as RFC 8785 writes it.

    Raises ``UnhashableError`` for a number that is not finite, for what is no
    JSON value, and for more than ``MAX_DEPTH`` levels of nesting.

    >>> canonical({"b": [1.0, -0.0, 1e21, None], "a": "é\\u2028\\x01"})
    '{"a":"é\\u2028\\\\u0001","b":[1,0,1e+21,null]}'
    """
    return _written(value, 0)


def _written(value: object, depth: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number(value)
    if depth >= MAX_DEPTH:
        raise UnhashableError(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise UnhashableError("a key that is no string")
        members = sorted(value.items(), key=_code_units)
        written = (f"{_string(key)}:{_written(item, depth + 1)}" for key, item in members)
        return f"{{{','.join(written)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(_written(item, depth + 1) for item in value)}]"
    raise UnhashableError(f"no JSON value: {type(value).__name__}")


def _code_units(member: tuple[str, object]) -> bytes:
    """Return a key in the order of ECMAScript: U+1F600 begins with D83D, so before U+FFFD."""
    return member[0].encode("utf-16-be", "surrogatepass")


def _string(text: str) -> str:
    """Return a string as ``JSON.stringify`` writes it."""
    written = encode_basestring(text)
    if not _SURROGATE.search(written):
        return written
    # Two halves that stand side by side are one character to ECMAScript.
    whole = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", whole)


def number(value: float) -> str:
    """Return a number as ECMAScript prints it; an ``int`` is rounded to a double first.

    >>> number(1e-7), number(1e-6), number(1e21), number(123.0), number(12345678901234567890)
    ('1e-7', '0.000001', '1e+21', '123', '12345678901234567000')
    """
    try:
        double = float(value)
    except OverflowError as error:
        raise UnhashableError("a number that is not finite") from error
    if not math.isfinite(double):
        raise UnhashableError("a number that is not finite")
    if double == 0:
        return "0"
    # Both languages print the shortest digits that read back as the same double.
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of ``point``.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= _PLAIN_TO:
        return sign + digits.ljust(point, "0")
    if 0 < point <= _PLAIN_TO:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _PLAIN_FROM < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def fingerprint(value: object, tool: str | None = None) -> str:
    """Return the lower-case hexadecimal SHA-256 of a value, or of a tool's call with it.

    Raises ``UnhashableError`` where ``canonical`` does.

    >>> fingerprint({"q": "x"}, "search")[:16]
    '861414cc795606f5'
    """
    text = canonical(value)
    if tool is not None:
        # What encodes text for ECMAScript has U+FFFD for a lone surrogate.
        text = _SURROGATE.sub("\ufffd", tool) + "\n" + text
    return sha256(text.encode("utf-8")).hexdigest()
