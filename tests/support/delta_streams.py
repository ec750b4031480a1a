"""Every wire format as a stream of small deltas, and the least program that reads it.

The *bare loop* is the yardstick of the filter's cost: it splits the bytes into lines,
parses each document with orjson and looks at one field. Nothing that reads a stream in
Python can do less.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

# The bare loop; `{field}` is where a document keeps its text. It copies its input if an
# argument is given, as the filter does.
BARE_LOOP = """
import os, sys, orjson
copy, rest, chars = len(sys.argv) > 1, b"", 0
while data := os.read(0, 65536):
    *lines, rest = (rest + data).split(b"\\n")
    for line in lines:
        if line.startswith({prefix!r}):
            doc = orjson.loads(line[{size}:])
            text = {field}
            if text:
                chars += len(text)
    if copy:
        os.write(1, data)
"""


@dataclass(frozen=True)
class Wire:
    """One format: how a delta is written, and where the bare loop finds its text."""

    name: str
    write: Callable[[str, int], bytes]
    field: str
    opening: bytes = b""
    prefix: bytes = b"data: {"

    def events(self, text: str, count: int) -> Iterator[bytes]:
        """Yield events whose deltas have 1 to 8 characters, after the stream's opening."""
        sizes, at = random.Random(7), 0
        if self.opening:
            yield self.opening
        for number in range(count):
            if at >= len(text):
                at = 0
            size = sizes.randint(1, 8)
            yield self.write(text[at : at + size], number)
            at += size

    @property
    def bare_loop(self) -> str:
        """The program of the bare loop."""
        size = len(self.prefix.rstrip(b"{"))
        return BARE_LOOP.format(prefix=self.prefix, size=size, field=self.field)


def _sse(doc: object, name: str = "", end: bytes = b"\n", field: bytes = b"data: ") -> bytes:
    lead = b"event: " + name.encode() + end if name else b""
    return lead + field + orjson.dumps(doc) + end + end


_CHAT = {"object": "chat.completion.chunk", "created": 1700000000, "model": "benchmark"}


def _chunk(delta: dict[str, Any], choice: int = 0, **more: Any) -> dict[str, Any]:
    item = {"index": choice, "delta": delta, "logprobs": None, "finish_reason": None}
    return {"id": "chatcmpl-benchmark", **_CHAT, "choices": [item], **more}


def _chat(text: str, number: int, **how: Any) -> bytes:
    return _sse(_chunk({"content": text}), **how)


def _padded(text: str, number: int) -> bytes:
    return _sse(_chunk({"content": text}, obfuscation="x" * (number * 7 % 16)))


def _commented(text: str, number: int) -> bytes:
    return b": keep-alive\n\n" + _chat(text, number)


def _openrouter_chunk(delta: dict[str, Any]) -> bytes:
    item = {
        "index": 0,
        "delta": {"role": "assistant", **delta},
        "finish_reason": None,
        "native_finish_reason": None,
        "logprobs": None,
    }
    return _sse({"id": "gen-1", "provider": "Somebody", **_CHAT, "choices": [item]})


def _openrouter(text: str, number: int) -> bytes:
    return _openrouter_chunk({"content": text})


def _openrouter_reasoning(text: str, number: int) -> bytes:
    detail = {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}
    return _openrouter_chunk({"content": "", "reasoning": text, "reasoning_details": [detail]})


def _reasoning(text: str, number: int) -> bytes:
    return _sse(_chunk({"reasoning_content": text}))


def _logprobs(text: str, number: int) -> bytes:
    chunk = _chunk({"content": text})
    token = {"token": text, "logprob": -number % 97 / 100, "bytes": list(text.encode())}
    chunk["choices"][0]["logprobs"] = {"content": [{**token, "top_logprobs": []}]}
    return _sse(chunk)


def _tool_arguments(text: str, number: int) -> bytes:
    fragment = orjson.dumps(text)[1:-1].decode()
    call = {"index": 0, "function": {"arguments": fragment}}
    return _sse(_chunk({"tool_calls": [call]}))


def _tool_opening() -> bytes:
    call = {"index": 0, "id": "call_1", "type": "function"}
    call["function"] = {"name": "write", "arguments": '{"text": "'}
    return _sse(_chunk({"role": "assistant", "content": None, "tool_calls": [call]}))


def _choices(text: str, number: int) -> bytes:
    return _sse(_chunk({"content": text}, number % 8))


def _completions(text: str, number: int) -> bytes:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": None}
    return _sse({"id": "cmpl-1", **_CHAT, "object": "text_completion", "choices": [choice]})


def _anthropic(text: str, number: int) -> bytes:
    delta = {"type": "text_delta", "text": text}
    doc = {"type": "content_block_delta", "index": 0, "delta": delta}
    return _sse(doc, "content_block_delta")


def _anthropic_opening() -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "benchmark"}
    message["usage"] = {"input_tokens": 9, "output_tokens": 1}
    block = {"type": "text", "text": ""}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    return _sse({"type": "message_start", "message": message}, "message_start") + _sse(
        start, "content_block_start"
    )


def _gemini(text: str, number: int, end: bytes = b"\r\n") -> bytes:
    content = {"parts": [{"text": text}], "role": "model"}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": number}
    counts["totalTokenCount"] = number + 9
    doc = {
        "candidates": [{"content": content, "index": 0}],
        "usageMetadata": counts,
        "modelVersion": "gemini-benchmark",
        "responseId": "r1",
    }
    return _sse(doc, end=end)


def _responses(text: str, number: int) -> bytes:
    doc = {
        "type": "response.output_text.delta",
        "sequence_number": number + 4,
        "item_id": "msg_1",
        "output_index": 0,
        "content_index": 0,
        "delta": text,
        "logprobs": [],
        "obfuscation": "x" * (number * 7 % 16),
    }
    return _sse(doc, "response.output_text.delta")


def _responses_opening() -> bytes:
    response = {"id": "resp_1", "object": "response", "model": "benchmark", "output": []}
    doc = {"type": "response.created", "sequence_number": 0}
    return _sse({**doc, "response": {**response, "status": "in_progress"}}, "response.created")


def _ollama(text: str, number: int) -> bytes:
    stamp = f"2025-01-01T00:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z"
    message = {"role": "assistant", "content": text}
    doc = {"model": "benchmark", "created_at": stamp, "message": message, "done": False}
    return orjson.dumps(doc) + b"\n"


def _llamacpp(text: str, number: int) -> bytes:
    doc = {"index": 0, "content": text, "tokens": [number], "stop": False, "id_slot": -1}
    return _sse({**doc, "tokens_predicted": number, "tokens_evaluated": 9})


def _cohere(text: str, number: int) -> bytes:
    delta = {"message": {"content": {"text": text}}}
    return _sse({"type": "content-delta", "index": 0, "delta": delta}, "content-delta")


def _vercel(text: str, number: int) -> bytes:
    return _sse({"type": "text-delta", "id": "0", "delta": text})


def _typed(kind: str, key: str, text: str, number: int) -> bytes:
    return _sse({"type": kind, key: text} if kind else {key: text})


def _tgi(text: str, number: int) -> bytes:
    token = {"id": number, "text": text, "logprob": -0.5, "special": False}
    return _sse({"index": number, "token": token, "generated_text": None, "details": None})


def _dify(text: str, number: int) -> bytes:
    ids = {"task_id": "t1", "conversation_id": "c1", "message_id": "m1"}
    return _sse({"event": "message", **ids, "answer": text, "created_at": 1700000000})


def _dashscope(text: str, number: int) -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "null"}
    counts = {"input_tokens": 9, "output_tokens": number}
    return _sse({"output": {"choices": [choice]}, "usage": counts, "request_id": "r1"})


def _interactions(text: str, number: int) -> bytes:
    delta = {"type": "text", "text": text}
    return _sse({"event_type": "step.delta", "index": 0, "delta": delta}, "step.delta")


_CHAT_FIELD = 'doc["choices"][0]["delta"].get("content")'
_GEMINI_FIELD = 'doc["candidates"][0]["content"]["parts"][0].get("text")'
_DASHSCOPE_FIELD = 'doc["output"]["choices"][0]["message"].get("content")'
_ARGUMENTS = 'doc["choices"][0]["delta"]["tool_calls"][0]["function"].get("arguments")'

WIRES = [
    Wire("chat", _chat, _CHAT_FIELD),
    Wire("chat, random pad", _padded, _CHAT_FIELD),
    Wire("chat, CR LF", partial(_chat, end=b"\r\n"), _CHAT_FIELD),
    Wire("chat, data:{", partial(_chat, field=b"data:"), _CHAT_FIELD, prefix=b"data:{"),
    Wire("chat, comments", _commented, _CHAT_FIELD),
    Wire("chat, logprobs", _logprobs, _CHAT_FIELD),
    Wire("chat, 8 choices in turn", _choices, _CHAT_FIELD),
    Wire("chat, tool arguments", _tool_arguments, _ARGUMENTS, _tool_opening()),
    Wire("reasoning_content", _reasoning, 'doc["choices"][0]["delta"].get("reasoning_content")'),
    Wire("OpenRouter", _openrouter, _CHAT_FIELD),
    Wire(
        "OpenRouter, reasoning",
        _openrouter_reasoning,
        'doc["choices"][0]["delta"].get("reasoning")',
    ),
    Wire("completions", _completions, 'doc["choices"][0].get("text")'),
    Wire("Anthropic", _anthropic, 'doc.get("delta", {}).get("text")', _anthropic_opening()),
    Wire("Gemini", _gemini, _GEMINI_FIELD),
    Wire("Gemini, LF", partial(_gemini, end=b"\n"), _GEMINI_FIELD),
    Wire("Responses", _responses, 'doc.get("delta")', _responses_opening()),
    Wire("Ollama", _ollama, 'doc["message"].get("content")', prefix=b"{"),
    Wire("llama.cpp", _llamacpp, 'doc.get("content")'),
    Wire("Cohere", _cohere, 'doc["delta"]["message"]["content"].get("text")'),
    Wire("Vercel", _vercel, 'doc.get("delta")'),
    Wire("TGI", _tgi, 'doc["token"].get("text")'),
    Wire("LM Studio", partial(_typed, "message.delta", "content"), 'doc.get("content")'),
    Wire("Dify", _dify, 'doc.get("answer")'),
    Wire("Cloudflare", partial(_typed, "", "response"), 'doc.get("response")'),
    Wire("DashScope", _dashscope, _DASHSCOPE_FIELD),
    Wire("Interactions", _interactions, 'doc["delta"].get("text")'),
    Wire("AG-UI", partial(_typed, "TEXT_MESSAGE_CONTENT", "delta"), 'doc.get("delta")'),
]
