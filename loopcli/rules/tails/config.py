"""The knobs of the tails rule: what a repetition at the end of a reply is."""

from __future__ import annotations

from typing import NamedTuple

NAME = "tails"


class TailsConfig(NamedTuple):
    """The text options of the document, with its figures.

    A token is what stands between white space. An input may set them to any
    number: they are not refused, as the document's engine does not refuse them.
    """

    max_period_tokens: int = 16
    min_repeats: int = 4
    min_covered_tokens: int = 12
    max_window_tokens: int = 400

    @property
    def lowest(self) -> int:
        """The fewest repeats that count."""
        return self.min_repeats
