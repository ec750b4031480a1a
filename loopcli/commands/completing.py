"""What a shell completes as the value of an option or an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


class FileName(click.types.StringParamType):
    """The name of a file, taken as it is written; a shell completes it."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave the names to the shell."""
        return file_names(incomplete)


FILE = FileName()


def file_names(incomplete: str) -> list[CompletionItem]:
    """Return what makes a shell complete the name of a file."""
    from click.shell_completion import CompletionItem  # only a completion pays for the import

    return [CompletionItem(incomplete, type="file")]


def listed(names: Iterable[str]) -> Complete:
    """Return what completes the last name of a list with commas that is being written."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        done, comma, begun = incomplete.rpartition(",")
        return [f"{done}{comma}{name}" for name in names if name.startswith(begun)]

    return complete


def assigned(names: Iterable[str]) -> Complete:
    """Return what completes the name before an equals sign."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        return [f"{name}=" for name in names if f"{name}=".startswith(incomplete)]

    return complete
