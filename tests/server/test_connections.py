"""Connections over real sockets: what a client gets that never ends its request, or never reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import h11
import httpx
import pytest

from quizlog_tui.server import run as connections
from quizlog_tui.server.run import Connection, _ConnectionCrowd, _JoinedHead
from tests.server.conftest import listening

HALF = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
WHOLE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LAST = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


async def done(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


class Line:
    """A connection of a client."""

    def __init__(self, opened: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        self.reader, self.writer = opened

    async def all(self) -> bytes:
        """What comes until the server closes the line."""
        async with asyncio.timeout(60):
            return await self.reader.read()

    async def refused(self) -> tuple[str, dict[str, Any]]:
        """The status and the error of what comes."""
        head, _, body = (await self.all()).partition(b"\r\n\r\n")
        said = json.loads(body)
        assert said["schema_version"] == 1
        return head.split(b"\r\n")[0].decode().removeprefix("HTTP/1.1 "), said["error"]


@asynccontextmanager
async def serving(app: Any = done, most: int = 10) -> AsyncIterator[Callable[..., Any]]:
    """A server of `most` connections; what opens one and sends something."""
    lines: list[Line] = []

    async def call(data: bytes) -> Line:
        lines.append(Line(await asyncio.open_connection("127.0.0.1", port)))
        lines[-1].writer.write(data)
        return lines[-1]

    async with listening(app, http=partial(Connection, _ConnectionCrowd(most))) as port:
        try:
            yield call
        finally:
            for line in lines:
                line.writer.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """A limit of open files for 1,500 connections of our own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip(f"only {hard} files may be open here")
    if soft != resource.RLIM_INFINITY and soft < 2000:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(not shutil.which("sh"), reason="no shell to set a limit in")
def test_1500_half_open_heads_keep_nobody_from_an_answer(many_files: None, tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "quizlog_tui", "serve", "--port", "0", "--folder", str(tmp_path)]
    limited = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", *serve]
    server = subprocess.Popen(limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        url = httpx.URL(server.stdout.readline().strip())
        assert url.port
        with ExitStack() as stack:
            for _ in range(1500):
                half = stack.enter_context(socket.create_connection((url.host, url.port), 60))
                half.sendall(HALF)
            answer = httpx.get(url.join("/health"), timeout=60)
            assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    finally:
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=60)
    assert "Traceback" not in err


async def test_a_head_that_does_not_come_in_time_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "READ_SECONDS", 0.2)
    async with serving() as call:
        status, error = await (await call(HALF)).refused()
        assert (status, error["hint"]) == ("408 Request Timeout", "send it again")
        assert "head did not arrive" in error["message"]
        assert await (await call(b"")).all() == b""
        after_another = await (await call(WHOLE + HALF)).all()
        assert (b" 200 OK" in after_another, b" 408 " in after_another) == (True, True)


async def test_who_waits_longest_makes_room_and_who_is_answered_stays() -> None:
    go_on = asyncio.Event()
    answering: list[Any] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        answering.append(scope)
        await go_on.wait()
        await done(scope, receive, send)

    async with serving(slow, most=2) as call:
        half = await call(HALF)
        busy = [await call(LAST), await call(LAST)]
        with contextlib.suppress(ConnectionResetError):
            assert await half.all() == b""
        while len(answering) < 2:
            await asyncio.sleep(0.01)
        status, error = await (await call(b"")).refused()
        assert (status, error["exit_code"]) == ("503 Service Unavailable", 4)
        go_on.set()
        for one in busy:
            assert (await one.all()).endswith(b"ok")


async def test_a_reply_that_nobody_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_STALL_SECONDS", 0.2)
    ended = asyncio.Event()

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        gone = asyncio.create_task(receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not gone.done():
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
            await asyncio.sleep(0)
        ended.set()

    async with serving(endless) as call, asyncio.timeout(60):
        await call(WHOLE)
        await ended.wait()


async def test_what_is_no_http_is_refused_as_json() -> None:
    async with serving() as call:
        status, error = await (await call(b"hello\r\n\r\n")).refused()
    assert (status, error["message"]) == ("400 Bad Request", "this is not an HTTP request")


@pytest.mark.parametrize(("headers", "at_once"), [([("content-length", "2")], True), ([], False)])
def test_a_head_is_sent_with_its_body_unless_a_stream_follows(
    headers: list[tuple[str, str]], at_once: bool
) -> None:
    conn = _JoinedHead()
    for _ in range(2):
        conn.receive_data(WHOLE)
        assert isinstance(conn.next_event(), h11.Request)
        assert isinstance(conn.next_event(), h11.EndOfMessage)
        parts = [
            h11.Response(status_code=200, headers=headers),
            h11.Data(b"ok"),
            h11.EndOfMessage(),
        ]
        head, body, end = (conn.send(part) for part in parts)
        whole = b"".join([head or b"", body or b"", end or b""])
        assert (head == b"", body == whole) == (at_once, at_once)
        assert whole.startswith(b"HTTP/1.1 200 ") and b"ok" in whole
        conn.start_next_cycle()
