"""``--format markdown``: the tables and lines of ``--format table``, for a page."""

from __future__ import annotations

from loopcli.output.formats.text_table import table_format

FORMAT = table_format(markdown=True)
