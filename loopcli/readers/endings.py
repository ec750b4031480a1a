"""The words that providers use for the end of a reply and for a failure.

The only place for them: a new provider's word is added here. Reasons are compared in
lower case.
"""

from __future__ import annotations

# The reply reached the output limit.
CAPPED = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "limit", "incomplete"),
        *("model_length", "model_context_window_exceeded", "error_limit"),
    }
)

# A content filter ended the reply.
REFUSED = frozenset(
    {
        *("content_filter", "content-filter", "refusal", "safety", "image_safety", "recitation"),
        *("blocklist", "prohibited_content", "spii", "jailbreak", "model_armor", "language"),
        *(
            "sensitive",
            "guardrail_intervened",
            "error_toxic",
            "other",
            "blocked_reason_unspecified",
        ),
    }
)

# The provider failed.
FAILED = frozenset(
    {
        *("error", "failed", "cancelled", "abort", "aborted", "network_error"),
        *("insufficient_system_resource", "malformed_function_call", "unexpected_tool_call"),
    }
)

# The server ended the reply because it detected a repetition: vLLM's finish_reason
# and stop_reason, and the message of Ollama's limit of 30 equal tokens in a row.
REPETITION_REASON = "repetition"
REPETITION_STOP = "repetition_detected"
OLLAMA_ABORT = "token repeat limit reached"

# An error inside a stream often has a name only. Each name stands for the HTTP
# status that the same error has as a response.
_NAMED_STATUS = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "api_error": 500,
    "internal": 500,
    "internal_server_error": 500,
    "server_error": 500,
    "unavailable": 503,
    "insufficient_system_resource": 503,
    "network_error": 503,
    "deadline_exceeded": 504,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def http_status(code: str) -> int:
    """Return the HTTP status that a provider's word for a failure stands for, or 0."""
    code = code.lower()
    if code.isascii() and code.isdigit() and len(code) == 3:
        return int(code)
    return _NAMED_STATUS.get(code, 0)
