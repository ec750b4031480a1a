"""Messages name the format and the framing that the input was read as."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.processes import loopcheck

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chat.sse", "chat over sse"),
        ("chat-lines.ndjson", "chat over ndjson"),
        ("chat-whole.json", "chat over json"),
        ("vercel-lines.txt", "vercel over ndjson"),
        ("gemini-array.json", "gemini over json"),
    ],
)
def test_the_summary_names_the_format_and_its_framing(name: str, kind: str) -> None:
    done = loopcheck("-v", FIXTURES / "streams" / name)
    assert f"{name}: done ({kind}): " in done.stderr.splitlines()[-1]


def test_of_plain_text_a_verdict_names_no_format() -> None:
    loop = "round and round, " * 60
    assert loopcheck(stdin=loop).stderr.startswith("loopcheck: stopped a loop (period")
    line = json.dumps({"choices": [{"index": 0, "delta": {"content": loop}}]})
    done = loopcheck(stdin=f"data: {line}\n\n")
    assert done.stderr.startswith("loopcheck: stopped a loop in chat over sse (period, letters)")
