"""xAI's gRPC answers, as its SDK's cassettes keep them: parsed chunks.

Source: ``response_stream.chunks_json[].chunk.outputs[].delta`` of recordings.
The outputs of one answer are its steps: reasoning and a call, then the result of a
tool that the *server* ran (role ROLE_TOOL), then the text. The steps of the assistant
together are the reply; a tool's result is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopcli.recordings.base import Item, dump
from loopcli.recordings.formats import stream


def chunks(interaction: dict[str, Any]) -> list[Any] | None:
    """Return the chunks of an interaction; ``None`` if it has none."""
    for name in ("response_stream", "response"):
        held = interaction.get(name)
        if isinstance(held, dict) and isinstance(held.get("chunks_json"), list):
            chunks_json: list[Any] = held["chunks_json"]
            return chunks_json
    return None


def replies(items: list[Any]) -> Iterator[Item]:
    """Yield the reply in the chunks, which are read as chat chunks with other names."""
    lines = []
    for item in items:
        chunk = item.get("chunk") if isinstance(item, dict) else None
        outputs = chunk.get("outputs") if isinstance(chunk, dict) else None
        for output in outputs if isinstance(outputs, list) else ():
            delta = output.get("delta") if isinstance(output, dict) else None
            if isinstance(delta, dict) and delta.get("role") == "ROLE_ASSISTANT":
                choice = {"index": 0, "delta": delta, "finish_reason": output.get("finish_reason")}
                doc = {"object": "chat.completion.chunk", "choices": [choice]}
                lines.append(b"data: " + dump(doc) + b"\n\n")
    yield from stream.body(b"".join(lines)) or ()
