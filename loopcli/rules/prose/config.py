"""The knob of the prose rule."""

from __future__ import annotations

from typing import NamedTuple

NAME = "prose"


class ProseConfig(NamedTuple):
    """How often sentences have to be written in a row. The figure is the document's."""

    # Who announces something writes it once, and twice to correct it.
    stream_threshold: int = 3

    @property
    def lowest(self) -> int:
        """The lowest ceiling: the only one."""
        return self.stream_threshold
