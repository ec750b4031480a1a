"""The journal's records of a turn, as plain objects.

Source: gg's ``turn_outcome`` event and its session record. ``session``,
``model`` and ``at`` (when the turn ended) are our additions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from loopcli.lenient_json import amount, count
from loopcli.run.attempts import AttemptKind, Attempts
from loopcli.run.journal import Previous, Record
from loopcli.run.price import Abandoned, Price

# Every failure is a failure of the model request; the type says which one.
ERROR_KIND = "model_api"
_ERROR_TYPES = {
    AttemptKind.STALLED: "model_stream_stalled",
    AttemptKind.CEILING: "model_call_timeout",
    AttemptKind.HTTP: "model_http_error",
    AttemptKind.UPSTREAM: "model_upstream_error",
    AttemptKind.CUT: "model_stream_interrupted",
    AttemptKind.MALFORMED: "model_stream_malformed",
    AttemptKind.EXITED: "command_failed",
}
LOOP_TYPE = "model_response_loop"


class Turn(NamedTuple):
    """One finished turn.

    ``number`` is its place in the session; ``at`` is when it ended, in seconds since 1970.
    """

    attempts: Attempts
    number: int
    session: str
    model: str
    at: float
    interrupted: bool = False

    @property
    def label(self) -> dict[str, Any]:
        """The members that every record of the turn has."""
        named = {"session": self.session, "model": self.model}
        when = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds")
        return {key: value for key, value in named.items() if value} | {"at": when}


def of_turn(turn: Turn, previous: Previous) -> list[Record]:
    """Return the records of a turn: its outcome, and the loop that failed it, if one did."""
    outcome = _outcome(turn, previous)
    looped = outcome.get("errorType") == LOOP_TYPE
    return [outcome, _response_loop(turn)] if looped else [outcome]


def _outcome(turn: Turn, previous: Previous) -> dict[str, Any]:
    attempts = turn.attempts
    record: dict[str, Any] = {"type": "turn_outcome", "outcome": "progressed"}
    consecutive = 0
    if turn.interrupted:
        # Not an error of the model: the count of errors continues past this turn.
        record["outcome"] = "fatal"
        record["errorType"] = "interrupted"
        consecutive = previous.consecutive_errors
    elif not attempts.answered:
        record["outcome"] = "error"
        record["error"] = ERROR_KIND
        record["errorType"] = LOOP_TYPE if attempts.looped else _ERROR_TYPES[attempts.last.kind]
        consecutive = previous.consecutive_errors + 1
    record |= {"consecutiveErrors": consecutive, "turns": turn.number}
    loops, words, chars = attempts.tally
    if loops:
        record |= {"loopAborts": loops, "loopAbortWords": words, "loopAbortChars": chars}
    if attempts.answered:
        record |= _reply(attempts.last.chars, attempts.last.usage)
    return record | turn.label


def _reply(chars: int, usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the size of the answer, and its cost if the provider sent it."""
    # The chat API's word, or the word of Anthropic's and of the Responses API.
    kind = "completion" if "completion_tokens" in usage else "output"
    details = usage.get(f"{kind}_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, Mapping) else 0
    output = max(0, count(usage.get(f"{kind}_tokens")) - count(reasoning))
    cost = amount(usage.get("cost"))
    sizes = {"responseChars": chars, "responseOutputTokens": output}
    reply: dict[str, Any] = {key: value for key, value in sizes.items() if value}
    if cost is not None:
        reply |= {"totalCost": cost, "workCost": cost}
    return reply


def _response_loop(turn: Turn) -> dict[str, Any]:
    loops, words, chars = turn.attempts.tally
    return {
        "type": "model_error",
        "kind": "response_loop",
        "turn": turn.number,
        "message": turn.attempts.failure(turn.number),
        "discarded": loops,
        "discardedWords": words,
        "discardedChars": chars,
    } | turn.label


def of_prices(
    turn: Turn, priced: Iterable[tuple[Abandoned, Price | None]], agent: str
) -> dict[str, Any]:
    """Return the record of what a turn's abandoned replies cost.

    Their cost counts as total cost and never as work cost.
    """
    pairs = list(priced)
    costs = [price.cost for _, price in pairs if price]
    replies = [
        {
            "generationId": reply.generation_id or None,
            "words": reply.words,
            "chars": reply.chars,
            "model": reply.model or None,
            "agent": agent or None,
        }
        | (price.to_json() if price else {"cost": None})
        for reply, price in pairs
    ]
    return {
        "type": "abandoned_replies",
        "turn": turn.number,
        "totalCost": math.fsum(costs),
        "workCost": 0,
        "loopAbortPriced": len(costs),
        "loopAbortUnpriced": len(pairs) - len(costs),
        "replies": replies,
    } | turn.label
