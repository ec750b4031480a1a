"""What the dialects share: one loop over the documents of a read.

Theory of operation. Nearly every document of a stream holds one delta and nothing else:
some text for a lane, or a fragment of a tool call's arguments. The loop takes such a
document the short way, and every other one the long way:

- short: ``lone_delta`` looks at a document and names the target and the place of its
  text, or refuses. The loop appends the text to the lane's buffers, which costs no
  call. If the next documents are like this one, the ``Template`` parses only their
  text, and not even ``lone_delta`` is called.
- long: ``read`` understands every document of the provider, whatever it holds.

The two must agree: ``lone_delta`` may accept a document only if ``read`` would add
exactly that text to that target and nothing else. It therefore refuses anything it does
not recognise, and accepts only targets that ``read`` has met before (``_targets``), so
that first texts, new names and limits are always handled the long way. The tests compare
a stream that is read at once with the same stream in pieces and in irregular framing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from loopcli.events import Restart
from loopcli.readers.base import Frame, MetaTracker
from loopcli.readers.calls import Call, Calls
from loopcli.readers.collector import MAX_LANES, Collector
from loopcli.readers.dialects.template import NEVER, Delta, Target, Template, load_document
from loopcli.readers.errors import document_of

# The target of a lone delta, and the object and the key of its text.
LoneDelta = tuple[Target, dict[str, Any], str]


class ProviderDialect:
    """Reads the documents of one provider; a subclass says what one of them means."""

    name: str
    # Members of a document that hold the id, the model and the provider, if it has them.
    meta_members: tuple[str, ...] = ()
    # False if no two documents of this provider are alike.
    templated = True

    def __init__(self) -> None:
        self._meta = MetaTracker(self.meta_members)
        self._calls = Calls()
        self._template = Template()
        self.loads: Callable[[bytes], Any] = self._template.loads
        if not self.templated:  # nothing is ever learned
            self.loads, self._template.wait = load_document, NEVER
        # The targets of lone deltas, by a key of the dialect's own.
        self._targets: dict[Any, Target] = {}

    def take(self, frames: Iterable[Frame], out: Collector) -> None:
        """Add the events of the frames, in their order, up to a problem."""
        template, lone_delta = self._template, self.lone_delta
        current: Target | None = None
        parts: list[str] = []
        ends: list[int] = []
        for frame in frames:
            doc, end, _, name, _ = frame
            if doc.__class__ is Delta:
                target, text = template.target, doc
            else:
                delta = None
                if doc.__class__ is dict and name != "error" and not _reports_error(doc):
                    try:
                        delta = lone_delta(doc, frame, out)
                    except (AttributeError, KeyError, TypeError, ValueError):
                        delta = None  # a document of another shape
                if delta is None or delta[1].get(delta[2]).__class__ is not str:
                    current = None
                    self._read_long_way(frame, out)
                    if out.stopped:
                        return
                    continue
                target, holder, key = delta
                text = holder[key]
                if template.wait:
                    template.wait -= 1
                else:
                    template.learn(doc, holder, key, target)
            if isinstance(target, Call):
                current = None
                self._calls.extend(out, target, text, end)
            elif text:
                if target is not current:
                    current = target
                    parts, ends = out.lane_buffers(target)
                parts.append(text)
                ends.append(end)

    def lone_delta(self, doc: dict[str, Any], frame: Frame, out: Collector) -> LoneDelta | None:
        """Return the place of the text in a document that holds one delta and nothing else.

        ``None``, the errors of a document of another shape and a text that is not a string
        mean: read it the long way. Token counts beside the delta are added to ``out`` here.
        """
        return None

    def _read_long_way(self, frame: Frame, out: Collector) -> None:
        doc = self.document(frame, out)
        if doc is not None:
            self.read(doc, frame, out)

    def document(self, frame: Frame, out: Collector) -> dict[str, Any] | None:
        """Return the document to read; add what is the same in every dialect."""
        return document_of(frame, out)

    def read(self, doc: dict[str, Any], frame: Frame, out: Collector) -> None:
        """Add the events of one document."""
        raise NotImplementedError

    def close(self, out: Collector) -> None:
        """Add what only the end of the input makes certain: the assembled tool calls."""
        self._calls.close(out)

    def restart(self, out: Collector) -> None:
        """Begin a new attempt: discard everything that belongs to the one before."""
        out.restart()
        out.add_event(Restart())
        self._calls.restart()
        self._meta = MetaTracker(self.meta_members)
        self._targets.clear()
        self._template.forget()

    def _know(self, key: Any, target: Target | None) -> None:
        """Let ``lone_delta`` use a target from now on."""
        if target is None or len(self._targets) >= MAX_LANES:
            return
        if self._targets.get(key, target) != target:
            self._template.forget()
        self._targets[key] = target


def _reports_error(doc: dict[str, Any]) -> object:
    return doc.get("error") or doc.get("type") == "error" or doc.get("object") == "error"
