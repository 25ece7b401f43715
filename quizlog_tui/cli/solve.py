"""`quizlog solve`: asks several models the pending question, here or on a server, and decides."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..session.reply_text import error_lines
from ..text import one_line, visible
from .decisions import decision_lines, short, voter_line
from .grammar import (
    TOKEN,
    Parser,
    add_models,
    add_replies,
    add_unsafe_local,
    add_wait,
    command,
    seconds,
)
from .models import ask_for_programs
from .moves import narrate_warnings, one_move, wait_while_held
from .streams import emit_json, needs, say

if TYPE_CHECKING:
    from ..session.reply import Reply
    from ..session.session import Session
    from ..solver.backend import Accept, Backend, Solved
    from ..solver.decision import Decision
    from ..solver.models.choice import Choice
    from ..solver.models.transport import Prompt
    from ..solver.solve import Panel, Progress

_DISAGREE = 3
"""Exit code if the models do not agree."""

_NO_ANSWER = 4
"""Exit code if no model answered."""

_WHY_PAUSED = {
    "disagreement": "the models do not agree; --accept takes the decision, or answer yourself",
    "undecided": "no model gave an answer",
}


def _run_solve(arguments: Namespace) -> int:
    """`quizlog solve RECORD`."""
    needs("solver", "httpx", "pydantic", "dotenv")
    if arguments.url:
        return asyncio.run(_solve_remotely(arguments))
    choice = _choice(arguments)
    ask_for_programs(choice, arguments)
    with one_move(arguments) as session:
        narrate_warnings(session)
        return asyncio.run(_solve(session, choice, arguments))


def _solve_parser() -> Parser:
    details = (
        "Ask several models the pending question, run their code, and decide. The record is not\n"
        "changed without --accept or --until-end; the decision is saved in a file beside it."
    )
    parser = command(
        "solve",
        _run_solve,
        group="ask models",
        arguments="RECORD",
        about="ask several models, and decide",
        details=details,
        example="linear-algebra",
    )
    parser.add_argument("record")
    parser.add_argument("--accept", action="store_true", help="answer with the decision")
    parser.add_argument(
        "--until-end",
        action="store_true",
        help="answer question after question; stop where models disagree",
    )
    parser.add_argument(
        "--url", help="let the server at this URL do it; RECORD is the record's name on the server"
    )
    add_models(parser)
    add_replies(parser)
    parser.add_argument("--keep", metavar="FOLDER", help="record each reply in FOLDER")
    parser.add_argument(
        "--budget", metavar="SECONDS", type=seconds, help="time limit for each question"
    )
    add_wait(parser)
    add_unsafe_local(parser)
    return parser


def _choice(arguments: Namespace) -> Choice:
    from ..solver.models.choice import Choice

    names = (arguments.models, arguments.replay, arguments.keep)
    return Choice(*(Path(name) if name else None for name in names))


async def _solve(session: Session, choice: Choice, arguments: Namespace) -> int:
    async with _panel(session, choice, arguments) as panel:
        if panel.label:
            say(f"note: {panel.label}")
        if arguments.until_end:
            return await _fly(session, panel, arguments)
        return await _once(session, panel, arguments)


@asynccontextmanager
async def _panel(session: Session, choice: Choice, arguments: Namespace) -> AsyncIterator[Panel]:
    """The models to ask: from the options, the settings or recorded replies."""
    from ..sandbox import run_code
    from ..solver.models.choice import chosen_panel

    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    async with chosen_panel(
        choice,
        run,
        record_folder=session.path.parent,
        ask=_ask_person,
        note=lambda text: say(f"note: {text}"),
    ) as panel:
        yield panel


async def _once(session: Session, panel: Panel, arguments: Namespace) -> int:
    from ..solver.autopilot import accept, ask
    from ..solver.decision_text import answer_text

    decision = await ask(session, panel, budget=arguments.budget, tell=_tell)
    reply = None
    if arguments.accept and decision.verdict.why:
        wait_while_held(session)
        reply = accept(session, decision)
    if arguments.json:
        emit_json({"decision": _data(decision), "reply": (reply or session.reply()).to_dict()})
    else:
        print("\n".join(decision_lines(decision)))
        sys.stdout.flush()
    if reply is not None:
        _answered(session, decision, reply)
        return 1 if reply.status == "error" else 0
    if decision.verdict.why is None:
        return _DISAGREE if decision.verdict.classes else _NO_ANSWER
    text = short(answer_text(decision.verdict.answer, decision.question))
    say(f"accept it with --accept, or answer yourself: quizlog {session.path} {text!r}")
    return 0


async def _fly(session: Session, panel: Panel, arguments: Namespace) -> int:
    from ..solver.autopilot import run_autopilot

    def answered(decision: Decision, reply: Reply) -> None:
        if not arguments.json:
            print("\n".join(decision_lines(decision)), flush=True)
        _answered(session, decision, reply)

    flight = await run_autopilot(
        session,
        panel,
        budget=arguments.budget,
        tell=_tell,
        wait=wait_while_held,
        answered=answered,
    )
    last = flight.decisions[-1]
    if arguments.json:
        made = [_data(decision) for decision in flight.decisions]
        emit_json({"ended": flight.ended, "decisions": made, "reply": flight.reply.to_dict()})
    elif flight.ended in ("disagreement", "undecided"):
        print("\n".join(decision_lines(last)), flush=True)
    if flight.ended == "finished":
        return 0
    if flight.ended == "raised":
        return 1
    say(f"paused at step {last.question.pointer}: {_WHY_PAUSED[flight.ended]}")
    return _DISAGREE if flight.ended == "disagreement" else _NO_ANSWER


def _answered(session: Session, decision: Decision, reply: Reply) -> None:
    from ..solver.decision_text import answer_text

    text = short(answer_text(decision.verdict.answer, decision.question))
    outcome = "" if reply.score is None else f", score {reply.score:g}"
    say(f"answered {text!r} on branch {reply.branch}: {reply.status}{outcome}")
    for line in error_lines(session, reply) if reply.last_error else ():
        print(line, file=sys.stderr)


def _data(decision: Decision) -> dict[str, Any]:
    from ..solver.decision_text import to_data

    return to_data(decision)


def _tell(progress: Progress) -> None:
    """Report progress on stderr."""
    if progress.what in ("replied", "ran", "reconsidered") and progress.name:
        print(f"   {voter_line(progress.name, progress.decision)}", file=sys.stderr)
    elif progress.what == "reconciling":
        said = "the models disagree: each is shown all results and asked again"
        print(f"   {said}", file=sys.stderr)


async def _ask_person(prompt: Prompt[Any]) -> str | None:
    """Read a line from the terminal; None at its end. Can be cancelled."""
    asked = json.loads(prompt.messages[-1].content)
    text = visible(f"{asked['context']}\n{asked['question']}".strip())
    print(f"your vote (an empty line abstains)\n{text}", end=" ", file=sys.stderr, flush=True)
    line = await _line()
    return line.rstrip("\n") if line.strip() else None


async def _line() -> str:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    try:
        loop.add_reader(sys.stdin, _settle, ready)
    except (PermissionError, NotImplementedError):  # a file, or a system without this
        return sys.stdin.readline()
    try:
        await ready
        return sys.stdin.readline()
    finally:
        loop.remove_reader(sys.stdin)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


async def _solve_remotely(arguments: Namespace) -> int:
    solved = await _ask_remotely(arguments)
    if solved.reply is not None:
        return 1 if solved.reply.get("status") == "error" else 0
    if solved.decision.verdict.why is None or arguments.until_end:
        return _DISAGREE if solved.decision.verdict.classes else _NO_ANSWER
    return 0


async def _ask_remotely(arguments: Namespace) -> Solved:
    """Solve the question, or question after question while models agree; the last one's outcome.

    Raises:
        UsageError: An option that only makes sense on this machine was given.
        BackendError: The server refuses, or cannot be reached.
    """
    from ..solver.backend import Backend

    _check_remote_options(arguments)
    accept: Accept = "always" if arguments.accept else "never"
    accept = "agreed" if arguments.until_end else accept
    made: list[dict[str, Any]] = []
    async with Backend(arguments.url, os.environ.get(TOKEN, "").strip() or None) as backend:
        while True:
            solved = await _solve_one_remotely(backend, arguments, accept)
            made.append(_remote_data(solved))
            ended = solved.reply is None or solved.reply.get("status") != "in_progress"
            if not arguments.until_end or ended:
                break
    if arguments.json:
        emit_json({"decisions": made} if arguments.until_end else made[0])
    return solved


async def _solve_one_remotely(backend: Backend, arguments: Namespace, accept: Accept) -> Solved:
    solved = await backend.solve(
        arguments.record, accept=accept, budget=arguments.budget, tell=_tell
    )
    if not arguments.json:
        print("\n".join(decision_lines(solved.decision)), flush=True)
    if solved.reply is not None:
        _narrate_remote(solved.reply)
    return solved


def _narrate_remote(reply: Any) -> None:
    error = reply.get("last_error") or {}
    said = f": {one_line(str(error.get('message')))}" if error else ""
    score = reply.get("score")
    outcome = "" if score is None else f", score {score:g}"
    where = f"step {reply.get('pointer')}, branch {one_line(str(reply.get('branch')))}"
    say(f"answered: {short(str(reply.get('status')))}{outcome} ({where}){said}")


def _remote_data(solved: Solved) -> dict[str, Any]:
    from ..solver.decision_text import to_data

    said = {"decision": to_data(solved.decision), "agreed": solved.agreed}
    return said | {"reply": solved.reply}


def _check_remote_options(arguments: Namespace) -> None:
    """Refuse options about models, which the server chooses."""
    for name in ("models", "replay", "keep", "unsafe_local"):
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            hint = "the server was told at its start which models it asks"
            raise UsageError(f"{option} does not go with --url", hint=hint)


PARSERS = {"solve": _solve_parser}
"""The parser function of each command."""
