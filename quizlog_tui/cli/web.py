"""On the web: solve a quiz on web pages, serve a practice quiz, or answer over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..files.paths import record_path
from ..text import clipped, one_line
from .grammar import (
    TOKEN,
    Parser,
    add_address,
    add_models,
    add_replies,
    add_unsafe_local,
    command,
    port,
)
from .models import ask_for_programs
from .streams import emit_json, needs, say

if TYPE_CHECKING:
    from ..server.app import ServerSettings
    from ..webquiz.demo_server.grader import Options
    from ..webquiz.demo_server.web import QuizServer
    from ..webquiz.task.settings import TaskSettings
    from ..webquiz.task.task import TaskRequest, TaskResult
    from ..webquiz.task.task_runner import TaskRunner


_PORT = 8765

_SECRET = "no secret at all"


def _run_task(arguments: Namespace) -> int:
    """`quizlog task URL`; 0 at the end of the quiz, 1 before it, 4 when nothing could be sent.

    Raises:
        UsageError: Address, secret, URL or models are missing or wrong.
    """
    needs("browser", "httpx", "pydantic", "playwright", "dotenv")
    from ..webquiz.task.settings import read_settings
    from ..webquiz.task.tasks import url_fault

    settings = read_settings(Path(arguments.env) if arguments.env else None)
    if arguments.keep:
        settings = replace(settings, debug_keep_workspaces=True)
    missing = [n for n in ("user_email", "user_secret") if not getattr(settings, n)]
    if missing:
        names = " and ".join(name.upper() for name in missing)
        where = f"in {arguments.env}" if arguments.env else "in .env, or name a file with --env"
        raise UsageError(f"{names} not set", hint=f"write them {where}")
    fault = url_fault(arguments.url, settings)
    if fault:
        raise UsageError(f"the url {fault}", where=arguments.url)
    return _report_end(asyncio.run(_work(arguments, settings)), settings, as_json=arguments.json)


def _task() -> Parser:
    details = (
        "Solve a quiz on web pages: render each page, ask the models, submit, go on. USER_EMAIL\n"
        "and USER_SECRET must be set in the environment or in .env."
    )
    parser = command(
        "task",
        _run_task,
        group="web",
        arguments="URL",
        about="solve a quiz on web pages",
        details=details,
        example="http://127.0.0.1:8765/q01-start",
    )
    parser.add_argument("url", help="the first page")
    parser.add_argument("--env", metavar="FILE", help="variables: keys and task settings")
    add_models(parser)
    add_replies(parser)
    parser.add_argument("--keep", action="store_true", help="keep the task's folder")
    add_unsafe_local(parser)
    return parser


async def _work(arguments: Namespace, settings: TaskSettings) -> TaskResult:
    from ..sandbox import run_code
    from ..solver.models.choice import Choice, doubts
    from ..webquiz.task.task import TaskRequest
    from ..webquiz.task.task_runner import open_task_runner

    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    request = TaskRequest(settings.user_email, settings.user_secret, arguments.url)
    names = (arguments.models, arguments.replay, arguments.env)
    models, replay, env = (Path(name) if name else None for name in names)
    choice = Choice(models, replay, env=env)
    ask_for_programs(choice, arguments)
    for text in doubts(choice):
        say(f"note: {text}")
    async with open_task_runner(settings, choice, run) as runner:
        return await _solve_task(runner, request)


async def _solve_task(runner: TaskRunner, request: TaskRequest) -> TaskResult:
    """Solve a task and report each page."""
    from ..webquiz.task.workspace import record_of

    def report_page(result: TaskResult) -> None:
        _tell_page(result)
        if len(result.pages) == 1:
            record = record_of(runner.settings.task_basedir, result.id)
            say(f"watch it in another terminal: quizlog tui {record}")

    if runner.panel.label:
        say(f"note: {runner.panel.label}")
    return await runner.work(request, report_page)


def _tell_page(result: TaskResult) -> None:
    page = result.pages[-1]
    sent = ", ".join(clipped(one_line(_written(one.answer)), 60) for one in page.submissions)
    print(f"   {page.state:<10} {one_line(page.url)}  {sent}", file=sys.stderr)
    for note in page.notes:
        print(f"              {clipped(one_line(note), 200)}", file=sys.stderr)


def _written(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _report_end(result: TaskResult, settings: TaskSettings, *, as_json: bool) -> int:
    """Report how a task ended and where its record is; the exit code."""
    from ..webquiz.task.workspace import record_of

    record = record_of(settings.task_basedir, result.id)
    if as_json:
        emit_json(result.to_dict() | {"record": str(record)})
    else:
        print(f"{result.state}: {_right_pages(result)}")
    if result.error:
        say(one_line(result.error))
    say(f"the record is {record}")
    if result.state == "finished":
        return 0
    return 1 if any(page.submissions for page in result.pages) else 4


def _right_pages(result: TaskResult) -> str:
    right = sum(page.state == "correct" for page in result.pages)
    return f"{right} of {len(result.pages)} pages right"


def _run_demo_server(arguments: Namespace) -> int:
    """`quizlog demo-server`.

    Raises:
        UsageError: The port is taken, or there is no such page.
    """
    needs("solver", "pydantic")
    if arguments.solve:
        needs("browser", "httpx", "playwright", "dotenv")
    from ..webquiz.demo_server.grader import EMAIL, Options

    options = Options(
        grading=arguments.grading, latency=arguments.latency, chain=tuple(arguments.page)
    )
    with _listening(options, arguments.port) as server:
        if arguments.solve:
            return _solve_demo(server, as_json=arguments.json)
        first = server.first(EMAIL)
        if arguments.json:
            emit_json({"url": server.url, "first": first})
        else:
            print(first)
        sys.stdout.flush()
        say(f"pages at {server.url}, submissions at {server.url}/_log; Ctrl-C ends it")
        Event().wait()
    return 0


def _demo_server() -> Parser:
    parser = command(
        "demo-server",
        _run_demo_server,
        group="web",
        about="serve a practice quiz on web pages",
        details=(
            "Serve a practice quiz, on this machine only. Prints the URL of its first page.\n"
            "/_log shows all submissions and requests, /_score the score under both rules.\n"
            "--solve solves it as `quizlog task` does, with recorded replies: no key, no network."
        ),
        example="--solve",
    )
    parser.add_argument("--port", type=port, default=_PORT, metavar="N", help="default: 8765")
    parser.add_argument("--page", action="append", default=[], metavar="ID", help="only this page")
    parser.add_argument("--grading", choices=["last", "max"], default="last")
    parser.add_argument(
        "--solve", action="store_true", help="solve it with recorded replies, then exit"
    )
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    return parser


@contextmanager
def _listening(options: Options, port: int) -> Iterator[QuizServer]:
    from ..webquiz.demo_server.web import quiz_server

    with ExitStack() as stack:
        try:
            server = stack.enter_context(quiz_server(options, port))
        except OSError as error:
            hint = "name another with --port N"
            raise UsageError(f"port {port}: {error.strerror}", hint=hint) from None
        yield server


def _solve_demo(server: QuizServer, *, as_json: bool) -> int:
    """Solve the quiz with recorded replies and show progress; the exit code."""
    from ..sandbox import run_code
    from ..webquiz.demo_server.grader import EMAIL
    from ..webquiz.demo_server.web import demo_panel
    from ..webquiz.task.settings import read_settings
    from ..webquiz.task.task import TaskRequest
    from ..webquiz.task.task_context import Budget
    from ..webquiz.task.task_runner import TaskRunner

    settings = replace(read_settings(), quiz_private_hosts=("127.0.0.1",))
    request = TaskRequest(EMAIL, _SECRET, server.first(EMAIL))
    at_once = Budget(least_gap=0.0)  # this server counts an answer however soon it comes
    runner = TaskRunner(settings, demo_panel(server.url, run_code), budget=at_once)
    return _report_end(asyncio.run(_work_on_demo(runner, request)), settings, as_json=as_json)


async def _work_on_demo(runner: TaskRunner, request: TaskRequest) -> TaskResult:
    try:
        return await _solve_task(runner, request)
    finally:
        await runner.close()


def _serve(arguments: Namespace) -> int:
    """`quizlog serve`."""
    if arguments.screens is not None:
        return _serve_screens(arguments)
    if arguments.write:
        raise UsageError("--write is for --screens only", hint="leave it out")
    needs("server", "fastapi", "uvicorn", "httpx", "dotenv")
    if arguments.mcp:
        needs("agents", "mcp", "mcp_types")
    from ..server.app import open_app
    from ..server.run import address, listening, serve

    settings = _server_settings(arguments)
    with listening(arguments.host, arguments.port) as sock:

        def started() -> None:
            names = [str(root) for root in settings.folders.roots]
            if arguments.json:
                emit_json({"url": address(sock), "folders": names})
            else:
                print(address(sock))
            sys.stdout.flush()
            takes = " and takes tasks" if settings.tasks else ""
            say(f"serves {', '.join(names)}{takes}; Ctrl-C ends it")

        serve(partial(open_app, settings), settings.bounds.connections, sock, started)
    return 0


def _server_settings(arguments: Namespace) -> ServerSettings:
    """What the server serves, to whom and within which limits; doubts are told on stderr."""
    from ..replay.process.process import user_limits
    from ..server.admission import allowed_bounds
    from ..server.app import ServerSettings
    from ..server.run import rules_for
    from ..session.served_folders import served
    from ..solver.models.choice import Choice, cost_note, doubts
    from .moves import known_config

    folders = served(Path(name) for name in arguments.folder or ["."])
    rules = rules_for(arguments.host, os.environ.get(TOKEN, "").strip() or None)
    models = Path(arguments.models) if arguments.models else None
    replay, env = (Path(name) if name else None for name in (arguments.replay, arguments.env))
    choice = Choice(models, replay, env=env)
    ask_for_programs(choice, arguments)
    tasks = _task_settings(env)
    for text in (*doubts(choice), *filter(None, [cost_note(choice)])):
        say(f"note: {text}")
    config = known_config()
    return ServerSettings(
        folders,
        rules,
        choice,
        allowed_bounds(),
        tasks,
        mcp=arguments.mcp,
        limits=user_limits(config),
        hold_seconds=config.agents_hold_seconds,
    )


def _serve_parser() -> Parser:
    epilog = f"{TOKEN} in the environment: the token that clients must send"
    details = (
        "Answer steps and questions over HTTP: POST /quizlog/next, POST /solve, GET /decisions,\n"
        "GET /health, GET /openapi.json. It serves only files in the given folders.\n"
        "With a USER_SECRET (in the environment or .env) also tasks: POST /run, GET /tasks."
    )
    parser = command(
        "serve",
        _serve,
        group="web",
        about="start the HTTP server",
        details=details,
        example="--folder records",
        epilog=epilog,
    )
    add_address(parser)
    parser.add_argument(
        "--folder",
        action="append",
        metavar="DIR",
        help="may be repeated; default: the current folder",
    )
    parser.add_argument(
        "--screens",
        nargs="?",
        const="",
        metavar="RECORD",
        help="the screens in web browsers instead, of a record or the folder; read-only",
    )
    parser.add_argument("--write", action="store_true", help="let the screens change records")
    parser.add_argument("--mcp", action="store_true", help="serve agents too, at /mcp")
    add_models(parser)
    add_replies(parser)
    parser.add_argument("--env", metavar="FILE", help="variables: keys and task settings")
    return parser


def _serve_screens(arguments: Namespace) -> int:
    """`quizlog serve --screens [RECORD]`."""
    needs("screens", "textual_serve", "aiohttp")
    needs("server", "fastapi", "uvicorn", "httpx", "dotenv")
    from ..server.run import address, listening, rules_for
    from ..server.screens import ScreenSettings, serve_screens

    if len(arguments.folder or []) > 1:
        raise UsageError("the screens show one folder", hint="give --folder once")
    place = record_path(arguments.screens or (arguments.folder or ["."])[0])
    if not place.exists():
        raise UsageError("there is no such file or folder", where=str(place), hint="name another")
    place = place.resolve()
    rules = rules_for(arguments.host, os.environ.pop(TOKEN, "").strip() or None)
    settings = ScreenSettings(place, rules, arguments.write)
    with listening(arguments.host, arguments.port) as sock:

        def started() -> None:
            if arguments.json:
                emit_json({"url": address(sock), "screens": str(place), "write": arguments.write})
            else:
                print(address(sock))
            sys.stdout.flush()
            secret = f"; open it with ?token= and your {TOKEN}" if rules.token else ""
            say(f"shows {place}{'' if arguments.write else ', read-only'}{secret}; Ctrl-C ends it")

        serve_screens(settings, sock, started)
    return 0


def _task_settings(env: Path | None) -> TaskSettings | None:
    """The settings of tasks, if there is a secret for them."""
    from ..webquiz.task.settings import read_settings

    settings = read_settings(env)
    if settings.user_secret:
        needs("tasks", "playwright", "dbos", "psycopg")
        return settings
    if env is not None:
        hint = "tasks need it: write it there, or leave --env out"
        raise UsageError("USER_SECRET is not set", where=str(env), hint=hint)
    return None


PARSERS = {"serve": _serve_parser, "task": _task, "demo-server": _demo_server}
"""The parser function of each command."""
