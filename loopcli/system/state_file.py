"""The file of ``--state``: what is remembered of a session between two runs.

It is replaced whole after what it is about has been judged, so that a run that
is killed leaves what it had saved before.
"""

from __future__ import annotations

import os
from typing import Any

import orjson

from loopcli.lenient_json import parse
from loopcli.system import writing

# Far above what the rules remember; a larger file is not ours.
MAX_BYTES = 64 * 1024 * 1024


def load(path: str) -> dict[str, Any] | None:
    """Return the saved state, ``None`` if there is no such file yet.

    Raises ``OSError`` if it cannot be read, or not be written later, and
    ``ValueError`` if it holds no state.
    """
    writing.refuse_unwritable(path)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                raise ValueError(f"it has more than {MAX_BYTES} bytes")
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if not raw:
        return None
    state = parse(raw)
    if not isinstance(state, dict):
        raise ValueError("it holds no object")
    return state


def save(path: str, state: dict[str, Any]) -> None:
    """Write a state, whole or not at all. Raises ``OSError``."""
    writing.write(path, _dumped(state) + b"\n")


def _dumped(state: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(state)
    except TypeError:  # a lone surrogate in a name
        import json

        return json.dumps(state).encode("ascii")
