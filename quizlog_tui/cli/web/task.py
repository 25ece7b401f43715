"""`quizlog task URL`: one quiz on web pages, from its first page to its end."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...text import clipped, one_line
from ..extras import needs
from ..grammar import Parser, add_models, add_replies, add_unsafe_local, command
from ..json_output import emit_json
from ..record.show import say
from ..solver.ask_for_programs import ask_for_programs

if TYPE_CHECKING:
    from ...webquiz.task.settings import TaskSettings
    from ...webquiz.task.task import TaskRequest, TaskResult
    from ...webquiz.task.task_runner import TaskRunner


def task(arguments: Namespace) -> int:
    """`quizlog task URL`; 0 at the end of the quiz, 1 before it, 4 when nothing could be sent.

    Raises:
        UsageError: Address, secret, URL or models are missing or wrong.
    """
    needs("browser", "httpx", "pydantic", "playwright", "dotenv")
    from ...webquiz.task.settings import read_settings
    from ...webquiz.task.tasks import url_fault

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
    return ended(asyncio.run(_work(arguments, settings)), settings, as_json=arguments.json)


def ended(result: TaskResult, settings: TaskSettings, *, as_json: bool) -> int:
    """Report how a task ended and where its record is; the exit code."""
    from ...webquiz.task.workspace import record_of

    record = record_of(settings.task_basedir, result.id)
    if as_json:
        emit_json(result.to_dict() | {"record": str(record)})
    else:
        print(f"{result.state}: {_right(result)}")
    if result.error:
        say(one_line(result.error))
    say(f"the record is {record}")
    if result.state == "finished":
        return 0
    return 1 if any(page.submissions for page in result.pages) else 4


def _right(result: TaskResult) -> str:
    right = sum(page.state == "correct" for page in result.pages)
    return f"{right} of {len(result.pages)} pages right"


async def _work(arguments: Namespace, settings: TaskSettings) -> TaskResult:
    from ...sandbox import run_code
    from ...solver.models.choice import Choice, doubts
    from ...webquiz.task.task import TaskRequest
    from ...webquiz.task.task_runner import open_task_runner

    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    request = TaskRequest(settings.user_email, settings.user_secret, arguments.url)
    names = (arguments.models, arguments.replay, arguments.env)
    models, replay, env = (Path(name) if name else None for name in names)
    choice = Choice(models, replay, env=env)
    ask_for_programs(choice, arguments)
    for text in doubts(choice):
        say(f"note: {text}")
    async with open_task_runner(settings, choice, run) as runner:
        return await work_in(runner, request)


async def work_in(runner: TaskRunner, request: TaskRequest) -> TaskResult:
    """Solve a task and report each page."""
    from ...webquiz.task.workspace import record_of

    def report_page(result: TaskResult) -> None:
        _tell(result)
        if len(result.pages) == 1:
            record = record_of(runner.settings.task_basedir, result.id)
            say(f"watch it in another terminal: quizlog tui {record}")

    if runner.panel.label:
        say(f"note: {runner.panel.label}")
    return await runner.work(request, report_page)


def _written(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _tell(result: TaskResult) -> None:
    page = result.pages[-1]
    sent = ", ".join(clipped(one_line(_written(one.answer)), 60) for one in page.submissions)
    print(f"   {page.state:<10} {one_line(page.url)}  {sent}", file=sys.stderr)
    for note in page.notes:
        print(f"              {clipped(one_line(note), 200)}", file=sys.stderr)


def _parser() -> Parser:
    about = (
        "Solve a quiz on web pages: render each page, ask the models, submit, go on. USER_EMAIL\n"
        "and USER_SECRET must be set in the environment or in .env."
    )
    parser = command("quizlog task", task, about)
    parser.add_argument("url", help="the first page")
    parser.add_argument("--env", metavar="FILE", help="variables: keys and task settings")
    add_models(parser)
    add_replies(parser)
    parser.add_argument("--keep", action="store_true", help="keep the task's folder")
    add_unsafe_local(parser)
    return parser


PARSERS = {"task": _parser}
"""The parser function of each command."""
