"""VCR cassettes: YAML or JSON files of recorded exchanges, in Python, Ruby and Go.

Source: vcrpy (``interactions[].response.body.string``, or ``parsed_body``),
Ruby's VCR (``http_interactions[].response.body``, binary as ``!binary``),
go-vcr 1 and 2 (``interactions[].response.body``), and variants of projects
(xAI's SDK keeps parsed chunks). Rules:

- Requests are never read: a user's text may repeat by design.
- YAML is read with the safe loader and constructors for the binary tags. A value
  with an unknown tag is read without its tag, never as an object.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import Any

from loopcli.recordings import yaml_documents
from loopcli.recordings.base import Defect, Item, within
from loopcli.recordings.formats import bodies, xai
from loopcli.signatures import BOM
from loopcli.status import Status

_LISTS = ("interactions", "http_interactions")
# How a cassette in YAML begins: comments and a document mark may stand first.
_HEAD = re.compile(
    rb"(?:" + BOM + rb")?(?:\s*(?:#[^\n]*|---[^\n]*|(?:version|recorded_with):[^\n]*)\n)*"
    rb"\s*(?:http_)?interactions:"
)


def claims(doc: object) -> bool:
    """Return whether ``doc`` is a cassette."""
    return isinstance(doc, dict) and any(isinstance(doc.get(name), list) for name in _LISTS)


def claims_yaml(head: bytes) -> bool:
    """Return whether a file that begins like this is a cassette in YAML."""
    return _HEAD.match(head) is not None


def replies(doc: dict[str, Any]) -> Iterator[Item]:
    """Yield the replies in the responses."""
    interactions = next(doc[name] for name in _LISTS if isinstance(doc.get(name), list))
    for number, interaction in enumerate(interactions, 1):
        if isinstance(interaction, dict):
            yield from within(_read(interaction), f"interaction {number}")


def _read(interaction: dict[str, Any]) -> Iterator[Item]:
    chunks = xai.chunks(interaction)
    if chunks is not None:
        yield from xai.replies(chunks)
        return
    response = interaction.get("response")
    if not isinstance(response, dict):
        return
    body = response.get("body")
    if isinstance(body, dict) and isinstance(body.get("base64_string"), str):
        try:
            body = binascii.a2b_base64(body["base64_string"])
        except binascii.Error as error:
            yield Defect(f"the body is not valid base64: {error}")
            return
    elif isinstance(body, dict) and "string" in body:
        body = body["string"]
    yield from bodies.replies(body if body is not None else response.get("parsed_body"))


def read_yaml(raw: bytes) -> Iterator[Item]:
    """Yield the replies of a cassette in YAML."""
    try:
        doc = yaml_documents.load(raw)
    except ImportError:
        yield Defect(yaml_documents.NEEDS_YAML, status=Status.TROUBLE)
        return
    except yaml_documents.YamlError as error:
        yield Defect(str(error), error.position)
        return
    if claims(doc):
        yield from replies(doc)
