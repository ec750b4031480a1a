"""A key is masked in every form in which a server may send it back."""

from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote

import pytest

from loopcli.run.masking import Mask

KEY = "sk-or-v1/0123+456789=abcdefABCDEF"
MASK = Mask(KEY)


def every(text: str, form: str) -> str:
    return "".join(form % ord(char) for char in text)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMS = {
    "as it is": KEY,
    "JSON": json.dumps({"auth": f"Bearer {KEY}"}),
    "slashes escaped": KEY.replace("/", "\\/"),
    "every character escaped": every(KEY, "\\u%04x"),
    "escaped in capitals": every(KEY, "\\u%04X"),
    "some escaped": "sk-or\\u002dv1/0123\\u002b456789=abcdefABCDEF",
    "escaped twice": json.dumps(json.dumps({"auth": every(KEY, "\\u%04x")})),
    "percent": quote(KEY, safe=""),
    "every character percent": every(KEY, "%%%02x"),
    "percent twice": quote(quote(KEY, safe=""), safe=""),
    "over lines": "\n".join(KEY[at : at + 7] for at in range(0, len(KEY), 7)),
    "over lines, escaped": json.dumps("\r\n\t".join(KEY[at : at + 7] for at in range(0, 33, 7))),
    "over strings": f'["{KEY[:9]}", "{KEY[9:20]}" + "{KEY[20:]}"]',
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal in capitals": KEY.encode().hex().upper(),
    "base64": encoded(KEY),
    "base64 without padding": encoded(KEY).rstrip("="),
    "base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode(),
    "base64 within": encoded(f"Bearer {KEY}"),
    "base64 within, shifted": encoded(f"Basic: {KEY} and more"),
    "base64 within, shifted again": encoded(f"user:{KEY}"),
    "base64 over lines": "\n".join(encoded(KEY)[at : at + 10] for at in range(0, 44, 10)),
    "base64 in JSON": json.dumps(encoded(f"x{KEY}")).replace("/", "\\/"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_masked(form: str) -> None:
    masked = MASK(f'{{"a": 1}} {FORMS[form]} the rest')
    assert "***" in masked
    assert masked.startswith('{"a": 1} ')
    assert masked.endswith(" the rest")
    middle = len(FORMS[form]) // 2
    assert FORMS[form][middle - 4 : middle + 4] not in masked


def test_json_stays_json() -> None:
    record = {"data": [KEY, {"auth": f"Bearer {KEY}", KEY: 1}], "cost": 0.5}
    masked = json.loads(MASK(json.dumps(record)))
    assert masked == {"data": ["***", {"auth": "Bearer ***", "***": 1}], "cost": 0.5}


def test_what_is_no_key_stays() -> None:
    for text in ("", "sk-or", KEY[:-1], KEY[1:], "a" * 10_000, json.dumps({"id": "gen-1"})):
        assert MASK(text) == text


def test_a_short_key_could_be_anything() -> None:
    assert Mask("secret")("a secret word") == "a secret word"
    assert Mask("")("text") == "text"
    assert Mask("schlüssel")("ein schlüssel") == "ein schlüssel"


@pytest.mark.parametrize("piece", ["s", "sk-or-v1/0123", "\n", "\\", '", "', "%25", "c2st", "k\n"])
def test_the_search_is_linear(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        start = time.process_time()
        assert MASK(text) == text
        return time.process_time() - start

    assert seconds(200_000) < 20 * max(seconds(20_000), 0.02)
