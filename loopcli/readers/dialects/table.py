"""The table of dialects, and the detection of the dialect of a document.

A filter reads one stream in one dialect, so the others are not even imported. Adding
a dialect takes a file beside this one, a row in ``_DIALECTS`` and the marks by which
``recognise`` knows its documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from loopcli.events import Note
from loopcli.lenient_json import member, string
from loopcli.readers.base import Dialect, Frame
from loopcli.readers.collector import Collector
from loopcli.readers.dialects import more_marks as more
from loopcli.readers.dialects.meaning import has_words, is_ping
from loopcli.readers.dialects.template import load_document
from loopcli.readers.errors import document_of, is_failure, lone_error, report, upstream_error

_DIALECTS = {
    "chat": ("chat", "ChatDialect"),
    "completions": ("chat", "CompletionsDialect"),
    "anthropic": ("anthropic", "AnthropicDialect"),
    "responses": ("responses", "ResponsesDialect"),
    "gemini": ("gemini", "GeminiDialect"),
    "ollama": ("ollama", "OllamaDialect"),
    "llamacpp": ("llamacpp", "LlamaCppDialect"),
    "cohere": ("cohere", "CohereDialect"),
    "vercel": ("vercel", "VercelDialect"),
    "tgi": ("tgi", "TgiDialect"),
    "interactions": ("interactions", "InteractionsDialect"),
    "lmstudio": ("lmstudio", "LmStudioDialect"),
    "dashscope": ("dashscope", "DashScopeDialect"),
    "dify": ("dify", "DifyDialect"),
    "cloudflare": ("cloudflare", "CloudflareDialect"),
    "qianfan": ("qianfan", "QianfanDialect"),
    "sglang": ("sglang", "SglangDialect"),
    "agui": ("agui", "AgUiDialect"),
    "transcript": ("transcript", "TranscriptDialect"),
}
NAMES = tuple(_DIALECTS)

# The types of events, as each family spells them.
_ANTHROPIC = r"message_(start|delta|stop)|content_block_(start|delta|stop)|completion"
_COHERE_2 = (
    r"message-(start|end)|content-(start|delta|end)|tool-plan-delta|tool-call-(start|delta|end)|"
    r"citation-(start|end)"
)
_COHERE_1 = (
    r"stream-(start|end)|(text|citation|search-queries|tool-calls)-generation|search-results|"
    r"tool-calls-chunk"
)
_VERCEL = (
    r"start(-step)?|(text|reasoning)-(start|delta|end)|tool-input-(start|delta|available)|"
    r"finish(-step)?|abort|data-.*"
)


def dialect(name: str) -> Dialect:
    """Return a fresh dialect by its name."""
    module, kind = _DIALECTS[name]
    made: Dialect = getattr(import_module(f"loopcli.readers.dialects.{module}"), kind)()
    return made


def recognise(doc: Any) -> str | None:
    """Return the name of the dialect of a document, or ``None`` if it is unknown.

    >>> recognise({"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": False})
    'ollama'
    """
    if not isinstance(doc, dict):
        return None
    kind = doc.get("type")
    by_type = _by_type(doc, kind) if isinstance(kind, str) else None
    return by_type or more.by_event(doc) or _by_members(doc) or more.by_members(doc)


def _by_type(doc: dict[str, Any], kind: str) -> str | None:
    if re.fullmatch(_ANTHROPIC, kind) or (kind == "message" and doc.get("role") == "assistant"):
        return "anthropic"
    if kind.startswith("response."):
        return "responses"
    if re.fullmatch(_COHERE_2, kind):
        return "cohere"
    if re.fullmatch(_VERCEL, kind):
        return "vercel"
    return None


def _by_members(doc: dict[str, Any]) -> str | None:
    if doc.get("object") == "response":
        return "responses"
    choices = doc.get("choices")
    if isinstance(choices, list):
        first = choices[0] if choices else None
        legacy = doc.get("object") == "text_completion" or (
            isinstance(first, dict) and "text" in first and not {"delta", "message"} & first.keys()
        )
        return "completions" if legacy else "chat"
    if doc.get("object") in ("chat.completion.chunk", "chat.completion"):
        return "chat"
    if "candidates" in doc or "usageMetadata" in doc or "promptFeedback" in doc:
        return "gemini"
    if isinstance(doc.get("done"), bool) and ("message" in doc or "response" in doc):
        return "ollama"
    if isinstance(doc.get("content"), str) and isinstance(doc.get("stop"), bool):
        return "llamacpp"
    if isinstance(doc.get("completion"), str) and "stop_reason" in doc:
        return "anthropic"
    whole = isinstance(member(doc, "message", "content"), list) or (
        isinstance(doc.get("text"), str) and "generation_id" in doc
    )
    if re.fullmatch(_COHERE_1, string(doc.get("event_type"))) or (whole and "finish_reason" in doc):
        return "cohere"
    return None


class Wanted(NamedTuple):
    """What the user stated about the input; an empty name is to be detected."""

    dialect: str = ""
    framing: str = ""

    def make(self) -> Dialect:
        """Return the dialect, or one that detects it."""
        return dialect(self.dialect) if self.dialect else AutoDialect()


class AutoDialect:
    """Detects the dialect from the documents, until one of them has brought words.

    The first document of a known dialect decides. A gateway may send one in another
    dialect before the reply begins, so a later document of a known dialect decides again,
    as long as nothing has been read. Pings and the like belong to no dialect. Errors that
    come before are reported here; other documents that come before are skipped.
    """

    def __init__(self) -> None:
        self._chosen: Dialect | None = None
        self._settled = False
        # Those of the chosen dialect, once it is settled.
        self.take: Callable[[Iterable[Frame], Collector], None] = self._detect
        self.loads: Callable[[bytes], Any] = load_document
        self._trouble = False
        self._strange: tuple[str, int, int] | None = None
        self._docs = 0
        # The members of the first document with words of which nothing was read.
        self._unread = ""

    @property
    def name(self) -> str:
        """The name of the dialect, once known."""
        if self._chosen is not None:
            return self._chosen.name
        return "error" if self._trouble else "unknown"

    def _detect(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add the events of the documents; ``take`` until the dialect is settled."""
        rest = iter(frames)
        self._try(rest, out)
        if self._settled and self._chosen is not None:
            self.take, self.loads = self._chosen.take, self._chosen.loads
            self.take(rest, out)

    def _try(self, frames: Iterator[Frame], out: Collector) -> None:
        """Take frames until one brings words."""
        for frame in frames:
            doc, name = frame[0], frame[3]
            speaks = "vercel" if name.startswith("line ") else recognise(doc)
            if speaks and (self._chosen is None or self._chosen.name != speaks):
                self._chosen = dialect(speaks)
            if self._chosen is None:
                self._skip(frame, out)
            else:
                self._chosen.take((frame,), out)
                self._settled = out.has_text
                if not self._settled and not self._unread and has_words(doc):
                    self._unread = _members(doc)
            if self._settled or out.stopped:
                return

    def _skip(self, frame: Frame, out: Collector) -> None:
        """Report what a document of no known dialect reports."""
        doc, end, line, name, raw = frame
        self._docs += 1
        error = upstream_error(doc, name, line, end) if isinstance(doc, dict) else None
        if error is None and self._docs == 1:
            error = lone_error(doc, line, end)
        message = doc is None and (name == "error" or is_failure(raw))
        self._trouble = self._trouble or error is not None or message
        if error is not None:
            report(error, out)
        elif document_of(frame, out) and not is_ping(doc) and self._strange is None:
            self._strange = _members(doc), line, end

    def close(self, out: Collector) -> None:
        """Add what only the end of the input makes certain."""
        if self._chosen is not None:
            self._chosen.close(out)
            if self._unread and not self._settled:
                message = f"nothing could be judged: the {self.name} documents have no known text"
                out.add_event(Note(f"{message}; they have the members {self._unread}"))
        elif self._strange is not None and not self._trouble:
            members, line, end = self._strange
            message = f"an unknown format: its documents have the members {members}"
            out.add_problem(message, line, end)


def _members(doc: dict[str, Any]) -> str:
    return ", ".join(list(doc)[:5])
