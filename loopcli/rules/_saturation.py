"""The knobs of the saturation rule."""

from __future__ import annotations

from typing import NamedTuple

# Knobs for which 0 means something.
MAY_BE_ZERO = frozenset({"min_saturated_run", "max_response_chars"})


class SaturationConfig(NamedTuple):
    """The five knobs; the defaults are the document's figures."""

    # A phrase of a few words recurs dozens of times in 256; thousands of good
    # words before a loop are soon out of sight. Also the least a reply must
    # hold before the rule can fire.
    window_words: int = 256
    # More than 32 in 256 is more than an eighth of the window; ordinary prose
    # gives its commonest word about 6 %.
    repeat_threshold: int = 32
    # One common word is ordinary text; a phrase is at least two.
    min_offenders: int = 2
    # About a 55x55 tilemap; the largest in gg's corpus, 1,504 entries, peaks at
    # 1,409. 0 is the plain frequency rule.
    min_saturated_run: int = 3000
    # For a runaway without a period; a 2,000-line program is about 60,000
    # characters. 0 turns the backstop off.
    max_response_chars: int = 250_000
