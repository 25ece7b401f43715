"""The server over real sockets: requests a second against a FastAPI floor, and very many sessions.

Servers are processes of their own; the clients here keep their connections. Figures are of one run,
taken in turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from quizlog_tui.files.durable import FileKind, asked_before, write_text
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile

SCRIPT = Path(__file__).parent / "scripts" / "bare.py"
COPY = FileKind("a floor's copy of a record", asked_before, beside=True)
CONNECTIONS = 4
ROUNDS = 6
SECONDS = 0.6


class Client(asyncio.Protocol):
    """One connection that is kept: a request, its whole reply, the next request."""

    def __init__(self) -> None:
        self._data = b""
        self._reply: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, blank, body = self._data.partition(b"\r\n\r\n")
        if not blank:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) >= length and self._reply is not None:
            assert head.startswith(b"HTTP/1.1 200"), head + body
            self._data, reply, self._reply = b"", self._reply, None
            reply.set_result(body)

    def connection_lost(self, error: Exception | None) -> None:
        if self._reply is not None:
            self._reply.set_exception(error or EOFError())

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Send, and wait for the reply's body."""
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(data) + data)
        return await self._reply

    def close(self) -> None:
        """End the connection."""
        self._transport.close()


async def connect(port: int) -> Client:
    """A connection to a server of this machine."""
    _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    return client


def _serve_quizlog(folder: str, pipe: Any) -> None:
    from quizlog_tui.server.admission import allowed_bounds
    from quizlog_tui.server.app import ServerSettings, create_app
    from quizlog_tui.server.run import listening, make_server
    from quizlog_tui.session.served_folders import served

    settings = ServerSettings(served([Path(folder)]), bounds=allowed_bounds())
    server = make_server(create_app(settings), settings.bounds.connections, started=lambda: None)
    _run(server, listening("127.0.0.1", 0), pipe)


def _serve_floor(given: tuple[bytes, str], pipe: Any) -> None:
    """What FastAPI takes to check the same body and to return the same bytes.

    At `/durable` also to put the record's bytes on disk first.
    """
    reply, folder = given
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import Response

    from quizlog_tui.server import bodies
    from quizlog_tui.server.run import listening

    app = FastAPI()

    async def same(step: bodies.Step) -> Response:
        return Response(reply, media_type="application/json")

    def durable(step: bodies.Step) -> Response:
        path = Path(folder) / f"{step.sheet_id}.yaml"  # type: ignore[union-attr]
        write_text(path.with_suffix(".floor"), path.read_text(encoding="utf-8"), COPY)
        return Response(reply, media_type="application/json")

    same.__annotations__["step"] = durable.__annotations__["step"] = bodies.Step
    app.post("/quizlog/next", response_class=Response)(same)
    app.post("/durable", response_class=Response)(durable)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    _run(uvicorn.Server(config), listening("127.0.0.1", 0), pipe)


def _run(server: Any, sock: Any, pipe: Any) -> None:
    import threading

    def stop() -> None:
        pipe.recv()
        server.should_exit = True

    threading.Thread(target=stop, daemon=True).start()
    pipe.send(sock.getsockname()[1])
    server.run(sockets=[sock])


@contextlib.contextmanager
def process(target: Callable[..., None], argument: Any) -> Iterator[int]:
    """A server in a process of its own; its port."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=target, args=(argument, theirs))
    server.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        server.join(60)
        if server.is_alive():
            server.kill()


def _records(folder: Path, count: int, *, one_seed: bool) -> list[str]:
    shutil.copy(SCRIPT, folder / SCRIPT.name)
    for index in range(count):
        record = Record(SCRIPT.name, 1 if one_seed else index)
        RecordFile(folder / f"r{index}.yaml").create(record)
    return [f"r{index}" for index in range(count)]


async def _rate(
    clients: list[Client],
    bodies: list[Callable[[], dict[str, Any]]],
    path: str = "/quizlog/next",
) -> float:
    """Replies a second of several connections that ask as fast as they are answered."""
    count, started = 0, time.perf_counter()

    async def ask(client: Client, body: Callable[[], dict[str, Any]]) -> None:
        nonlocal count
        while time.perf_counter() - started < SECONDS:
            await client.post(path, body())
            count += 1

    await asyncio.gather(*map(ask, clients, bodies))
    return count / (time.perf_counter() - started)


class Steps:
    """The growing answers to one script, never the same twice; a new start after fifty."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._inputs: list[str] = []
        self._given = 0

    def body(self) -> dict[str, Any]:
        """The next request."""
        self._given += 1
        self._inputs = [*self._inputs, f"{self._given}"] if len(self._inputs) < 50 else []
        return {"script_id": SCRIPT.stem, "seed": self._seed, "inputs": self._inputs}


def _asks(names: list[str]) -> dict[str, list[Callable[[], dict[str, Any]]]]:
    """Kinds of requests, for each connection one that makes the next body."""
    answered = {"input": "4", "new": True}
    return {
        SHOWN: [partial(dict, sheet_id=name) for name in names],
        STEPPED: [Steps(1000 + index).body for index, _ in enumerate(names)],
        ANSWERED: [partial(dict, answered, sheet_id=name) for name in names],
        DURABLE: [partial(dict, answered, sheet_id=name) for name in names],
    }


SHOWN = "shown"
STEPPED = "a live step, nothing kept"
ANSWERED = "answered, on disk"
DURABLE = "answered, on disk / floor that writes as much to disk"


async def _rates(ours: int, floor: int, names: list[str]) -> dict[str, tuple[float, float]]:
    mine = [await connect(ours) for _ in names]
    plain = [await connect(floor) for _ in names]
    found = {}
    for kind, bodies in _asks(names).items():
        path = "/durable" if kind == DURABLE else "/quizlog/next"
        pairs = [
            (await _rate(mine, bodies), await _rate(plain, bodies, path)) for _ in range(ROUNDS)
        ]
        one, other = (statistics.median(column) for column in zip(*pairs, strict=True))
        found[kind] = one, other
    for client in (*mine, *plain):
        client.close()
    return found


def rates() -> dict[str, tuple[float, float]]:
    """Requests a second of a warm server, and of the floor, for each kind of request."""
    with tempfile.TemporaryDirectory() as name:
        names = _records(Path(name), CONNECTIONS, one_seed=False)
        with process(_serve_quizlog, name) as ours:
            reply = asyncio.run(_one(ours, {"sheet_id": names[0]}))
            with process(_serve_floor, (reply, name)) as floor:
                return asyncio.run(_rates(ours, floor, names))


async def _one(port: int, body: dict[str, Any]) -> bytes:
    client = await connect(port)
    try:
        return await client.post("/quizlog/next", body)
    finally:
        client.close()


async def _crowd(port: int, names: list[str], rounds: int) -> tuple[list[float], int]:
    """Every record answers once in each round, several at a time; seconds of each, and the lost."""
    clients = [await connect(port) for _ in range(CONNECTIONS)]
    times: list[float] = []
    lost = 0

    async def some(client: Client, share: list[str], number: int) -> None:
        nonlocal lost
        for name in share:
            start = time.perf_counter()
            body = {"sheet_id": name, "input": f"{name} {number}", "pointer": number}
            reply = json.loads(await client.post("/quizlog/next", body))
            if number:
                times.append(time.perf_counter() - start)
            lost += reply["pointer"] != number + 1

    for number in range(rounds + 1):
        shares = [names[i::CONNECTIONS] for i in range(CONNECTIONS)]
        await asyncio.gather(*(some(c, s, number) for c, s in zip(clients, shares, strict=True)))
    for client in clients:
        client.close()
    return times, lost


def crowd(sessions: int, rounds: int, *, one_seed: bool) -> dict[str, float]:
    """Very many records of one server, each answered in turn."""
    with tempfile.TemporaryDirectory() as name:
        names = _records(Path(name), sessions, one_seed=one_seed)
        with process(_serve_quizlog, name) as port:
            times, lost = asyncio.run(_crowd(port, names, rounds))
            memory = _memory_used()
            health = asyncio.run(_health(port))
    times.sort()
    return {
        "sessions": health["sessions"],
        "processes": health["processes"],
        "lost": lost,
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "max": times[-1],
        "used_gb": memory,
    }


async def _health(port: int) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    data = await reader.read()
    writer.close()
    found: dict[str, Any] = json.loads(data.partition(b"\r\n\r\n")[2])
    return found


def _memory_used() -> float:
    lines = [line.split() for line in Path("/proc/meminfo").read_text().splitlines()]
    sizes = {words[0]: int(words[1]) for words in lines}
    return (sizes["MemTotal:"] - sizes["MemAvailable:"]) / 2**20
