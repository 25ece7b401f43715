"""A server that speaks the OpenAI chat format over real sockets, and misbehaves on request.

The model's name in the request chooses the behaviour (`BEHAVIOURS`). Nothing here sleeps: what stalls
does so until the server is closed.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

GOOD = '{"code": null, "answer": 16, "explanation": "ad - bc"}'


@dataclass
class Fake:
    """The server: what it was asked, and what it does."""

    url: str = ""
    calls: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    replies: dict[str, list[str]] = field(default_factory=dict)
    """Texts of scripted models, one for each call; the last one stays."""


@dataclass
class Exchange:
    """One request being answered."""

    fake: Fake
    name: str
    nth: int
    """How often this model has been asked, this time included."""
    body: dict[str, Any]
    headers: dict[str, str]
    writer: asyncio.StreamWriter

    async def send(self, status: int, body: bytes | str, **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        told = {
            "content-type": "application/json",
            "content-length": str(len(data)),
            "connection": "close",
        }
        told |= {key.replace("_", "-"): value for key, value in headers.items()}
        lines = [f"HTTP/1.1 {status} X", *(f"{k}: {v}" for k, v in told.items()), "", ""]
        self.writer.write("\r\n".join(lines).encode() + data)
        await self.writer.drain()

    async def say(self, content: Any) -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": content}}
        await self.send(200, json.dumps({"id": "x", "choices": [choice]}))


Behaviour = Callable[[Exchange], Awaitable[None]]


def says(*contents: Any) -> Behaviour:
    """Replies with these texts in turn; the last one stays."""

    async def behave(x: Exchange) -> None:
        await x.say(contents[min(x.nth, len(contents)) - 1])

    return behave


def sends(status: int, body: bytes | str, times: int = 10**9, **headers: str) -> Behaviour:
    """Answers with a status, so many times; then well."""

    async def behave(x: Exchange) -> None:
        await (x.send(status, body, **headers) if x.nth <= times else x.say(GOOD))

    return behave


async def stall(x: Exchange) -> None:
    await x.fake.closing.wait()


async def stall_after_headers(x: Exchange) -> None:
    x.writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
    await x.writer.drain()
    await x.fake.closing.wait()


async def drip(x: Exchange) -> None:
    """One byte after the other, for ever: no gap is ever long."""
    x.writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n")
    while not x.fake.closing.is_set():
        x.writer.write(b" ")
        await x.writer.drain()
        await asyncio.sleep(0.01)


async def cut(x: Exchange) -> None:
    x.writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"choices"')
    await x.writer.drain()


async def cut_once(x: Exchange) -> None:
    await (cut(x) if x.nth == 1 else x.say(GOOD))


async def hang_up(x: Exchange) -> None:
    """Closes without a word."""


async def garbage(x: Exchange) -> None:
    x.writer.write(b"\x00\xff not HTTP at all\r\n\r\n")
    await x.writer.drain()


async def echo_key(x: Exchange) -> None:
    said = f"Incorrect API key provided: {x.headers.get('authorization')}"
    await x.send(401, json.dumps({"error": {"message": said}}))


async def echo_key_in_answer(x: Exchange) -> None:
    key = x.headers.get("authorization", "").removeprefix("Bearer ")
    await x.say(json.dumps({"answer": f"the key is {key}", "explanation": key, "code": f"# {key}"}))


async def scripted(x: Exchange) -> None:
    texts = x.fake.replies[x.name]
    await x.say(texts[min(x.nth, len(texts)) - 1])


def _nested(opening: str, inner: str, closing: str) -> str:
    return opening * 10_000 + inner + closing * 10_000


BEHAVIOURS: dict[str, Behaviour] = {
    "good": says(GOOD),
    "stall": stall,
    "stall-after-headers": stall_after_headers,
    "drip": drip,
    "cut": cut,
    "cut-once": cut_once,
    "hang-up": hang_up,
    "garbage": garbage,
    "limited-once": sends(429, "{}", 1, retry_after="0"),
    "limited-far": sends(429, '{"error": {"message": "slow down"}}', retry_after="3600"),
    "limited-date": sends(429, "{}", retry_after="Fri, 31 Dec 2100 23:59:59 GMT"),
    "limited-nonsense": sends(429, "{}", 1, retry_after="soon"),
    "limited": sends(429, '{"error": "quota"}', retry_after="0"),
    "failing": sends(500, "<html>oops</html>"),
    "failing-once": sends(500, "oops", 1),
    "unavailable": sends(503, "", retry_after="0"),
    "unavailable-once": sends(503, "", 1, retry_after="0"),
    "unauthorised": sends(401, '{"error": {"message": "no such key"}}'),
    "elsewhere": sends(302, "", location="http://127.0.0.1:9/steal"),
    "html": sends(200, "<html>hello</html>"),
    "empty": sends(200, ""),
    "no-choices": sends(200, '{"choices": []}'),
    "wrong-envelope": sends(200, '{"choices": [{"message": {"content": {"a": 1}}}]}'),
    "deep-envelope": sends(200, _nested('{"choices":[', "", "]}")),
    "bad-utf8": sends(200, b'{"choices": "\xff\xfe"}'),
    "zipped": sends(200, gzip.compress(b" " * 50_000_000), content_encoding="gzip"),
    "refusal": sends(200, '{"choices":[{"message":{"content":null,"refusal":"I will not"}}]}'),
    "parts": says([{"type": "text", "text": GOOD[:10]}, {"type": "text", "text": GOOD[10:]}]),
    "fenced": says(f"Here you are:\n```json\n{GOOD}\n```\nAnything else?"),
    "thinking": says('<think>{"answer": 3} no</think> {"x": {}} ' + GOOD),
    "invalid-once": says('{"answer": 16', GOOD),
    "invalid": says("the answer is 16"),
    "wrong-schema-once": says('{"answer": 16, "code": 7}', GOOD),
    "wrong-schema": says('{"answer": 16, "code": ["x"]}'),
    "wrong-keys": says('{"result": 16}'),
    "says-nothing": says('{"answer": null, "code": ""}'),
    "rust": says('{"answer": 16, "code": "fn main", "language": "rust"}'),
    "huge": sends(200, b'{"choices": "' + b"x" * 10_000_000 + b'"}'),
    "huge-answer": says(json.dumps({"answer": "x" * 1_500_000})),
    "nan": says('{"answer": NaN}'),
    "infinite": says('{"answer": 1e999}'),
    "huge-integer": says('{"answer": ' + "9" * 100_000 + "}"),
    "big-integer": says('{"answer": ' + "9" * 4_200 + "}"),
    "deep": says('{"answer": ' + _nested("[", "", "]") + "}"),
    "deep-objects": says(_nested('{"answer": ', "1", "}")),
    "deep-text": says("[" * 1_000_000),
    "braces": says("{" * 1_000_000),
    "surrogate": says('{"answer": "\\ud800", "explanation": "\\udfff"}'),
    "echo-key": echo_key,
    "echo-key-in-answer": echo_key_in_answer,
}  # fmt: skip


@asynccontextmanager
async def fake_models(**replies: list[str]) -> AsyncIterator[Fake]:
    """The server, running; with the texts of scripted models by their names."""
    fake = Fake(replies=replies)
    open_writers: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        try:
            await _serve(fake, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left
        finally:
            open_writers.discard(writer)
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield fake
    finally:
        fake.closing.set()
        server.close()
        for writer in open_writers:
            writer.transport.abort()
        await server.wait_closed()


async def _serve(fake: Fake, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines[1:] if line)}
    data = await reader.readexactly(int(headers["content-length"]))
    fake.raw += head + data
    body = json.loads(data)
    name = body["model"]
    fake.calls[name] += 1
    fake.bodies.append(body)
    fake.headers.append(headers)
    exchange = Exchange(fake, name, fake.calls[name], body, headers, writer)
    await (scripted if name in fake.replies else BEHAVIOURS[name])(exchange)
