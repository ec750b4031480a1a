"""A session file for the benchmarks, and what reads it on either side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import orjson

LINES = """
import sys, orjson
for line in sys.stdin.buffer:
    orjson.loads(line)
"""
READER = """
import sys
from loopcli.sessions.reader import SessionReader
reader, events = SessionReader("claude-code-jsonl"), 0
while data := sys.stdin.buffer.read(64 * 1024):
    events += len(reader.feed(data))
print(events + len(reader.close()))
"""
_PROSE = "The handler reads the level once and keeps it in memory. " * 12
_HEAD = {"isSidechain": False, "userType": "external", "cwd": "/home/dev/p", "version": "2.1"}


def session(size: int) -> bytes:
    """Return a session of Claude Code: a text, a call and a result of some lines a round."""
    records = bytearray()
    for number in count(1):
        for record in _round(number):
            records += orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        if len(records) >= size:
            return bytes(records)
    raise AssertionError


def _round(number: int) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 9, "output_tokens": 9, "cache_read_input_tokens": number}
    reply = {"id": f"m{number}", "role": "assistant", "model": "m", "usage": usage}
    command = f"sed -n {number},{number + 40}p src/handler_{number % 97}.py"
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    text = _PROSE[number % 50 : number % 50 + 200 + number % 300]
    result = "".join(f"{at}: def handler_{number}_{at}(level):\n" for at in range(number % 50))
    given = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
    parent = f"r{number - 1}" if number > 1 else None
    for kind, uuid, message in (
        ("assistant", f"a{number}", {**reply, "content": [{"type": "text", "text": text}]}),
        ("assistant", f"b{number}", {**reply, "content": [use]}),
        ("user", f"r{number}", {"role": "user", "content": [given]}),
    ):
        record = {"parentUuid": parent, **_HEAD, "type": kind, "message": message, "uuid": uuid}
        copy = {"toolUseResult": {"stdout": result, "stderr": ""}} if kind == "user" else {}
        yield {**record, "timestamp": "2030-01-01T00:00:00.000Z", **copy, "sessionId": "s"}
        parent = uuid
