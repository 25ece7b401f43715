"""All doors to a record, each as one function from a move to what the door says of it.

The Python API is the door that the others are compared with. A door is opened over a folder of
records and closed in the same task, as clients of MCP must be.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import httpx
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from quizlog_tui.agents.mcp_server import Role, make_server
from quizlog_tui.agents.transports import PATH, http_app
from quizlog_tui.cli import main
from quizlog_tui.config import load_config
from quizlog_tui.errors import QuizlogError, error_data
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.process.process import user_limits
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.server import run
from quizlog_tui.server.admission import MAX_BODY, AccessRules, Shield
from quizlog_tui.server.app import ServerSettings, create_app
from quizlog_tui.session.new_record import new_record
from quizlog_tui.session.open_sessions import OpenSessions
from quizlog_tui.session.replayer_pool import ReplayerPool
from quizlog_tui.session.reply import Reply
from quizlog_tui.session.reply_text import questionnaire
from quizlog_tui.session.served_folders import served
from quizlog_tui.session.session import Session
from quizlog_tui.text import one_line
from tests.support.sittings import Move, Sitting

Era = Literal["auto", "legacy"]
"""How a client of MCP begins: by the newest protocol, or by the handshake of the older ones."""
ERAS: tuple[Era, ...] = ("auto", "legacy")


@dataclass(frozen=True)
class Said:
    """What a door says of a move; None for what this door does not give."""

    reply: Mapping[str, Any] | None
    """The JSON object, a refusal's too, without the record's name and the folder's path."""
    text: str | None
    """What is printed, or the line of a refusal."""


Door = Callable[[str, Move], Awaitable[Said]]
"""What a door says of a move in a record, which is named without its suffix."""
OpenDoor = Callable[[Path], AbstractAsyncContextManager[Door]]
"""Opens a door to the records of a folder."""


def prepare(folder: Path, sittings: Iterable[Sitting]) -> None:
    """Make the script and the record of each sitting; both are named after it."""
    for sitting in sittings:
        script = folder / f"{sitting.file}.py"
        script.write_text(sitting.script.lstrip("\n"), encoding="utf-8")
        new_record(script, folder / f"{sitting.file}.yaml", sitting.seed, clock=lambda: _BEGUN)


_BEGUN = "2026-11-01T12:00:00+00:00"


def record_data(path: Path) -> dict[str, Any]:
    """What a record holds, without what differs by nature: times, its number, and who answered."""
    record = RecordFile(path).read()
    lists = {key: list(getattr(record, key)) for key in ("inputs", "print", "trail")}
    branches = {name: replace(one, created=None) for name, one in record.branches.items()}
    changing = ("execution_id", "end_time", "who")
    extras = {key: value for key, value in record.extras.items() if key not in changing}
    extras = _relative(extras, path.parent)  # tracebacks name the script
    return vars(record) | lists | {"branches": branches, "extras": extras}


def escaped(value: Any) -> Any:
    """Plain data as MCP carries it, where half of a surrogate pair is its escape.

    It is the one difference between doors, as JSON of that protocol cannot carry it.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {key: escaped(each) for key, each in value.items()}
    return [escaped(each) for each in value] if isinstance(value, list) else value


# -- the Python API


@dataclass(frozen=True)
class Expected:
    """What the Python API says of a move."""

    newest: Said
    """What follows the move: after an answer or a fork only what is new."""
    whole: Said
    """The same with all that was printed before, as the shell shows a fork."""


def by_api(folder: Path, sitting: Sitting) -> list[Expected]:
    """What the Python API says of each move, with the limits of the user's settings."""
    limited = Replayer(user_limits(load_config()[0]))
    with limited, Session(folder / f"{sitting.file}.yaml", limited) as session:
        return [_by_session(folder, session, move) for move in sitting.moves]


def _by_session(folder: Path, session: Session, move: Move) -> Expected:
    try:
        whole = _moved(session, move)
    except QuizlogError as error:
        data = _relative(error_data(error), folder)
        refused = Said(data, _relative(one_line(str(error)), folder))
        return Expected(refused, refused)
    newest = whole.newest() if move.kind in ("answer", "fork") else whole
    return Expected(_said(newest), _said(whole))


def _moved(session: Session, move: Move) -> Reply:
    if move.kind == "answer":
        return session.answer(move.text)
    if move.kind == "rewind":
        return session.rewind(move.step)
    if move.kind == "fork":
        return session.fork(move.step, move.text, move.name)
    return session.reply()


def _said(reply: Reply) -> Said:
    data = {"schema_version": 1} | reply.to_dict()
    del data["record"]
    return Said(data, questionnaire(reply))


def _relative(value: Any, folder: Path) -> Any:
    """Plain data whose texts name files without the folder's path."""
    path = json.dumps(f"{folder}/")[1:-1]
    return json.loads(json.dumps(value).replace(path, ""))


def _named(data: dict[str, Any], name: str) -> dict[str, Any]:
    """A reply without the record's name, which is as the client gave it."""
    if "error" not in data:
        assert data.pop("record") == name
    return data


# -- the shell


@asynccontextmanager
async def shell_json(folder: Path) -> AsyncIterator[Door]:
    """`quizlog ... --json`, in this process."""

    async def door(name: str, move: Move) -> Said:
        path = str(folder / f"{name}.yaml")
        code, out, _ = _command(_words(path, move, "--json"))
        data = _named(json.loads(_without_note(out, path)), path)
        assert code == _code(data), (move, code)
        return Said(_relative(data, folder), None)

    yield door


@asynccontextmanager
async def shell_text(folder: Path) -> AsyncIterator[Door]:
    """`quizlog ... --new`, in this process: what it prints, or the line that refuses it."""

    async def door(name: str, move: Move) -> Said:
        path = str(folder / f"{name}.yaml")
        code, out, err = _command(_words(path, move))
        if code <= 1:
            return Said(None, out)
        assert out == ""
        line = _without_note(err, path).removeprefix("quizlog: ").removesuffix("\n")
        return Said(None, _relative(line, folder))

    yield door


@asynccontextmanager
async def shell_process(folder: Path) -> AsyncIterator[Door]:
    """`quizlog ... --json`, as users start it."""

    async def door(name: str, move: Move) -> Said:
        path = str(folder / f"{name}.yaml")
        words = [sys.executable, "-m", "quizlog_tui", *_words(path, move, "--json")]
        process = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=PIPE)
        out, _ = await process.communicate()
        data = _named(json.loads(_without_note(out.decode(), path)), path)
        assert process.returncode == _code(data)
        return Said(_relative(data, folder), None)

    yield door


def _words(path: str, move: Move, *options: str) -> list[str]:
    """The words of a command line for a move."""
    if move.kind == "answer":
        return [*options, "--new", "--", path, move.text]
    if move.kind == "rewind":
        return ["rewind", *options, path, str(move.step)]
    if move.kind == "fork":
        name = [] if move.name is None else [f"--name={move.name}"]
        return ["fork", *options, *name, path, str(move.step), move.text]
    return [*options, path]


def _command(words: list[str]) -> tuple[int, str, str]:
    """The exit code of a command line, what it prints, and what it says."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def _without_note(text: str, path: str) -> str:
    """What a command says, without what it adds to a refusal: that it wrote the record before."""
    return text.replace(f"the change is in {path}; ", "")


def _code(data: Mapping[str, Any]) -> int:
    """The exit code that goes with an object."""
    if "error" in data:
        return int(data["error"]["exit_code"])
    return 1 if data["status"] == "error" else 0


# -- HTTP


@asynccontextmanager
async def http(folder: Path) -> AsyncIterator[Door]:
    """`POST /quizlog/next`; other moves are made by another program, and shown."""
    async with serving(_serve_app(folder)) as url, httpx.AsyncClient(base_url=url) as client:

        async def door(name: str, move: Move) -> Said:
            if move.kind in ("rewind", "fork"):
                with Session(folder / f"{name}.yaml") as other:
                    return _by_session(folder, other, move).newest
            body = {"sheet_id": name, "new": True, "input": move.text}
            if move.kind == "show":
                body = {"sheet_id": name}
            kind = {"content-type": "application/json"}
            found = await client.post("/quizlog/next", content=json.dumps(body), headers=kind)
            data = _named(found.json(), name)
            assert (found.status_code == 200) == ("error" not in data)
            return Said(data, None)

        yield door


def _serve_app(folder: Path) -> Any:
    """The application of `quizlog serve --mcp`."""
    limits = user_limits(load_config()[0])
    return create_app(ServerSettings(served([folder]), mcp=True, limits=limits))


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """The address at which an application is served, as the commands serve theirs."""
    with run.listening("127.0.0.1", 0) as sock:
        started = asyncio.Event()
        server = run.make_server(app, 2048, started.set)
        running = asyncio.create_task(server.serve(sockets=[sock]))
        await started.wait()
        try:
            yield run.address(sock)
        finally:
            server.should_exit = True
            await running


# -- MCP


@asynccontextmanager
async def open_sessions(folder: Path) -> AsyncIterator[OpenSessions]:
    """Open records of a folder with the limits of the user's settings, as the commands open them."""
    sessions = OpenSessions(served([folder]), ReplayerPool(limits=user_limits(load_config()[0])))
    try:
        yield sessions
    finally:
        sessions.close()


@asynccontextmanager
async def memory(folder: Path, era: Era) -> AsyncIterator[Door]:
    """A client in the process of the server."""
    async with (
        open_sessions(folder) as sessions,
        Client(make_server(sessions, "auditor"), mode=era) as client,
    ):
        yield _mcp(client)


@asynccontextmanager
async def stdio(folder: Path, era: Era) -> AsyncIterator[Door]:
    """`quizlog mcp`, which the client starts."""
    async with Client(stdio_words(folder), mode=era) as client:
        yield _mcp(client)


def stdio_words(folder: Path, *options: str) -> StdioServerParameters:
    """What starts `quizlog mcp`."""
    words = ["-m", "quizlog_tui", "mcp", *options, str(folder)]
    return StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))


@asynccontextmanager
async def mcp_http(folder: Path, era: Era) -> AsyncIterator[Door]:
    """`quizlog mcp --http`."""
    async with mcp_url(folder) as url, http_client(url, era) as client:
        yield _mcp(client)


def http_client(url: str, era: Era) -> Client:
    """A client over HTTP that takes a reply of any size.

    By default the SDK's own gives up an event of more than 1 MiB, which long output comes to in the
    older protocols, whose replies are events.
    """
    return Client(streamable_http_client(url, max_sse_event_size=None), mode=era)


@asynccontextmanager
async def mcp_url(
    folder: Path, role: Role = "auditor", token: str | None = None
) -> AsyncIterator[str]:
    """The endpoint of `quizlog mcp --http`."""
    async with open_sessions(folder) as sessions:
        app = http_app(make_server(sessions, role), MAX_BODY)
        async with serving(Shield(app, AccessRules(token))) as url:
            yield url + PATH


@asynccontextmanager
async def serve_mcp(folder: Path, era: Era) -> AsyncIterator[Door]:
    """`quizlog serve --mcp`."""
    async with (
        serving(_serve_app(folder)) as url,
        http_client(url + PATH, era) as client,
    ):
        yield _mcp(client)


@asynccontextmanager
async def command(folder: Path, words: Sequence[str]) -> AsyncIterator[Door]:
    """A command that serves a folder over HTTP, as users start and interrupt it."""
    line = [sys.executable, "-m", "quizlog_tui", *words, str(folder), "--json", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*line, stdout=PIPE, stderr=PIPE)
    assert process.stdout
    try:
        url = json.loads(await process.stdout.readline())["url"].removesuffix(PATH) + PATH
        async with http_client(url, "auto") as client:
            yield _mcp(client)
    finally:
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert (process.returncode, b"Traceback" in err) == (130, False)


def _mcp(client: Client) -> Door:
    async def door(name: str, move: Move) -> Said:
        result = await client.call_tool(move.kind, {"record": name, **_arguments(move)})
        return said_by(result, name)

    return door


def _arguments(move: Move) -> dict[str, Any]:
    if move.kind == "answer":
        return {"text": move.text}
    if move.kind == "rewind":
        return {"step": move.step}
    if move.kind == "fork":
        return {"step": move.step, "text": move.text, "name": move.name}
    return {}


def said_by(result: CallToolResult, name: str) -> Said:
    """What the result of a tool says of a record."""
    assert result.structured_content is not None
    data = _named(dict(result.structured_content), name)
    assert result.is_error == ("error" in data)
    return Said(data, text_of(result))


def text_of(result: CallToolResult) -> str:
    """The first text of a result: what the command prints, or the line of a refusal."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


MCP_DOORS = {"memory": memory, "stdio": stdio, "mcp --http": mcp_http, "serve --mcp": serve_mcp}
"""The ways to the MCP server; each is tried in both eras."""
DOORS: Mapping[str, OpenDoor] = {
    "shell --json": shell_json,
    "shell": shell_text,
    "http": http,
    **{f"{name}, {era}": partial(way, era=era) for name, way in MCP_DOORS.items() for era in ERAS},
}
"""All doors but the Python API."""
