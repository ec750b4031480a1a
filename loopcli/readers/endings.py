"""The words in which providers end a reply, and in which they fail."""

from __future__ import annotations

# What providers call the same few things, in small letters.
CAPPED = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "limit", "incomplete"),
        *("model_length", "model_context_window_exceeded", "error_limit"),
    }
)


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


FAILED = frozenset(
    {
        *("error", "failed", "cancelled", "abort", "aborted", "network_error"),
        *("insufficient_system_resource", "malformed_function_call", "unexpected_tool_call"),
    }
)


# Providers that report an error inside the stream often name it only; each
# name stands for the HTTP status it has elsewhere.
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
    """Return the HTTP status that a provider's word for a failure stands for; 0 if for none."""
    code = code.lower()
    if code.isascii() and code.isdigit() and len(code) == 3:
        return int(code)
    return _NAMED_STATUS.get(code, 0)
