"""A real curl and a server that never stops: the trip must reach the server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from processes import PATIENCE

pytestmark = pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("bash")), reason="needs curl and bash"
)


class Endless(BaseHTTPRequestHandler):
    """Streams one looping reply for ever, and notes when its client has gone."""

    hung_up = threading.Event()
    gave_up = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        choice = {"index": 0, "delta": {"content": "void 0;\n"}, "finish_reason": None}
        event = f"data: {json.dumps({'id': 'gen-1', 'choices': [choice]})}\n\n".encode()
        end = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                self.wfile.write(event * 10)
                time.sleep(0.0005)
        except (BrokenPipeError, ConnectionResetError):
            self.hung_up.set()
        else:
            self.gave_up.set()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Endless.hung_up.clear()
    Endless.gave_up.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_loop_ends_curl_and_the_request(url: str) -> None:
    script = (
        'curl -sN --noproxy "*" "$1" | "$2" -m loopcli --rules saturation >"$3"; '
        'echo "${PIPESTATUS[@]}"'
    )
    command = ["bash", "-c", script, "bash", url, sys.executable, "/dev/null"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    # 23 is curl's word for "could not write": its reader had gone.
    assert result.stdout == "23 3\n"
    sentence = "2 words repeated across 3000 consecutive words, 3065 words into the reply"
    assert sentence in result.stderr
    assert Endless.hung_up.wait(PATIENCE)
    assert not Endless.gave_up.is_set()
