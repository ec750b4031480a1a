"""Every format of ``analyze --format``, by name.

A new format is a file beside this one, which defines ``FORMAT``, and a row here.
"""

from __future__ import annotations

from importlib import import_module

from loopcli.output.formats.base import OutputFormat

# A format is imported when it is asked for.
_MODULES = {
    "table": "text_table",
    "json": "json_document",
    "jsonl": "json_lines",
    "csv": "csv_rows",
    "markdown": "markdown",
}
NAMES = tuple(_MODULES)


def load(name: str) -> OutputFormat:
    """Return a format by its name."""
    chosen: OutputFormat = import_module(f"loopcli.output.formats.{_MODULES[name]}").FORMAT
    return chosen
