"""The price look-up: its schedule with an injected clock, its answers, its silence."""

from __future__ import annotations

import json
import select
from collections.abc import Callable
from typing import Any

import pytest
from servers import provider, says

from loopcli.errors import ConfigError
from loopcli.lenient_json import dump_line
from loopcli.run.price import Abandoned, Price, look_up, price_of
from loopcli.run.price_client import Client

RECORD = {
    "id": "gen-loop",
    "total_cost": 0.35,
    "native_tokens_prompt": 1200,
    "native_tokens_cached": 200,
    "native_tokens_completion": 5080,
    "native_tokens_reasoning": 80,
    "provider_name": "Northlake",
}
BODY = json.dumps({"data": RECORD}).encode()
PRICE = Price(0.35, 1000, 200, 5000, 80, "Northlake", RECORD)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.asked: list[tuple[float, str]] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def asking(
        self, answer: Callable[[str, int], tuple[int, bytes]]
    ) -> Callable[[str, float], tuple[int, bytes]]:
        def fetch(ident: str, seconds: float) -> tuple[int, bytes]:
            assert 0 < seconds <= 32 - (self.now - 1000)
            count = sum(asked == ident for _, asked in self.asked)
            self.asked.append((self.now - 1000, ident))
            return answer(ident, count)

        return fetch


def reply(ident: str) -> Abandoned:
    return Abandoned(ident, 3065, 12_261, "m/one")


# Transport vector (k): the answers, the times asked, the price.
SCRIPTS: dict[str, tuple[list[int], list[float], Price | None]] = {
    "404, 404, 200": ([404, 404, 200], [0, 2, 4], PRICE),
    "always 404": ([404] * 99, [2.0 * i for i in range(16)], None),
    "200 at the last moment": ([404] * 15 + [200], [2.0 * i for i in range(16)], PRICE),
    "500": ([500, 200], [0], None),
    "429": ([429, 200], [0], None),
    "404, 500": ([404, 500, 200], [0, 2], None),
    "no answer": ([0, 200], [0], None),
    "a redirect": ([302, 200], [0], None),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_bound_of_asking_again(name: str) -> None:
    statuses, times, price = SCRIPTS[name]
    clock = Clock()
    fetch = clock.asking(lambda _, count: (statuses[count], BODY))
    assert look_up([reply("gen-loop")], fetch, clock.sleep, clock) == [price]
    assert [at for at, _ in clock.asked] == times
    assert clock.now - 1000 == times[-1]


def test_several_replies_wait_together() -> None:
    clock = Clock()
    fetch = clock.asking(lambda ident, count: (200 if count == int(ident) else 404, BODY))
    replies = [reply("2"), reply(""), reply("0"), reply("99")]
    assert look_up(replies, fetch, clock.sleep, clock) == [PRICE, None, PRICE, None]
    assert clock.now - 1000 == 30
    assert "" not in {ident for _, ident in clock.asked}


def test_nobody_is_asked_about_a_reply_without_an_id() -> None:
    clock = Clock()
    assert look_up([reply("")], pytest.fail, clock.sleep, clock) == [None]
    assert clock.now == 1000


def test_a_slow_server_does_not_stretch_the_budget() -> None:
    clock = Clock()

    def slow(_: str, __: int) -> tuple[int, bytes]:
        clock.sleep(9)
        return 404, b""

    assert look_up([reply("x")], clock.asking(slow), clock.sleep, clock) == [None]
    assert [at for at, _ in clock.asked] == [0, 11, 22]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"not json", b"[]", b"{}", b'{"data":null}', b'{"data":[]}', b'{"data":{}}',
        b'{"data":{"total_cost":null}}', b'{"data":{"total_cost":"1"}}',
        b'{"data":{"total_cost":true}}', b'{"data":{"total_cost":-1}}',
    ],
)  # fmt: skip
def test_what_states_no_price(body: bytes) -> None:
    assert price_of(body) is None


@pytest.mark.parametrize("cost", ["1e308", "1e999", "-Infinity", "NaN", "9" * 400])
def test_a_cost_that_is_none(cost: str) -> None:
    """Nor can the sum of many be one."""
    assert price_of(f'{{"data":{{"total_cost":{cost}}}}}'.encode()) is None


def test_a_record_that_json_cannot_hold_is_written() -> None:
    deep = "[" * 900 + "]" * 900
    body = f'{{"data":{{"total_cost":1,"n":NaN,"deep":{deep},"id":"\\ud83d","big":{"9" * 99}}}}}'
    price = price_of(body.encode())
    assert price
    line = dump_line(price.to_json())
    assert json.loads(line, parse_constant=pytest.fail)["record"]["n"] is None
    assert json.loads(line)["record"]["id"] == "\ud83d"
    assert json.loads(line)["record"]["big"] == int("9" * 99)


def test_odd_token_counts_count_as_none() -> None:
    data: dict[str, Any] = {
        "total_cost": 1,
        "native_tokens_prompt": 5,
        "native_tokens_cached": 9,
        "native_tokens_completion": "many",
        "native_tokens_reasoning": None,
    }
    price = price_of(json.dumps({"data": data}).encode())
    assert price
    assert (price.uncached_input, price.output, price.reasoning, price.provider) == (0, 0, 0, "")


# The client

KEY = {"KEY": "sk-secret"}


def wait(fd: int, seconds: float) -> None:
    select.select([fd], [], [], seconds)


def test_a_redirect_is_not_followed() -> None:
    with provider(says(200, "stolen")) as thief:
        with provider(says(302, Location=thief.url)) as server:
            status, _ = Client(server.url, "KEY", wait, KEY).fetch("gen-1", 60)
        assert status == 302
        assert not thief.requests


@pytest.mark.parametrize("status", [200, 404, 500])
def test_a_status_is_an_answer(status: int) -> None:
    with provider(says(status, "body")) as server:
        assert Client(f"{server.url}?a=b", "KEY", wait, KEY).fetch("gen/1", 60) == (status, b"body")
        ((path, headers, _),) = server.requests
    assert path == "/v1?a=b&id=gen%2F1"
    assert headers["Authorization"] == "Bearer sk-secret"


def test_no_answer_is_none() -> None:
    with provider(says(200)) as server:
        url = server.url
    assert Client(url, "KEY", wait, KEY).fetch("gen-1", 60) == (0, b"")


def test_no_message_of_the_client_has_the_key() -> None:
    for key in ("sk-secret\r\nX: y", "sk-secret ü", "sk secret"):
        with pytest.raises(ConfigError) as caught:
            Client("http://127.0.0.1/", "KEY", wait, {"KEY": key})
        assert "secret" not in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        Client("http://127.0.0.1/\n", "KEY", wait, KEY)
    assert "secret" not in str(caught.value)
