"""The knobs of the shout rule."""

from __future__ import annotations

from typing import NamedTuple

NAME = "shout"


class ShoutConfig(NamedTuple):
    """The knobs of the shout rule."""

    # Nobody means the tenth.
    shout_marks: int = 10
    # A blank may stand between two of them.
    shout_gap: int = 1

    @property
    def lowest(self) -> int:
        """The lowest ceiling: the only one."""
        return self.shout_marks
