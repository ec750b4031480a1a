"""Reads a YAML document, after making sure that it is as small as it looks.

A few hundred bytes of YAML can stand for gigabytes: an alias repeats what its anchor
holds, and that may hold aliases itself. A merge key copies its mappings while they are
read, and a list of a million empty lists takes a kilobyte packed. Rules of this file:

- The parser's events are counted before anything is built of them; that takes no memory.
- Merge keys are plain keys. No recording has any.
- What the document would be with every alias written out is measured before it is handed on.
"""

from __future__ import annotations

import binascii
from functools import cache
from typing import Any

from loopcli.errors import reason

# The largest recording known has 7,000 events and 150 KB. An event takes up to 400 bytes
# once it is built.
MAX_BYTES = 16 * 1024 * 1024
_MAX_EVENTS = 150_000
NEEDS_YAML = "reading YAML needs PyYAML: pip install 'loopcheck[formats]'"


class YamlError(ValueError):
    """A text that is not YAML, or is too much of it. ``position`` names a line, if one is known."""

    def __init__(self, message: str, position: str = "") -> None:
        super().__init__(message)
        self.position = position


def load(raw: bytes) -> Any:
    """Return the document in ``raw``. Raises ``YamlError``, and ``ImportError`` without PyYAML."""
    import yaml  # an extra, and slow to import

    text = raw.decode("utf-8", "replace")
    try:
        # An event takes a character at least.
        if len(text) > _MAX_EVENTS:
            _count(text)
        document = yaml.load(text, _loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        position = f"line {mark.line + 1}" if mark else ""
        raise YamlError(f"not YAML: {error.problem}", position) from error
    except YamlError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise YamlError(f"not YAML: {reason(error)}".partition("\n")[0]) from error
    try:
        size = _written_out(document, {})
    except RecursionError as error:
        raise YamlError(f"not YAML: {reason(error)}") from error
    if size > MAX_BYTES:
        raise YamlError(f"its aliases stand for {size} bytes, more than {MAX_BYTES}")
    return document


def _count(text: str) -> None:
    import yaml

    for number, _ in enumerate(yaml.parse(text, _loader())):
        if number >= _MAX_EVENTS:
            raise YamlError(f"more than {_MAX_EVENTS} values, the most that is read of YAML")


def _written_out(node: object, sizes: dict[int, int]) -> int:
    """Return about how many bytes a value takes with every alias in it written out.

    ``sizes`` has what is known, by identity: each value is visited once.
    """
    if isinstance(node, str | bytes):
        return len(node) + 2
    if not isinstance(node, dict | list):
        return 8
    if id(node) not in sizes:
        sizes[id(node)] = MAX_BYTES + 1  # what a value counts for that holds itself
        parts = [*node, *node.values()] if isinstance(node, dict) else node
        sizes[id(node)] = 2 + sum(_written_out(part, sizes) for part in parts)
    return sizes[id(node)]


@cache
def _loader() -> Any:
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """The safe loader, which reads a value with an unknown tag as plain data."""

        def flatten_mapping(self, node: Any) -> None:
            """Leave merge keys as they are."""

    def plain(loader: Any, _: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    def binary(loader: Any, node: Any) -> bytes:
        try:
            return binascii.a2b_base64(loader.construct_scalar(node))
        except ValueError:
            return b""

    # A date is never a body, and an invalid one ("31 Feb") must not stop the reading.
    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)
    Loader.add_constructor("tag:yaml.org,2002:binary", binary)
    Loader.add_constructor("!binary", binary)
    Loader.add_multi_constructor("!", plain)
    Loader.add_multi_constructor("tag:", plain)
    return Loader
