"""What a stream is, told by its first bytes: heads, error bodies, text that looks like a stream."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import Heard, hear

from fixtures.wires import FORMATS, Reply
from loopcli.events import HttpHead, Lane, UpstreamError
from loopcli.readers.detection.auto import guess, reader, surely_text

LOOP = "void 0;\n" * 2500
CHAT = FORMATS["chat"].write(Reply("Hello there."), lambda text: [text] if text else []).encode()
OLLAMA = FORMATS["ollama"].write(Reply("Hello there."), lambda text: [text] if text else [])


def heard(data: bytes) -> Heard:
    """Read whole, byte by byte and in pieces: always the same."""
    found = hear(data)
    assert hear(data, [1] * len(data)) == found
    assert hear(data, [97] * len(data)) == found
    return found


# --- curl -i -------------------------------------------------------------------------------------

HEADS = [
    b"HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n",
    b'HTTP/1.1 200 OK\r\nX-Note: data: {"error": 1}\r\nServer: x\r\n\r\n',
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n",
    b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 200 \r\na: b\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n",
    b"HTTP/1.1 401 No\r\nWWW-Authenticate: Digest\r\n\r\nHTTP/1.1 200 OK\n\n",
    b"HTTP/1.0 200\nA: b\n folded: more\n\n",
]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("body", [CHAT, OLLAMA.encode(), b"Plain words.\n"])
def test_heads_are_skipped(head: bytes, body: bytes) -> None:
    found, alone = heard(head + body), heard(body)
    assert (found.lanes, found.format) == (alone.lanes, alone.format)
    assert found.ends == {k: [e + len(head) for e in ends] for k, ends in alone.ends.items()}


@pytest.mark.parametrize(
    "text",
    [
        b"HTTP/1.1 404 Not Found is a status line.\n",
        b"HTTP/1.1 500 Oops\n\nis what a server says when it fails.\n",
        b"HTTP/1.1 200 OK\nis what it says else.\n",
    ],
)
def test_a_sentence_about_http_is_no_head(text: bytes) -> None:
    found = heard(text)
    assert found.format == "text"
    assert found.lanes == {Lane(): text.decode()}


@pytest.mark.parametrize("body", [b"", b"\r\n", b": ping\n\n", b":\n\n: k\n\n"])
def test_events_that_were_announced_and_never_came(body: bytes) -> None:
    found = heard(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body)
    assert (found.lanes, found.framing) == ({}, "sse")
    if body.strip():
        assert heard(body).framing == "sse"


@pytest.mark.parametrize("text", [b":)\n\n", b":)", b": k", b"::\n\n", b": a\n\nb"])
def test_a_colon_is_no_comment_of_a_server(text: bytes) -> None:
    assert heard(text).format == "text"


@pytest.mark.parametrize(
    ("head", "status", "after"),
    [
        ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 200, ""),
        ("HTTP/2 429 \r\nRetry-After:  45 \r\nA: b\r\n\r\n", 429, "45"),
        ("HTTP/1.1 503 No\nretry-after: Fri, 31 Dec 1999 23:59:59 GMT\n\n", 503,
         "Fri, 31 Dec 1999 23:59:59 GMT"),
        # Only the last head counts, and only its own headers.
        ("HTTP/1.1 503 No\r\nRetry-After: 9\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 200, ""),
        ("HTTP/1.1 200 OK\r\nX-Retry-After: 9\r\nX: Retry-After: 9\r\n\r\n", 200, ""),
    ],
)  # fmt: skip
def test_the_last_head_is_told_once(head: str, status: int, after: str) -> None:
    told = heard(head.encode() + CHAT).of(HttpHead)
    assert told == [HttpHead(status, after, len(head))]


def test_a_head_without_a_body_is_told_at_the_end() -> None:
    head = b"HTTP/1.1 503 No\r\nRetry-After: 9\r\nServer"
    assert heard(head).of(HttpHead) == [HttpHead(503, "9", len(head))]
    assert heard(b"HTTP/1.1 is a protocol.\n").of(HttpHead) == []


def test_lines_are_counted_from_the_first_head() -> None:
    (problem,) = heard(HEADS[0] + CHAT[: CHAT.index(b"\n\n") + 2] + b"data: {no\n\n").others[-1:]
    assert problem.line == 6


BODIES = [
    (b'{"error":{"message":"no key","code":401}}', "no key"),
    (b'{\n  "error": {\n    "message": "no key"\n  }\n}\n', "no key"),
    (b'[{"error":{"message":"no key"}}]', "no key"),
    (b'{"type":"error","error":{"type":"x","message":"no key"}}', "no key"),
    (b'{"detail":"no key"}', "no key"),
    (b'{"detail":[{"loc":["body"],"msg":"no key"}]}', "no key"),
    (b'{"message":"no key","request_id":"a"}', "no key"),
    (b'event:error\ndata:{"code":"InvalidApiKey","message":"no key"}\n\n', "no key"),
    (b"<html><head><title>502 Bad Gateway</title></head><body>x</body></html>", "502 Bad Gateway"),
    (b"<html><body><h1>Too  many\nrequests</h1></body></html>", "Too many requests"),
    (b"upstream connect error", "upstream connect error"),
    (b"", "no message"),
]


@pytest.mark.parametrize(("body", "message"), BODIES)
@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_a_bad_status_is_an_error_with_the_providers_message(
    body: bytes, message: str, status: int
) -> None:
    head = f"HTTP/1.1 {status} No\r\nServer: x\r\n\r\n".encode()
    found = heard(head + body)
    (error,) = found.of(UpstreamError)
    assert (error.message, error.code) == (message, str(status))
    assert (found.lanes, found.format) == ({}, "error")


def test_a_bad_status_is_told_of_a_loop_too() -> None:
    """The status is looked at before any chunk is judged."""
    body = FORMATS["chat"].write(Reply(LOOP), lambda text: [text] if text else [])
    found = heard(b"HTTP/1.1 500 No\r\n\r\n" + body.encode())
    assert (found.lanes, len(found.errors)) == ({}, 1)


def test_a_redirect_says_how_to_follow_it() -> None:
    found = heard(b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n<html><title>Found</title></html>")
    assert found.errors == ["Found (curl follows redirects with -L)"]


def test_a_head_that_is_cut_short() -> None:
    assert heard(b"HTTP/1.1 503 Service Unavailable\r\nServ").errors == ["no message"]


@pytest.mark.parametrize(
    "text",
    [
        "HTTP/2 200 means that all went well.\nMore of it.\n",
        "HTTP/1.1 404 Not Found\nis what a server says\n\nwhen there is nothing.",
        "HTTP/1.1 is a protocol.\n",
        "HTTP",
    ],
)
def test_words_about_http_are_words(text: str) -> None:
    assert heard(text.encode()).lanes == {Lane(): text}


# --- Bodies without a head -----------------------------------------------------------------------


@pytest.mark.parametrize(("body", "message"), [b for b in BODIES[:7] if b[0]])
def test_a_json_error_alone(body: bytes, message: str) -> None:
    found = heard(body)
    assert (found.errors, found.lanes, found.format) == ([message], {}, "error")


def test_error_pages_and_pages_that_a_model_wrote() -> None:
    assert heard(BODIES[8][0]).errors == ["502 Bad Gateway"]
    assert heard(b"<!DOCTYPE html>\n<html><title>Just a moment...</title>").format == "error"
    page = "<!DOCTYPE html>\n<html><head><title>My garden</title></head><body>" + LOOP
    assert heard(page.encode()).lanes == {Lane(): page}
    bare = "<html><body>" + "<p>roses and tulips</p>" * 400
    assert heard(bare.encode()).lanes == {Lane(): bare}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(CHAT), "--compressed"),
        (b"\x28\xb5\x2f\xfd\x04\x00abc", "--compressed"),
        (HEADS[0] + gzip.compress(CHAT), "--compressed"),
        (b"1a3\r\n" + CHAT, "--raw"),
        (HEADS[1] + b"b48\r\n" + OLLAMA.encode(), "--raw"),
        (b"httprr trace v1\n337 3020\n", "not a stream"),
        (b"interactions:\n- request:\n    body: x\n", "not a stream"),
        (b"---\nhttp_interactions:\n- request:\n    method: post\n", "not a stream"),
        (b"version: 1\ninteractions:\n- id: 0\n", "not a stream"),
        (json.dumps({"log": {"version": "1.2", "entries": []}}, indent=2).encode(), "not a stream"),
        (b'{"log": {"version": "1.2", "entries": [' + b'{"a": 1},' * 20_000, "not a stream"),
        (b'[{"scope":"https://a","method":"POST","path":"/b"}]', "not a stream"),
        (b"\x00\x00\x00\x8f\x00\x00\x00R1234\x0b:event-type\x07\x00", "not a stream"),
        (b'{"messageStart":{"role":"assistant"}}\n', "unknown format"),
        (b'data: {"this": [1]}\n\n', "unknown format"),
    ],
)
def test_what_is_no_stream_is_named(data: bytes, message: str) -> None:
    found = heard(data)
    (problem,) = found.problems
    assert message in problem
    assert found.lanes == {}


# --- Text that begins like something else --------------------------------------------------------


@pytest.mark.parametrize(
    "opening",
    [
        *(
            '{"name": "x", "items": [',
            "{ not json",
            "{",
            "{}\n",
            '{"a": 1}\n',
            "[1, 2]\n",
            "[Note] ",
            "[",
        ),
        *(
            '[{"a": 1}, ',
            '{\n  "title": "x",\n  "text": "',
            '{"message": "hello"}\n',
            '{"id": 1}\n',
        ),
        *("data", "data: the new oil.\n", "data:\n  - x\n", "database ", "data: a b\nmore\n"),
        *(
            "event: a party\nat night\n",
            "id: 5\nname: x\n",
            ": a smiley\n",
            "error: none\n",
            "retry: x\ny\n",
        ),
        *(
            "0:00 he woke.\n",
            '0:"quoted" he said\n',
            "g:{",
            "add\n",
            "face\r\n{x",
            "---\ntitle: x\n",
        ),
        *(
            "version: 1\nname: x\n",
            "interactions: many\n",
            "<p>",
            "<html",
            "\n\n  {x}\n",
            " data: {}\n",
        ),
    ],
)
def test_it_is_text(opening: str) -> None:
    for text in (opening, opening + LOOP, opening + "void 0; " * 9_000):
        found = heard(text.encode())
        assert (found.format, found.lanes) == ("text", {Lane(): text})


def test_text_in_doubt_is_judged_before_long() -> None:
    """What is held back is capped, so a loop in it is found while it runs."""
    for opening in (b'{"text": "', b": ", b"data: words ", b"[{", b'0:"'):
        reading = reader("auto")
        events = reading.feed(opening + b"void 0; " * 9000)
        assert events, opening


def test_an_answer_in_one_long_line() -> None:
    for name in (
        "chat-whole",
        "anthropic-whole",
        "gemini-whole",
        "responses-whole",
        "ollama-whole",
    ):
        body = FORMATS[name].write(Reply("word " * 40_000), lambda text: [text] if text else [])
        line = json.dumps(json.loads(body))
        found = heard(line.encode())
        assert (found.said("content"), found.format) == (["word " * 40_000], FORMATS[name].name)
        assert heard(line.encode()[:-5]).said("content") == []


def test_unusual_openings_of_streams() -> None:
    for lead in (b"\xef\xbb\xbf", b"\n\n", b": hi\n\n", b"retry: 5\nid: 1\n", b"data: : ping\n\n"):
        assert heard(lead + CHAT).said("content") == ["Hello there."]
    for lead in ("\ufeff", "\n", "  "):
        assert heard((lead + OLLAMA).encode()).said("content") == ["Hello there."]


@pytest.mark.parametrize("name", ["chat", "gemini", "cohere"])
def test_a_forced_dialect_refuses_text(name: str) -> None:
    (problem,) = hear(b"Once upon a time.\n", name=name).problems
    assert name in problem


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "data:",
                    "data",
                    ":",
                    " ",
                    "\n",
                    "\r",
                    "\r\n",
                    "{",
                    "}",
                    "[",
                    '"',
                    "a",
                    "ab c",
                    "event: x",
                ),
                *("HTTP/1.1 200 OK", "HTTP/2 404 ", "X: y", "<html>", "<title>", "500", "</title>"),
                *(
                    "0:",
                    "error: {",
                    "---",
                    "version: 1",
                    "interactions:",
                    "- id: 1",
                    "1f",
                    "\x1f\x8b",
                ),
            ]
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, 9), max_size=30),
)
def test_an_answer_never_changes(pieces: list[str], sizes: list[int]) -> None:
    data = "".join(pieces).encode("latin-1")
    assert hear(data, sizes) == hear(data)
    answers = [guess(data[:size]) for size in range(len(data) + 1)]
    known = [answer for answer in answers if answer is not None]
    assert known == known[:1] * len(known)
    assert answers[len(answers) - len(known) :] == known


STARTS = [
    b"data: ",
    b"HTTP/1.1 ",
    b"{",
    b"0:",
    b"<!doct",
    b"interactions:\n",
    b"a",
    b"Once ",
    b"\n",
]
STARTS += [b": ", b"1f\r\n", b"\x1f\x8b", b"- id: 7\n", b"\xef\xbb\xbf", b"version: 1\n", b'"']


@settings(max_examples=500)
@given(parts=st.lists(st.sampled_from(STARTS) | st.binary(max_size=6), max_size=6))
def test_what_is_surely_text_is_read_as_text(parts: list[bytes]) -> None:
    head = b"".join(parts)
    if surely_text(head):
        auto = reader("auto")
        auto.feed(head + b"data: {}\n\n")
        assert auto.name == "text"
