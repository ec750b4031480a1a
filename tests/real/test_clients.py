"""The official clients of four APIs, each behind ``loopcheck --trip-event``.

A server on 127.0.0.1 sends a looping reply through the filter. Each client must raise its own
error: one that took the cut reply for a good one would hide the loop from its user. The
clients are no dependency of the project; this needs

    pip install openai anthropic google-genai ollama

and skips each client that is missing. Seen to hold with openai 3.57, anthropic 2.15,
google-genai 3.6 and ollama 0.6.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from processes import PATIENCE, environ
from servers import Handler, provider

from fixtures.texts import Dice
from fixtures.wires import FORMATS, Reply

LOOP, GOOD = "void 0;\n" * 200, "All is well. "
SENTENCE = "loopcheck stopped the model's reply"
ASK: Any = [{"role": "user", "content": "Write a game."}]
KEY = "none"


def through_loopcheck(name: str, content: str) -> bytes:
    """A reply in a format, as the filter passes it on."""
    data = FORMATS[name].write(Reply(content=content), partial(Dice(8).cut, widest=40))
    done = subprocess.run(
        [sys.executable, "-m", "loopcli", "--trip-event"],
        input=data.encode(),
        capture_output=True,
        env=environ(),
        timeout=PATIENCE,
    )
    assert done.returncode == (3 if content == LOOP else 0)
    return done.stdout


@contextmanager
def served(name: str, content: str = LOOP) -> Iterator[str]:
    """The address of a server that answers with a reply through the filter."""
    body = through_loopcheck(name, content)
    kind = "application/x-ndjson" if name.startswith("ollama") else "text/event-stream"

    def answer(handler: Handler) -> None:
        handler.begin(Content_Type=kind)
        handler.wfile.write(body)

    with provider(answer) as server:
        yield server.url.rstrip("/")


async def drained(items: AsyncIterator[Any]) -> None:
    async for _ in items:
        pass


# OpenAI


def openai(url: str) -> Any:
    client = pytest.importorskip("openai", reason="the client openai is not installed")
    return client.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)


def chat(client: Any) -> Any:
    return client.chat.completions.create(model="m", messages=ASK, stream=True)


def completions(client: Any) -> Any:
    return client.completions.create(model="m", prompt="Go.", stream=True)


def responses(client: Any) -> Any:
    return client.responses.create(model="m", input="Go.", stream=True)


OPENAI = {"chat": chat, "completions": completions, "responses": responses, "llamacpp": chat}


@pytest.mark.parametrize("name", OPENAI)
def test_openai_raises_its_error(name: str) -> None:
    with served(name) as url:
        client = openai(url)
        from openai import APIError  # type: ignore[import-not-found,unused-ignore]

        events: list[Any] = []
        with pytest.raises(APIError, match=SENTENCE) as raised:
            events.extend(OPENAI[name](client))
    assert len(events) > 1
    assert raised.value.code == "model_response_loop"


@pytest.mark.parametrize("name", OPENAI)
def test_openai_takes_a_clean_reply(name: str) -> None:
    with served(name, GOOD) as url:
        assert list(OPENAI[name](openai(url)))


def test_openai_raises_in_its_helpers() -> None:
    with served("chat") as url:
        client = openai(url)
        from openai import APIError  # type: ignore[import-not-found,unused-ignore]

        with (
            pytest.raises(APIError, match=SENTENCE),
            client.chat.completions.stream(model="m", messages=ASK) as stream,
        ):
            stream.get_final_completion()


def test_openai_raises_in_async_code() -> None:
    module = pytest.importorskip("openai", reason="the client openai is not installed")

    async def ask(url: str) -> None:
        client = module.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
        stream = await client.chat.completions.create(model="m", messages=ASK, stream=True)
        await drained(stream)

    with served("chat") as url, pytest.raises(module.APIError, match=SENTENCE):
        asyncio.run(ask(url))


# Anthropic


def anthropic(url: str) -> Any:
    client = pytest.importorskip("anthropic", reason="the client anthropic is not installed")
    return client.Anthropic(base_url=url, api_key=KEY, max_retries=0)


def messages(client: Any) -> Any:
    return client.messages.create(model="m", max_tokens=9, messages=ASK, stream=True)


def test_anthropic_raises_its_error() -> None:
    with served("anthropic") as url:
        client = anthropic(url)
        from anthropic import APIStatusError  # type: ignore[import-not-found,unused-ignore]

        events: list[Any] = []
        with pytest.raises(APIStatusError, match=SENTENCE):
            events.extend(messages(client))
    assert len(events) > 1


def test_anthropic_raises_in_its_helper() -> None:
    with served("anthropic") as url:
        client = anthropic(url)
        from anthropic import APIStatusError  # type: ignore[import-not-found,unused-ignore]

        asked = client.messages.stream(model="m", max_tokens=9, messages=ASK)
        with pytest.raises(APIStatusError, match=SENTENCE), asked as stream:
            stream.get_final_message()


def test_anthropic_takes_a_clean_reply() -> None:
    with served("anthropic", GOOD) as url:
        assert list(messages(anthropic(url)))


# Google


def google(url: str) -> Any:
    genai = pytest.importorskip("google.genai", reason="the client google-genai is not installed")
    return genai.Client(api_key=KEY, http_options={"base_url": url})


def generated(client: Any) -> Any:
    return client.models.generate_content_stream(model="m", contents="Go.")


def test_google_raises_its_error() -> None:
    with served("gemini") as url:
        client = google(url)
        from google.genai.errors import (  # type: ignore[import-not-found,unused-ignore]
            APIError,
        )

        events: list[Any] = []
        with pytest.raises(APIError, match=SENTENCE) as raised:
            events.extend(generated(client))
    assert len(events) > 1
    assert raised.value.code == 500


def test_google_takes_a_clean_reply() -> None:
    with served("gemini", GOOD) as url:
        assert list(generated(google(url)))


# Ollama


def ollama(url: str) -> Any:
    client = pytest.importorskip("ollama", reason="the client ollama is not installed")
    return client.Client(host=url)


def ollama_chat(client: Any) -> Any:
    return client.chat(model="m", messages=ASK, stream=True)


def ollama_generate(client: Any) -> Any:
    return client.generate(model="m", prompt="Go.", stream=True)


OLLAMA = {"ollama": ollama_chat, "ollama-generate": ollama_generate}


@pytest.mark.parametrize("name", OLLAMA)
def test_ollama_raises_its_error(name: str) -> None:
    with served(name) as url:
        client = ollama(url)
        from ollama import ResponseError  # type: ignore[import-not-found,unused-ignore]

        events: list[Any] = []
        with pytest.raises(ResponseError, match=SENTENCE):
            events.extend(OLLAMA[name](client))
    assert len(events) > 1


@pytest.mark.parametrize("name", OLLAMA)
def test_ollama_takes_a_clean_reply(name: str) -> None:
    with served(name, GOOD) as url:
        assert list(OLLAMA[name](ollama(url)))
