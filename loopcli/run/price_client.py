"""The HTTP client of the price look-up.

The standard library's client is enough for a few small GET requests in turn. The
key is sent in one header and nowhere else: redirects are not followed, and errors
of the HTTP layer, which may quote a header, are not printed.

The library bounds each read and not the whole answer, and a name look-up not at all,
so that a server that sends a byte now and then could keep us for ever. A request runs
in a thread of its own, and is left to itself when its time is over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from http.client import HTTPException
from threading import Thread
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

    ``wait`` waits until a descriptor can be read or so many seconds have passed. Raises
    ``ConfigError`` if the address or the key cannot be used.
    """

    def __init__(
        self,
        url: str,
        variable: str,
        wait: Callable[[int, float], None],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
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
        self._wait = wait
        self._opener = OpenerDirector()
        for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), _NoRedirects()):
            self._opener.add_handler(handler)

    def fetch(self, generation_id: str, seconds: float) -> tuple[int, bytes]:
        """Look up one reply; return the HTTP status and the body.

        The status is 0 if there was no answer within ``seconds``.
        """
        answers: list[tuple[int, bytes]] = []
        ours, theirs = os.pipe()

        def ask() -> None:
            try:
                answers.append(self._ask(generation_id))
            finally:
                os.close(theirs)  # wakes the wait below

        Thread(target=ask, daemon=True).start()
        try:
            self._wait(ours, min(seconds, _REQUEST_SECONDS))
        finally:
            os.close(ours)
        return answers[0] if answers else (0, b"")

    def _ask(self, generation_id: str) -> tuple[int, bytes]:
        request = Request(self._url + quote(generation_id, safe=""))
        request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        request.add_unredirected_header("Accept", "application/json")
        try:
            with self._opener.open(request, timeout=_REQUEST_SECONDS) as response:
                return response.status, response.read(_MAX_BODY)
        except (OSError, ValueError, HTTPException):
            return 0, b""
