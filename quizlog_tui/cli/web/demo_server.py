"""`quizlog demo-server`: a practice quiz server, until interrupted or solved."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..extras import needs
from ..grammar import Parser, command, port
from ..json_output import emit_json
from ..record.show import say
from .task import ended, work_in

if TYPE_CHECKING:
    from ...webquiz.demo_server.grader import Options
    from ...webquiz.demo_server.web import QuizServer
    from ...webquiz.task.task import TaskRequest, TaskResult
    from ...webquiz.task.task_runner import TaskRunner

PORT = 8765
_SECRET = "no secret at all"


def demo_server(arguments: Namespace) -> int:
    """`quizlog demo-server`.

    Raises:
        UsageError: The port is taken, or there is no such page.
    """
    needs("solver", "pydantic")
    if arguments.solve:
        needs("browser", "httpx", "playwright", "dotenv")
    from ...webquiz.demo_server.grader import Options
    from ...webquiz.demo_server.pages import EMAIL

    options = Options(
        grading=arguments.grading, latency=arguments.latency, chain=tuple(arguments.page)
    )
    with _listening(options, arguments.port) as server:
        if arguments.solve:
            return _solve(server, as_json=arguments.json)
        first = server.first(EMAIL)
        if arguments.json:
            emit_json({"url": server.url, "first": first})
        else:
            print(first)
        sys.stdout.flush()
        say(f"pages at {server.url}, submissions at {server.url}/_log; Ctrl-C ends it")
        Event().wait()
    return 0


@contextmanager
def _listening(options: Options, port: int) -> Iterator[QuizServer]:
    from ...webquiz.demo_server.web import quiz_server

    with ExitStack() as stack:
        try:
            server = stack.enter_context(quiz_server(options, port))
        except OSError as error:
            hint = "name another with --port N"
            raise UsageError(f"port {port}: {error.strerror}", hint=hint) from None
        yield server


def _solve(server: QuizServer, *, as_json: bool) -> int:
    """Solve the quiz with recorded replies and show progress; the exit code."""
    from ...sandbox import run_code
    from ...webquiz.demo_server.pages import EMAIL
    from ...webquiz.demo_server.replies import demo_panel
    from ...webquiz.task.settings import read_settings
    from ...webquiz.task.task import TaskRequest
    from ...webquiz.task.task_context import Budget
    from ...webquiz.task.task_runner import TaskRunner

    settings = replace(read_settings(), quiz_private_hosts=("127.0.0.1",))
    request = TaskRequest(EMAIL, _SECRET, server.first(EMAIL))
    at_once = Budget(least_gap=0.0)  # this server counts an answer however soon it comes
    runner = TaskRunner(settings, demo_panel(server.url, run_code), budget=at_once)
    return ended(asyncio.run(_work(runner, request)), settings, as_json=as_json)


async def _work(runner: TaskRunner, request: TaskRequest) -> TaskResult:
    try:
        return await work_in(runner, request)
    finally:
        await runner.close()


def _parser() -> Parser:
    about = (
        "Serve a practice quiz, on this machine only. Prints the URL of its first page.\n"
        "/_log shows all submissions and requests, /_score the score under both rules.\n"
        "--solve solves it as `quizlog task` does, with recorded replies: no key, no network."
    )
    parser = command("quizlog demo-server", demo_server, about)
    parser.add_argument("--port", type=port, default=PORT, metavar="N", help="default: 8765")
    parser.add_argument("--page", action="append", default=[], metavar="ID", help="only this page")
    parser.add_argument("--grading", choices=["last", "max"], default="last")
    parser.add_argument(
        "--solve", action="store_true", help="solve it with recorded replies, then exit"
    )
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    return parser


PARSERS = {"demo-server": _parser}
"""The parser function of each command."""
