"""Keeps memory from growing with what a session holds."""

from __future__ import annotations

from typing import Any


def drop_oldest(memory: dict[str, Any], most: int) -> None:
    """Remove what was put first from a mapping that has more than ``most`` members.

    >>> memory = dict.fromkeys("abcd")
    >>> drop_oldest(memory, 3)
    >>> list(memory)
    ['b', 'c', 'd']
    """
    for name in list(memory)[: max(0, len(memory) - most)]:
        del memory[name]
