"""A phrase that a reply repeats up to its very end.

The end of the text is taken as tokens. For each length p, the last p tokens are
a block; how many equal blocks stand one behind the other at the end is how often
it is repeated. Of the lengths that repeat often enough and cover enough tokens,
the one that covers most is reported, the shortest of equals. One other token at
the end hides the repetition.

Source: OpenRouter, Doom-loop detection. White space is ECMAScript's, and lengths
of text are UTF-16 units, as in the document's engine.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from loopcli.identity import SPACES
from loopcli.rules.tails.config import TailsConfig

_SPACE = re.compile(f"[{SPACES}]+")
# How many UTF-16 units of the end are looked at, for each token of the window.
_UNITS_PER_TOKEN = 64


class Repetition(NamedTuple):
    """A block of ``period`` tokens that stands ``repeats`` times at the end; ``sample`` is it."""

    repeats: int
    period: int
    sample: str

    @property
    def covered(self) -> int:
        """How many tokens the repetition covers."""
        return self.repeats * self.period


def normalised(text: str) -> str:
    """Return a text with each run of white space as one blank, and none at its ends.

    >>> normalised(" I am\\xa0\\n stuck. ")
    'I am stuck.'
    """
    return _SPACE.sub(" ", text).strip(" ")


def repetition(text: str, config: TailsConfig) -> Repetition | None:
    """Return the repetition at the end of a normalised text, if there is one.

    >>> repetition(normalised("So. " + "I am stuck. " * 4), TailsConfig())
    Repetition(repeats=4, period=3, sample='I am stuck.')
    """
    window = int(config.max_window_tokens)
    tail = last_units(text, _UNITS_PER_TOKEN * window)
    tokens = [token for token in tail.split(" ") if token][-window:]
    if len(tokens) < max(config.min_covered_tokens, 2):
        return None
    best: Repetition | None = None
    for period in range(1, min(int(config.max_period_tokens), len(tokens) // 2) + 1):
        repeats = _repeats(tokens, period)
        covered = repeats * period
        if repeats < config.min_repeats or covered < config.min_covered_tokens:
            continue
        if best is None or covered > best.covered:
            best = Repetition(repeats, period, " ".join(tokens[-period:]))
    return best


def _repeats(tokens: list[str], period: int) -> int:
    """Return how many blocks like the last one stand at the end, that one among them."""
    at = len(tokens) - period
    # Copying what stands one period before, token for token, is the same as equal blocks.
    while at > 0 and tokens[at - 1] == tokens[at - 1 + period]:
        at -= 1
    return (len(tokens) - at) // period


def last_units(text: str, units: int) -> str:
    """Return the last ``units`` UTF-16 units of a text: a character beyond U+FFFF is two.

    >>> last_units("ab\\U0001f600", 3), last_units("abc", 9)
    ('b😀', 'abc')
    """
    if len(text) * 2 <= units:
        return text
    tail = text[-units:].encode("utf-16-le", "surrogatepass")
    return tail[-2 * units :].decode("utf-16-le", "surrogatepass")
