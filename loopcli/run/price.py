"""What abandoned replies cost, as the provider's generation endpoint tells it.

Pure: whoever looks up brings the request, the sleep and the clock. Source: gg,
"Abandoned replies": the provider knows a price only some seconds after a stream
was dropped, so 404 means "not yet"; whatever else is not a price is final.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

# Asked at 0, 2, … 30 seconds: sixteen times.
ASK_EVERY = 2.0
BUDGET = 30.0

# A request's answer: the HTTP status (0 when there was none) and the body.
Fetch = Callable[[str], tuple[int, bytes]]


class Abandoned(NamedTuple):
    """A reply that was dropped before its end. Without an id nobody can price it."""

    generation_id: str
    words: int
    chars: int
    model: str


class Price(NamedTuple):
    """What a reply cost. Tokens as the provider's own tokenizer counts them."""

    cost: float
    uncached_input: int
    cached_input: int
    output: int
    reasoning: int
    provider: str
    record: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the price as the journal has it."""
        return {
            "cost": self.cost,
            "tokens": {
                "uncachedInput": self.uncached_input,
                "cachedInput": self.cached_input,
                "output": self.output,
                "reasoning": self.reasoning,
            },
            "provider": self.provider or None,
            "record": self.record,
        }


def look_up(
    replies: Sequence[Abandoned],
    fetch: Fetch,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> list[Price | None]:
    """Return each reply's price, ``None`` for those that cannot be priced.

    Those that are not known yet are asked for again together, so that the
    whole takes no longer than the last of them.
    """
    prices: list[Price | None] = [None] * len(replies)
    waiting = [place for place, reply in enumerate(replies) if reply.generation_id]
    until = clock() + BUDGET
    while waiting:
        not_yet = []
        for place in waiting:
            status, body = fetch(replies[place].generation_id)
            if status == 404:
                not_yet.append(place)
            elif 200 <= status <= 299:
                prices[place] = price_of(body)
        waiting = not_yet
        if not waiting or clock() + ASK_EVERY > until:
            break
        sleep(ASK_EVERY)
    return prices


def price_of(body: bytes) -> Price | None:
    """Return the price that a 2xx answer states; ``None`` if it states none."""
    try:
        doc = orjson.loads(body)
    except ValueError:
        return None
    data = doc.get("data") if isinstance(doc, dict) else None
    if not isinstance(data, dict):
        return None
    cost = data.get("total_cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or cost < 0:
        return None
    prompt, cached, completion, reasoning = (
        _count(data.get(f"native_tokens_{kind}"))
        for kind in ("prompt", "cached", "completion", "reasoning")
    )
    provider = data.get("provider_name")
    return Price(
        cost,
        max(0, prompt - cached),
        cached,
        max(0, completion - reasoning),
        reasoning,
        provider if isinstance(provider, str) else "",
        data,
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
