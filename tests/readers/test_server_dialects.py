"""The servers' own dialects: whole answers, errors, and text that looks like one of them."""

from __future__ import annotations

import pytest
from reading import hear

from fixtures.wires import compact, events
from loopcli.events import Lane

WHOLE: list[tuple[str, dict[str, object]]] = [
    ("tgi", {"generated_text": "Hi.", "details": {"finish_reason": "length"}}),
    (
        "interactions",
        {
            "object": "interaction",
            "status": "completed",
            "steps": [{"type": "model_output", "content": [{"type": "text", "text": "Hi."}]}],
        },
    ),
    (
        "lmstudio",
        {"model_instance_id": "m", "output": [{"type": "message", "content": "Hi."}], "stats": {}},
    ),
    ("dashscope", {"output": {"text": "Hi.", "finish_reason": "stop"}, "request_id": "r"}),
    (
        "dify",
        {"event": "message", "task_id": "t", "mode": "chat", "answer": "Hi.", "metadata": {}},
    ),
    ("cloudflare", {"result": {"response": "Hi."}, "success": True, "errors": []}),
    ("qianfan", {"id": "a", "result": "Hi.", "is_truncated": False, "need_clear_history": False}),
    ("sglang", {"text": "Hi.", "meta_info": {"id": "a", "finish_reason": {"type": "stop"}}}),
    ("transcript", {"text": "Hi.", "usage": {"type": "duration", "seconds": 2}}),
]


@pytest.mark.parametrize(("name", "document"), WHOLE)
def test_a_whole_answer_is_read(name: str, document: dict[str, object]) -> None:
    found = hear(compact(document).encode())
    assert (found.format, found.said("content"), found.problems) == (name, ["Hi."], [])


@pytest.mark.parametrize(
    "document",
    [
        {"event": "error", "task_id": "t", "code": "quota", "message": "no quota"},
        {"type": "RUN_ERROR", "message": "no quota"},
        {"error_code": 17, "error_msg": "no quota"},
        {"result": {"response": ""}, "success": False, "errors": [{"message": "no quota"}]},
    ],
)
def test_an_error_is_the_servers(document: dict[str, object]) -> None:
    found = hear(events([document]).encode())
    assert (found.errors, found.problems) == (["no quota"], [])


@pytest.mark.parametrize("text", ['{"response": "yes"}', '{"text": "a", "score": 2}\n'])
def test_json_that_a_model_wrote_is_text(text: str) -> None:
    assert hear(text.encode()).lanes == {Lane(): text}


def test_pieces_of_sglang_are_no_whole_texts() -> None:
    pieces = [{"text": piece, "meta_info": {"id": "a"}} for piece in ("One ", "two ", "three")]
    assert hear(events(pieces).encode()).said("content") == ["One two three"]
