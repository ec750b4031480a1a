"""The price of abandoned replies, from the provider's generation endpoint.

Pure: the caller supplies the request, the sleep and the clock. Source: gg,
"Abandoned replies": the provider knows a price only some seconds after a stream
was closed, so 404 means "not yet"; any other answer without a price is final.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from loopcli.lenient_json import amount, count, parse

# In seconds: requests at 0, 2, … 30, sixteen in all. The last one may take as long as the
# pause before it, and no request goes on after that.
ASK_EVERY = 2.0
BUDGET = 30.0

# Sends a request for one id; returns the HTTP status (0 if no answer came within so many
# seconds) and the body.
Fetch = Callable[[str, float], tuple[int, bytes]]


class Abandoned(NamedTuple):
    """A reply that was stopped before its end. Without a generation id it has no price."""

    generation_id: str
    words: int
    chars: int
    model: str


class Price(NamedTuple):
    """The cost of a reply. Tokens are counted by the provider's own tokenizer."""

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
    budget: float = BUDGET + ASK_EVERY,
) -> list[Price | None]:
    """Return each reply's price, or ``None`` for a reply that cannot be priced.

    Replies whose price is not known yet share each wait, so that all of them
    together take no longer than the slowest.
    """
    prices: list[Price | None] = [None] * len(replies)
    waiting = [place for place, reply in enumerate(replies) if reply.generation_id]
    until = clock() + BUDGET
    deadline = clock() + min(budget, BUDGET + ASK_EVERY)
    while waiting:
        not_yet = []
        for place in waiting:
            left = deadline - clock()
            if left <= 0:
                return prices
            status, body = fetch(replies[place].generation_id, left)
            if status == 404:
                not_yet.append(place)
            elif 200 <= status <= 299:
                prices[place] = price_of(body)
        waiting = not_yet
        if not waiting or clock() + ASK_EVERY > min(until, deadline):
            break
        sleep(ASK_EVERY)
    return prices


def price_of(body: bytes) -> Price | None:
    """Return the price in the body of a 2xx answer, or ``None`` if it has no price."""
    try:
        doc = parse(body)
    except ValueError:
        return None
    data = doc.get("data") if isinstance(doc, dict) else None
    if not isinstance(data, dict):
        return None
    cost = amount(data.get("total_cost"))
    if cost is None or cost < 0:
        return None
    prompt, cached, completion, reasoning = (
        count(data.get(f"native_tokens_{kind}"))
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
