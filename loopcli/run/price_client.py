"""The HTTP client of the price look-up.

The standard library's client is enough for a few small GET requests in turn. The
key is sent in one header and nowhere else: redirects are not followed, and errors
of the HTTP layer, which may quote a header, are not printed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from loopcli.errors import ConfigError

_REQUEST_SECONDS = 10.0
_MAX_BODY = 1024 * 1024
# A key that the server echoes is masked. A shorter one could match ordinary text.
_MASKED_LENGTH = 8
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _NoRedirects(HTTPErrorProcessor):
    """Treats every status as an answer, so that no redirect carries the key elsewhere."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response


def _defect(url: str) -> str:
    """Return why an address cannot be used for look-ups; empty if it can."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "not an address: its host or its port is invalid"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "not an address that begins with http(s)://"
    # Checked on the address as written, because urlsplit() drops line ends and tabs.
    if not (url.isascii() and url.isprintable()) or " " in url:
        return "not an address: it has a blank or another character that must be escaped"
    if port == 0 or "@" in parts.netloc:
        return "not an address: its host or its port is invalid"
    if "#" in url:
        return "not an address for look-ups: the id would follow its #, which is never sent"
    return ""


class Client:
    """Queries the endpoint at ``url`` with the key in the environment variable ``variable``.

    Raises ``ConfigError`` if the address or the key cannot be used.
    """

    def __init__(self, url: str, variable: str, environ: Mapping[str, str] = os.environ) -> None:
        defect = _defect(url)
        if defect:
            raise ConfigError(f"--generation-url: {defect}")
        # Neither the variable's name nor its value is ever printed: people paste
        # keys in place of the name.
        key = environ.get(variable, "") if _VARIABLE.fullmatch(variable) else ""
        if not key:
            raise ConfigError("--price: the variable that --api-key-env names is not set")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigError("--price: no header can hold the key that --api-key-env names")
        self._url = url + ("&" if urlsplit(url).query else "?") + "id="
        self._key = key
        self._opener = OpenerDirector()
        for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), _NoRedirects()):
            self._opener.add_handler(handler)

    def fetch(self, generation_id: str) -> tuple[int, bytes]:
        """Look up one reply; return the HTTP status (0 if there was no answer) and the body."""
        request = Request(self._url + quote(generation_id, safe=""))
        request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        request.add_unredirected_header("Accept", "application/json")
        try:
            with self._opener.open(request, timeout=_REQUEST_SECONDS) as response:
                return response.status, self._masked(response.read(_MAX_BODY))
        except (OSError, ValueError, HTTPException):
            return 0, b""

    def _masked(self, body: bytes) -> bytes:
        """Return a body with the key masked: the provider's record goes into the journal."""
        key = self._key.encode("ascii")
        return body.replace(key, b"***") if len(key) >= _MASKED_LENGTH else body
