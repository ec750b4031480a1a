"""Response bodies as recorders keep them: encoded, compressed, parsed, chunked.

Rules of this file:

- The first bytes of a body decide how it is compressed. The headers of a recording
  are often wrong, because the recorder has unpacked the body already.
- Only a known answer of a model's API is judged. Web pages, listings and uploads in
  the same recordings are skipped.
- The APIs below have no stream that the filter reads. Their whole answers are simple
  enough for a list of the places where the text is.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from loopcli.events import Lane
from loopcli.recordings.base import MAX_DOCUMENT_BYTES, Defect, Item, Reply, dump, parse_document
from loopcli.recordings.formats import bedrock, stream
from loopcli.signatures import GZIP, ZSTD

# Where whole answers keep their text: Aleph Alpha, Cohere's generate, watsonx
# and Titan, hosted Mistral, text-generation-inference, hosted Llama, Anthropic's
# text completions.
_PLACES = (
    ("completions", "completion"),
    ("generations", "text"),
    ("results", "generated_text"),
    ("results", "outputText"),
    ("outputs", "text"),
    ("generated_text",),
    ("generation",),
    ("completion",),
)


def replies(body: object) -> Iterator[Item]:
    """Yield the replies in a body that may be bytes, a text, or an already parsed document."""
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    elif isinstance(body, dict | list):
        body = dump(body)
    if not isinstance(body, bytes) or not body:
        return
    unpacked, defect = unpack(body)
    if defect is not None:
        yield defect
    if bedrock.is_event_stream(unpacked):
        yield from bedrock.read(unpacked)
        return
    items = stream.body(unpacked)
    yield from _whole_answer(unpacked) if items is None else items


def unpack(raw: bytes) -> tuple[bytes, Defect | None]:
    """Return ``raw`` unpacked from gzip, as far as it can be, and its defect."""
    if raw.startswith(ZSTD):
        return b"", Defect("the body is compressed with zstd, which is supported for files only")
    if not raw.startswith(GZIP):
        return raw, None
    engine = zlib.decompressobj(wbits=31)
    data, step = bytearray(), 64 * 1024
    try:
        # In steps, so that everything before a damage is kept.
        for at in range(0, len(raw), step):
            data += engine.decompress(raw[at : at + step], MAX_DOCUMENT_BYTES - len(data) + 1)
            if len(data) > MAX_DOCUMENT_BYTES:
                return bytes(data), Defect("the compressed body is too large")
    except zlib.error as error:
        return bytes(data), Defect(f"the compressed body is damaged: {error}")
    return bytes(data), None if engine.eof else Defect("the compressed body is truncated")


def _whole_answer(raw: bytes) -> Iterator[Item]:
    if not raw.lstrip().startswith((b"{", b"[")):
        return
    try:
        doc = parse_document(raw)
    except ValueError:
        return
    for document in doc if isinstance(doc, list) else [doc]:
        for place in _PLACES:
            texts = list(_at(document, place))
            if texts:
                for text in texts:
                    yield Reply([(Lane(), [text])])
                break


def _at(doc: Any, place: tuple[str, ...]) -> Iterator[str]:
    if isinstance(doc, str) and not place:
        yield doc
    elif isinstance(doc, list):
        for item in doc:
            yield from _at(item, place)
    elif isinstance(doc, dict) and place:
        yield from _at(doc.get(place[0]), place[1:])
