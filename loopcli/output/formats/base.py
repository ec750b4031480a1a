"""The shape of a format: what its file has to define, as ``FORMAT``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # each job imports its own
    from loopcli.output.report import Report
    from loopcli.output.tuning import FrontReport, SweepReport


class OutputFormat(NamedTuple):
    """How ``analyze`` prints its three results: a renderer for each.

    ``limit`` is how many rows to print unless ``--top`` is given; ``None`` prints all of them.
    """

    report: Callable[[Report], bytes]
    sweep: Callable[[SweepReport], bytes]
    front: Callable[[FrontReport], bytes]
    limit: int | None
