"""A provider on 127.0.0.1, as naughty as a test wants it, and commands that ask it."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from processes import PATIENCE

# What answers one request.
Reply = Callable[["Handler"], None]
# A runaway reply ends by itself after this many events, should nobody drop it.
MOST_EVENTS = 20_000


class Handler(BaseHTTPRequestHandler):
    """Answers with the server's replies in turn; the last one stays."""

    server: Provider

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.server.requests.append((self.path, dict(self.headers), self.rfile.read(length)))
        replies = self.server.replies
        try:
            (replies.pop(0) if len(replies) > 1 else replies[0])(self)
        except OSError:
            self.server.dropped += 1

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass

    def begin(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def chunk(self, ident: str, **delta: str) -> None:
        self.document(id=ident, model="m/one", choices=[{"index": 0, "delta": delta}])

    def document(self, **doc: Any) -> None:
        self.wfile.write(f"data: {json.dumps(doc)}\n\n".encode())


class Provider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, replies: Sequence[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = list(replies)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.dropped = 0
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def provider(*replies: Reply) -> Iterator[Provider]:
    server = Provider(replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def loops(ident: str = "gen-loop", text: str = "void 0;\n") -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin(Content_Type="text/event-stream")
        for _ in range(MOST_EVENTS):
            handler.chunk(ident, content=text)

    return reply


def answers(text: str = "All is well.", cost: float | None = None) -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin(Content_Type="text/event-stream")
        for word in text.split(" "):
            handler.chunk("gen-good", content=word + " ")
        usage: dict[str, Any] = {"completion_tokens": 7}
        if cost is not None:
            usage["cost"] = cost
        done = {"index": 0, "delta": {}, "finish_reason": "stop"}
        handler.document(id="gen-good", choices=[done], usage=usage)
        handler.wfile.write(b"data: [DONE]\n\n")

    return reply


def says(status: int, body: str = "", **headers: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin(status, **headers)
        handler.wfile.write(body.encode())

    return reply


def cuts(handler: Handler) -> None:
    handler.begin()
    handler.chunk("gen-cut", content="Once upon a ")


def ends(reason: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin()
        handler.chunk("gen-bad", content="Once ")
        handler.document(id="gen-bad", choices=[{"index": 0, "delta": {}, "finish_reason": reason}])

    return reply


def fails_inside(code: int, message: str = "The provider closed the connection") -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin()
        handler.chunk("gen-bad", content="Once ")
        handler.document(id="gen-bad", error={"code": code, "message": message}, choices=[])

    return reply


def hangs(event: threading.Event) -> Reply:
    """A reply that begins and then says nothing until ``event`` is set."""

    def reply(handler: Handler) -> None:
        handler.begin()
        handler.document(id="gen-slow", provider="Northlake", choices=[])
        handler.chunk("gen-slow", content="Once ")
        handler.wfile.flush()
        event.wait(PATIENCE)

    return reply


_FETCH = """
import shutil, sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as reply:
    sys.stdout.write(f"HTTP/1.1 {reply.status} OK\\r\\n{reply.headers}")
    sys.stdout.flush()
    while data := reply.read1(65536):
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
"""


def ask_command(url: str) -> list[str]:
    """A command that prints the reply with its head: curl where there is one."""
    if shutil.which("curl"):
        return ["curl", "-siN", "-d", "@-", url]
    return [sys.executable, "-c", _FETCH, url]
