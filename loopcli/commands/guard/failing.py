"""How a command of the guard fails when the store cannot be used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from loopcli.guard.database import StoreError
from loopcli.output.console import Console
from loopcli.status import Status

P = ParamSpec("P")


def named_failures(function: Callable[P, int]) -> Callable[P, int]:
    """Turn a ``StoreError`` into one line and a status."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return function(*args, **kwargs)
        except StoreError as error:
            Console(sys.stderr).line(str(error))
            return Status.TROUBLE

    return wrapped
